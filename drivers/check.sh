#!/usr/bin/env bash
# check.sh [lint|test]: formatter and lints of the drivers' workspace, and their native tests against the mock host (default: both).
# It needs no wasm toolchain.
set -euo pipefail
cd "$(dirname "$0")"
lint() { cargo fmt --all --check && cargo clippy -q --all-targets --workspace --target-dir target -- -D warnings; }
tests() { cargo test -q --workspace --target-dir target; }
case "${1:-all}" in
  lint) lint ;;
  test) tests ;;
  all) lint; tests ;;
  *) sed -n '2,3p' "$0"; exit 2 ;;
esac
