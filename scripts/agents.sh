#!/usr/bin/env bash
# Installs the real agent programs that the tests run, exactly as the lists in testkit/agents say, into the user's
# cache: `scripts/agents.sh` what every run of the tests starts, `scripts/agents.sh all` also the two that are large.
# Says nothing when they are there; any number of runs may happen together.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly lists=$PWD/testkit/agents
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane/agents
# How often a long installation says how far it is.
readonly report_every=10

fail() {
  printf 'agents: %s\n' "$@" >&2
  exit 1
}

# folder LIST: where what the list names is installed. The folder is named by the list, so that another checkout keeps
# its own. Whoever looks for the programs does the same.
folder() {
  printf '%s/%s' "$cache" "$(sha256sum "$1" | cut -c 1-16)"
}

# is_there FOLDER: folders of npm are moved to their name when they are whole; those of Python cannot be moved.
is_there() {
  [ -d "$1/node_modules" ] || [ -e "$1/complete" ]
}

# system_package COMMAND PACKAGE...: installs packages of the system where the command fails and that may be done.
system_package() {
  local command=$1
  shift
  ! $command >/dev/null 2>&1 || return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "agents: installing $*" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install -y -qq --no-install-recommends "$@" ca-certificates >&2
    ! $command >/dev/null 2>&1 || return 0
  fi
  fail "\`$command\` does not run here, which the agent programs need. On Debian or Ubuntu, run as root:" \
    "  apt-get update && apt-get install -y --no-install-recommends $*" \
    'On another system, install it by its own means. Then run this again.'
}

has_venv() {
  python3 -c 'import ensurepip, venv'
}

# report PID FOLDER SIZE: says how much is there until the process ends.
report() {
  local waited=0
  while kill -0 "$1" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if [ $((waited % report_every)) -eq 0 ]; then
      printf 'agents: %d s, %s of about %s\n' "$waited" "$(du -sh "$2" 2>/dev/null | cut -f 1)" "$3" >&2
    fi
  done
}

# watch PID FOLDER SIZE LOG: waits for an installation.
watch() {
  installing=$1
  trap 'kill "$installing" 2>/dev/null || true' EXIT
  report "$1" "$2" "$3"
  if ! wait "$1"; then
    tail -n 20 "$4" >&2
    fail "the agent programs could not be installed; the log is $4"
  fi
  trap - EXIT
}

# from_npm SOURCE FOLDER SIZE
from_npm() {
  local part=$2.part
  system_package 'npm --version' npm
  rm -rf "$part"
  mkdir "$part"
  cp "$1/package.json" "$1/package-lock.json" "$1/.npmrc" "$part/"
  # By the lock, but not with `npm ci`: that refuses a lock without the packages of other systems, which not every
  # registry has. Without install scripts, which would fetch what the lock does not name; the programs run without.
  (
    cd "$part"
    exec npm install --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error \
      --fetch-retries=3 --fetch-retry-maxtimeout=10000 >npm.log 2>&1 9>&-
  ) &
  watch $! "$part" "$3" "$part/npm.log"
  # Only whole installations have this name.
  mv "$part" "$2"
}

# from_pypi LIST FOLDER SIZE
from_pypi() {
  system_package has_venv python3-venv
  rm -rf "$2"
  python3 -m venv "$2"
  # Wheels only: what is built from source runs programs that nobody named.
  "$2/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --requirement "$1" \
    >"$2/pip.log" 2>&1 9>&- &
  watch $! "$2" "$3" "$2/pip.log"
  touch "$2/complete"
}

# install HOW LIST SIZE
install() {
  local place source=$2
  place=$(folder "$2")
  ! is_there "$place" || return 0
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  if ! flock --nonblock 9; then
    echo 'agents: waiting for another installation' >&2
    flock 9
  fi
  if ! is_there "$place"; then
    echo "agents: installing into $place" >&2
    if [ "$1" = from_npm ]; then source=$(dirname "$2"); fi
    "$1" "$source" "$place" "$3"
    echo "agents: installed after $SECONDS s" >&2
  fi
  exec 9>&-
}

install from_npm "$lists/package-lock.json" 1.1G
install from_npm "$lists/more/package-lock.json" 620M
install from_pypi "$lists/python/frameworks.txt" 170M
if [ "${1:-}" = all ]; then
  install from_pypi "$lists/python/aider.txt" 690M
  install from_pypi "$lists/python/crewai.txt" 1G
fi
