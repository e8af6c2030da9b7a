# Sourced, from bash or sh, by every script that calls cargo, so that all of them share one build.

# A shell that has not read the profile since rustup was installed does not find cargo by itself.
if ! command -v cargo >/dev/null 2>&1 && [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
  PATH="$HOME/.cargo/bin:$PATH"
  export PATH
fi

# Outside the checkout: it stays small to copy, and a fresh clone finds the last build.
if [ -z "${CARGO_TARGET_DIR:-}" ]; then
  CARGO_TARGET_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane/target"
fi
export CARGO_TARGET_DIR

# Incremental artefacts only pay when the same folder is built again after an edit.
if [ "${CI:-}" = true ]; then
  CARGO_INCREMENTAL=0
  export CARGO_INCREMENTAL
fi
