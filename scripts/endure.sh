#!/usr/bin/env bash
# The heavy checks in full: thousands of deaths at the steps of delivery, a flood of messages under dying daemons.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

export EDGEPLANE_DEATHS="${EDGEPLANE_DEATHS:-5000}" EDGEPLANE_FLOOD="${EDGEPLANE_FLOOD:-100000}"
echo "$EDGEPLANE_DEATHS deaths, $EDGEPLANE_FLOOD messages"
cargo nextest run --workspace -E 'binary(deaths) or binary(deaths_typed) or binary(flood)'
