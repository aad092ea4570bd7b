#!/usr/bin/env bash
# build.sh: builds wasm drivers into drivers/dist/NAME.wasm.
#
#   build.sh               every driver (each folder here whose Cargo.toml declares a cdylib), and dist/broken/
#   build.sh NAME...       only these
#   build.sh --list        their names
#
# The first run compiles the binding generator (about a minute); after that one changed driver takes seconds.
# DRIVERS_DIST and DRIVERS_TARGET put the components and what cargo builds elsewhere.
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
dist=${DRIVERS_DIST:-dist} folder=${DRIVERS_TARGET:-target}
mkdir -p "$dist" "$folder"; exec 8>"$folder/.build-lock"; flock 8
target=wasm32-unknown-unknown

# The tool that makes components is built by the same compiler, for this machine.
"$WASM_CARGO" build -q -p stowage-componentize --target-dir "$folder"
packages=(); for n in "${wanted[@]}"; do packages+=(-p "stowage-driver-$n"); done
"$WASM_CARGO" build -q --profile driver --target "$target" --target-dir "$folder" "${packages[@]}"
if [ "$all" = yes ]; then
  "$WASM_CARGO" build -q -p stowage-broken-drivers --target-dir "$folder"
  mkdir -p "$dist/broken"; "$folder"/debug/stowage-broken-drivers ../wit/stowage-driver/0.1.0 "$dist/broken"
fi
for n in "${wanted[@]}"; do
  "$folder"/debug/stowage-componentize "$folder/$target/driver/stowage_driver_${n//-/_}.wasm" "$dist/$n.wasm" | sed 's/^/drivers: /' >&2
done
