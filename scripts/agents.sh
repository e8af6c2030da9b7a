#!/usr/bin/env bash
# Installs the real agent programs that the tests run, exactly as testkit/agents/package-lock.json says, into the
# user's cache. Says nothing when they are there; any number of runs may happen together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly source=$PWD/testkit/agents
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane/agents
# How often a long installation says how far it is.
readonly report_every=10

# The folder is named by the lock, so that another checkout keeps its own. Whoever looks for the programs does the same.
digest=$(sha256sum "$source/package-lock.json" | cut -c 1-16)
readonly folder=$cache/$digest
[ ! -d "$folder" ] || exit 0

fail() {
  printf 'agents: %s\n' "$@" >&2
  exit 1
}

require_npm() {
  ! command -v npm >/dev/null || return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo 'agents: installing npm' >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install -y -qq --no-install-recommends npm ca-certificates >&2
    ! command -v npm >/dev/null || return 0
  fi
  fail 'npm is missing, which fetches the agent programs. On Debian or Ubuntu, run as root:' \
    '  apt-get update && apt-get install -y --no-install-recommends npm' \
    'On another system, install Node.js by its own means. Then run this again.'
}

# report PID FOLDER: says how much is there until the process ends.
report() {
  local waited=0
  while kill -0 "$1" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if [ $((waited % report_every)) -eq 0 ]; then
      printf 'agents: %d s, %s of about 1.1G\n' "$waited" "$(du -sh "$2" 2>/dev/null | cut -f 1)" >&2
    fi
  done
}

require_npm
mkdir -p "$cache"
exec 9>"$cache/lock"
if ! flock --nonblock 9; then
  echo 'agents: waiting for another installation' >&2
  flock 9
  [ ! -d "$folder" ] || exit 0
fi

echo "agents: installing into $folder" >&2
readonly part=$folder.part
rm -rf "$part"
mkdir "$part"
cp "$source/package.json" "$source/package-lock.json" "$source/.npmrc" "$part/"
# Without their install scripts, which would fetch what the lock does not name; the programs run without.
(
  cd "$part"
  exec npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error \
    --fetch-retries=3 --fetch-retry-maxtimeout=10000 >npm.log 2>&1 9>&-
) &
readonly npm=$!
trap 'kill "$npm" 2>/dev/null || true' EXIT
report "$npm" "$part"
if ! wait "$npm"; then
  tail -n 20 "$part/npm.log" >&2
  fail "npm could not install the agent programs; its log is $part/npm.log"
fi
trap - EXIT

# Only whole installations have this name.
mv "$part" "$folder"
echo "agents: installed in $SECONDS s" >&2
