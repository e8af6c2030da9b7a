#!/usr/bin/env bash
# Installs what the tests check OpenAPI with, exactly as testkit/schemathesis/requirements.txt says, and prints the folder
# of its programs. Installed once; another list gets a folder of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../testkit/schemathesis"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane"
home="$cache/schemathesis-$(sha256sum requirements.txt | cut -c1-16)"

if [ ! -e "$home/complete" ]; then
  mkdir -p "$cache"
  exec 9>"$cache/schemathesis.lock"
  flock 9
  # Environments of Python cannot be moved, so one that is not complete is begun anew.
  if [ ! -e "$home/complete" ]; then
    rm -rf "$home"
    python3 -m venv "$home" >&2
    # Wheels only: what is built from source runs programs that nobody named.
    "$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --requirement requirements.txt >&2
    touch "$home/complete"
  fi
  exec 9>&-
fi
echo "$home/bin"
