#!/usr/bin/env bash
# Installs what `cargo xtask bench` measures beside EdgePlane, as root on Debian or Ubuntu. Says nothing when all is there.
set -euo pipefail

# Program and package of each peer.
readonly peers=(tmux:tmux dtach:dtach runsvdir:runit s6-svscan:s6 cc:gcc python3:python3 git:git restic:restic)

lacking=()
for peer in "${peers[@]}"; do
  command -v "${peer%%:*}" >/dev/null || lacking+=("${peer##*:}")
done
[ "${#lacking[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "bench-setup: missing: ${lacking[*]}. On Debian or Ubuntu, run this as root; rows do without them." >&2
  exit 1
fi
echo "bench-setup: installing ${lacking[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2
apt-get install -y -qq --no-install-recommends "${lacking[@]}" libc6-dev >&2
