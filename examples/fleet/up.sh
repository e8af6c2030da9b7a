#!/usr/bin/env bash
# Applies the fleet of this folder to the node that `edgeplane` speaks to.
#
#   examples/fleet/up.sh                            the reference agent, `edgeplane-notes-agent` in the daemon's PATH
#   FLEET_AGENT=claude-code examples/fleet/up.sh    any template of `edgeplane agent init`
#   FLEET_AGENT=codex FLEET_DRIVER=terminal examples/fleet/up.sh
#
# With a template the manifests are put together in FLEET_OUT (./fleet-FLEET_AGENT), which is where they stay. With
# FLEET_APPLY=no that is all.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here agent=${FLEET_AGENT:-reference} edgeplane=${EDGEPLANE:-edgeplane}
readonly roles=(desk research publisher engineer)

# with_program ROLE TEMPLATE: the role's manifest with the program of the template's.
with_program() {
  awk '
    # The first file is the template: what stands below `spec:` is the program.
    FNR == NR { if (inside) program = program $0 "\n"; if ($0 == "spec:") inside = 1; next }
    /^  # program: begin/ { printf "%s", program; skipped = 1; next }
    /^  # program: end/ { skipped = 0; next }
    !skipped && !(/^  risk:/ && program ~ /\n  risk:/)
  ' "$2" "$1"
}

if [ "$agent" = reference ]; then
  exec "$edgeplane" apply -f "$here" --wait
fi

out=${FLEET_OUT:-fleet-$agent}
mkdir -p "$out"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for role in "${roles[@]}"; do
  "$edgeplane" --quiet agent init "$agent" ${FLEET_DRIVER:+--driver "$FLEET_DRIVER"} \
    --name "$role" --out "$scratch/$role.yaml" >/dev/null
  with_program "$here/$role.yaml" "$scratch/$role.yaml" >"$out/$role.yaml"
done
# Programs that a template brings lie beside the manifests.
find "$scratch" -name '*.py' -exec cp {} "$out/" \;
"$edgeplane" agent list --offline "$out"
if [ "${FLEET_APPLY:-yes}" != no ]; then
  "$edgeplane" apply -f "$out" --wait
fi
