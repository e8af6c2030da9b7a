#!/usr/bin/env bash
# Checks that this machine can build and test EdgePlane; as root on Debian it installs what is missing.
# Says nothing when everything is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/environment.sh
. scripts/environment.sh

readonly packages=(gcc libc6-dev python3 make)
readonly python_least=3.9
rust_least=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
readonly rust_least

# Whether the first version is at least the second.
at_least() {
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

compiler_works() {
  command -v cc >/dev/null && printf '#include <stdlib.h>\n' | cc -fsyntax-only -x c - 2>/dev/null
}

python_works() {
  python3 -c "import sys; sys.exit(sys.version_info < tuple(map(int, '$python_least'.split('.'))))" 2>/dev/null
}

# The shim is linked statically, so that it maps little and needs nothing of the machine it runs on.
static_library_found() {
  case "$(cc -print-file-name=libc.a 2>/dev/null)" in
    /*) true ;;
    *) false ;;
  esac
}

# Prints one line for each thing that Debian packages provide and that is missing.
missing() {
  compiler_works || echo "a C compiler (cc) with the C library's headers"
  static_library_found || echo "the static C library (libc.a)"
  python_works || echo "python3, $python_least or newer"
  command -v make >/dev/null || echo "make"
}

require_packages() {
  local lacking
  lacking=$(missing)
  [ -n "$lacking" ] || return 0

  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing ${packages[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
    lacking=$(missing)
    [ -n "$lacking" ] || return 0
  fi

  {
    echo "setup: this machine lacks:"
    printf '%s\n' "$lacking" | sed 's/^/  - /'
    echo "On Debian or Ubuntu, run as root:"
    echo "  apt-get update && apt-get install -y ${packages[*]}"
    echo "On another system, install the same by its own means. Then run this again."
  } >&2
  exit 1
}

require_rust() {
  if ! command -v cargo >/dev/null; then
    {
      echo "setup: cargo is missing. Install Rust $rust_least or newer from https://rustup.rs:"
      echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
    } >&2
    exit 1
  fi

  local version
  version=$(cargo --version | cut -d ' ' -f 2)
  if ! at_least "$version" "$rust_least"; then
    {
      echo "setup: cargo is $version, and EdgePlane needs Rust $rust_least or newer. With rustup:"
      echo "  rustup update stable"
    } >&2
    exit 1
  fi
}

require_packages
require_rust
