#!/usr/bin/env bash
# Installs the programs that FOLDER names and its lock file pins, and prints where they are: the runtime that runs them
# and the folder of their packages, one a line. Installed once; another lock file gets a folder of its own.
set -euo pipefail
cd "${1:?usage: npm-programs.sh FOLDER}"

name=$(sed -n 's/^  "name": "edgeplane-\(.*\)",$/\1/p' package.json)
digest=$(cat package.json package-lock.json | sha256sum | cut -c1-16)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane"
home="$cache/${name:?package.json has no name of ours}-$digest"

if [ ! -e "$home/complete" ]; then
  mkdir -p "$cache"
  # Made beside its place and moved there whole: a run that is cut off leaves nothing that looks installed.
  fresh=$(mktemp -d "$cache/$name.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  cp package.json package-lock.json "$fresh"
  # No program of a package runs while it is installed.
  (cd "$fresh" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >&2
  touch "$fresh/complete"
  mv -T "$fresh" "$home" 2>/dev/null || [ -e "$home/complete" ]
fi

# The runtime that the packages bring along, or one of the system that is new enough.
for runtime in "$home"/node_modules/node-linux-*/bin/node "$(command -v node || true)"; do
  if [ -x "$runtime" ] && [ "$("$runtime" -p 'process.versions.node.split(".")[0]')" -ge 22 ]; then
    echo "$runtime"
    echo "$home/node_modules"
    exit 0
  fi
done
echo 'no runtime of version 22 or newer' >&2
exit 1
