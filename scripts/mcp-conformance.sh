#!/usr/bin/env bash
# Installs the conformance suite of the Model Context Protocol, pinned by its lock file, and prints the command by which it
# runs: the runtime and the suite's program, one a line. Installed once; another lock file gets a folder of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../crates/edge-mcp/tests/conformance"

digest=$(cat package.json package-lock.json | sha256sum | cut -c1-16)
cache="${XDG_CACHE_HOME:-$HOME/.cache}/edgeplane"
home="$cache/mcp-conformance-$digest"

if [ ! -e "$home/complete" ]; then
  mkdir -p "$cache"
  # Made beside its place and moved there whole: a run that is cut off leaves nothing that looks installed.
  fresh=$(mktemp -d "$cache/mcp-conformance.XXXXXX")
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
    echo "$home/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    exit 0
  fi
done
echo 'no runtime of version 22 or newer' >&2
exit 1
