#!/usr/bin/env bash
# Installs the one agent program of the tests that is written in Python, as testkit/agents/aider.txt says, into the
# user's cache. Says nothing when it is there; any number of runs may happen together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly source=$PWD/testkit/agents/aider.txt
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane/agents

# Named by the file, so that another checkout keeps its own. Whoever looks for the program does the same.
digest=$(sha256sum "$source" | cut -c 1-16)
readonly folder=$cache/aider-$digest
[ ! -e "$folder/installed" ] || exit 0

# Versions of Python that it takes.
fitting() {
  local name
  for name in python3.12 python3.11 python3.10 python3; do
    if "$name" -c 'import sys, venv; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 13))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
}

python=$(fitting)
if [ -z "$python" ]; then
  echo 'aider: no Python from 3.10 to 3.12 with venv is there; its tests are skipped' >&2
  exit 1
fi

mkdir -p "$cache"
exec 9>"$cache/aider.lock"
flock 9
[ ! -e "$folder/installed" ] || exit 0

echo "aider: installing about 700 MB into $folder" >&2
# A virtual environment cannot be moved, so it is made where it is to be and marked when it is whole.
rm -rf "$folder"
"$python" -m venv "$folder"
if ! "$folder/bin/pip" install --quiet --no-cache-dir --disable-pip-version-check -r "$source" \
  >"$folder/pip.log" 2>&1; then
  tail -n 20 "$folder/pip.log" >&2
  echo "aider: pip could not install it; its log is $folder/pip.log" >&2
  exit 1
fi
touch "$folder/installed"
echo "aider: installed in $SECONDS s" >&2
