#!/usr/bin/env bash
# Installs the TypeScript compiler that the tests build the client with, pinned by its lock file, and prints where things
# are: the runtime, the compiler, and the folder of the packages, one a line. Installed once; another lock file gets a
# folder of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../testkit/typescript"

digest=$(cat package.json package-lock.json | sha256sum | cut -c1-16)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane"
home="$cache/typescript-$digest"

if [ ! -e "$home/complete" ]; then
  mkdir -p "$cache"
  # Made beside its place and moved there whole: a run that is cut off leaves nothing that looks installed.
  fresh=$(mktemp -d "$cache/typescript.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  cp package.json package-lock.json .npmrc "$fresh"
  # Not with `npm ci`: that refuses a lock without the packages of other systems. No program of a package runs.
  (cd "$fresh" && npm install --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error) >&2
  touch "$fresh/complete"
  mv -T "$fresh" "$home" 2>/dev/null || [ -e "$home/complete" ]
fi

# The runtime that the packages bring along, or one of the system that is new enough.
for runtime in "$home"/node_modules/node-linux-*/bin/node "$(command -v node || true)"; do
  if [ -x "$runtime" ] && [ "$("$runtime" -p 'process.versions.node.split(".")[0]')" -ge 22 ]; then
    printf '%s\n' "$runtime" "$home/node_modules/typescript/bin/tsc" "$home/node_modules"
    exit 0
  fi
done
echo 'no runtime of version 22 or newer' >&2
exit 1
