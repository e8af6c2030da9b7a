#!/usr/bin/env bash
# The heavy checks in full: thousands of deaths at the steps of delivery, a flood of messages under dying daemons, streams
# over every binding and a job under dying daemons, folds of a million events, and every template with its real program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

export EDGEPLANE_DEATHS="${EDGEPLANE_DEATHS:-5000}" EDGEPLANE_FLOOD="${EDGEPLANE_FLOOD:-100000}" \
    EDGEPLANE_STREAM_DEATHS="${EDGEPLANE_STREAM_DEATHS:-200}" EDGEPLANE_FOLD_EVENTS="${EDGEPLANE_FOLD_EVENTS:-1000000}"
export EDGEPLANE_JOB_KILLS="${EDGEPLANE_JOB_KILLS:-300}"
echo "$EDGEPLANE_JOB_KILLS daemons under a job, $EDGEPLANE_DEATHS and $EDGEPLANE_STREAM_DEATHS deaths, $EDGEPLANE_FLOOD messages, $EDGEPLANE_FOLD_EVENTS events"
cargo nextest run --workspace -E 'binary(deaths) or binary(deaths_typed) or binary(flood)
    or test(however_often_daemons_die) or test(however_a_record_is_cut)'

# Every template with its real program, also the two that are large.
scripts/agents.sh all
EDGEPLANE_REQUIRE_AGENTS=all cargo nextest run --workspace -E 'binary(real_templates) or binary(real_aider)'
