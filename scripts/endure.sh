#!/usr/bin/env bash
# The heavy checks in full: thousands of deaths at the steps of delivery, a flood of messages under dying daemons,
# and every template with its real program.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

export EDGEPLANE_DEATHS="${EDGEPLANE_DEATHS:-5000}" EDGEPLANE_FLOOD="${EDGEPLANE_FLOOD:-100000}"
echo "$EDGEPLANE_DEATHS deaths, $EDGEPLANE_FLOOD messages"
cargo nextest run --workspace -E 'binary(deaths) or binary(deaths_typed) or binary(flood)'

# Every template with its real program, also the two that are large.
scripts/agents.sh all
EDGEPLANE_REQUIRE_AGENTS=all cargo nextest run --workspace -E 'binary(real_templates) or binary(real_aider)'
