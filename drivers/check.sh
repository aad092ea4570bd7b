#!/usr/bin/env bash
# check.sh [lint|test|toolchains]: formatter and lints of the drivers' workspace, and their native tests against the mock host
# (default: both). These need no wasm toolchain. `toolchains` builds one small driver with each that wasm-toolchain.sh knows.
set -euo pipefail
cd "$(dirname "$0")"
lint() { cargo fmt --all --check && cargo clippy -q --all-targets --workspace --target-dir target -- -D warnings; }
tests() { cargo test -q --workspace --target-dir target; }
# Each with a target folder of its own: cargo would take one compiler's output for stale in the other's.
toolchains() {
  local mode scratch passed=0 failed=0; scratch=target/toolchains; mkdir -p "$scratch"
  for mode in rustup debian; do
    case $mode in
      rustup) command -v rustup >/dev/null || { echo "toolchains: left out: rustup is not on this machine"; continue; } ;;
      debian) [ -x /usr/bin/rustc ] || { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; } ||
        { echo "toolchains: left out: debian's packages are not on this machine, and only root can install them"; continue; } ;;
    esac
    rm -f "$scratch/$mode/dist/template.wasm"
    if WASM_TOOLCHAIN=$mode DRIVERS_TARGET=$PWD/$scratch/$mode DRIVERS_DIST=$PWD/$scratch/$mode/dist ./build.sh template &&
      [ "$(head -c 8 "$scratch/$mode/dist/template.wasm" | od -An -tx1 | tr -d ' ')" = 0061736d0d000100 ]; then
      passed=$((passed + 1)); echo "toolchains: $mode builds a driver"
    else
      failed=$((failed + 1)); echo "toolchains: $mode does NOT build a driver"
    fi
  done
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
}
case "${1:-all}" in
  lint) lint ;;
  test) tests ;;
  toolchains) toolchains ;;
  all) lint; tests ;;
  *) sed -n '2,4p' "$0"; exit 2 ;;
esac
