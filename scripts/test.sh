#!/usr/bin/env bash
# Every check and every test, in the order that fails soonest. Stops at the first step that fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

readonly python_agents=examples/agents/python

# step TITLE COMMAND...
step() {
  local title=$1 begun=$SECONDS status=0
  shift
  printf '==> %s\n' "$title"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '==> FAILED after %d s: %s (exit status %d)\n    %s\n' \
      "$((SECONDS - begun))" "$title" "$status" "$*" >&2
    exit 1
  fi
  printf '    %d s\n' "$((SECONDS - begun))"
}

# component CARGO_COMMAND COMPONENT
component() {
  cargo "$1" --version >/dev/null 2>&1 && return
  {
    echo "\`cargo $1\` does not run here. Add it with rustup:"
    echo "  rustup component add $2"
    echo "or install your system's package of it."
  } >&2
  return 1
}

components() {
  component fmt rustfmt && component clippy clippy
}

# Without them, where no registry can be reached, the tests that need them say that they show nothing.
agents() {
  if ! scripts/agents.sh && [ "${EDGEPLANE_REQUIRE_AGENTS:-}" = 1 ]; then
    return 1
  fi
}

step 'toolchain components' components
step 'agent programs' agents
step 'format' cargo fmt --all --check
step 'floors' cargo xtask floors
step 'tidy' cargo xtask tidy
step 'what is made from the catalogue' cargo xtask generate --check
step 'clippy' cargo clippy --quiet --workspace --all-targets -- -D warnings

# The tests start `edgeplane`, `edgeplaned` and `edgeplane-shim`, which they find beside each other.
step 'binaries' cargo build --quiet --workspace --bins

if cargo nextest --version >/dev/null 2>&1; then
  step 'tests' cargo nextest run --workspace --profile ci --no-fail-fast
  step 'documentation tests' cargo test --quiet --workspace --doc
else
  step 'tests' cargo test --workspace --no-fail-fast
fi

if [ -d "$python_agents" ]; then
  step 'tests of the Python agent' \
    env PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s "$python_agents" -p '*_test.py'
fi

step 'tests of the Python client' \
  env PYTHONDONTWRITEBYTECODE=1 python3 -W error::ResourceWarning -m unittest discover -s clients/python/tests -p '*_test.py'

printf '==> everything passed in %d s\n' "$SECONDS"
