#!/usr/bin/env bash
# build.sh: builds wasm drivers into drivers/dist/NAME.wasm.
#
#   build.sh               every driver (each folder here whose Cargo.toml declares a cdylib), and dist/broken/
#   build.sh NAME...       only these
#   build.sh --list        their names
#
# The first run compiles the binding generator (about a minute); after that one changed driver takes seconds.
# CARGO_NET_OFFLINE=true works once the crates are in cargo's cache. The compiler is found by wasm-toolchain.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd); cd "$here"
log() { printf 'drivers: %s\n' "$*" >&2; }
die() { log "$*"; exit 1; }

names() { grep -l 'cdylib' */Cargo.toml | sed 's|/Cargo.toml||' | sort; }
[ "${1:-}" = --list ] && { names; exit; }
all=no
if [ $# -gt 0 ]; then wanted=("$@"); else all=yes; mapfile -t wanted < <(names); fi
for n in "${wanted[@]}"; do names | grep -qxF "$n" || die "no driver named $n; there are: $(names | tr '\n' ' ')"; done

settings=$(./wasm-toolchain.sh env); eval "$settings"
mkdir -p dist target; exec 8>target/.build-lock; flock 8
target=wasm32-unknown-unknown

# The tool that makes components is built by the same compiler, for this machine.
"$WASM_CARGO" build -q -p stowage-componentize --target-dir target
packages=(); for n in "${wanted[@]}"; do packages+=(-p "stowage-driver-$n"); done
"$WASM_CARGO" build -q --profile driver --target "$target" --target-dir target "${packages[@]}"
if [ "$all" = yes ]; then
  "$WASM_CARGO" build -q -p stowage-broken-drivers --target-dir target
  mkdir -p dist/broken; target/debug/stowage-broken-drivers ../wit/stowage-driver/0.1.0 dist/broken
fi
for n in "${wanted[@]}"; do
  target/debug/stowage-componentize "target/$target/driver/stowage_driver_${n//-/_}.wasm" "dist/$n.wasm" | sed 's/^/drivers: /' >&2
done
