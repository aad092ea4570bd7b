#!/usr/bin/env bash
# Builds a release binary and measures it. Takes about ten minutes; `tests/bench/run.sh --quick` about two.
# Bytes on a disk (a storage node, iSCSI) are measured as root with what tests/datapath/install.sh installs; `--no-disk` leaves them out.
# `--shares-only` leaves volumes out, `--sqlite-only` PostgreSQL.
# `--write` puts the figures into docs/performance.md; `--profile dev` first measures a development build (to try the program itself).
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
export STOWAGE_DRIVERS=${STOWAGE_DRIVERS:-$PWD/drivers/dist}
profile=release
if [ "${1:-}" = --profile ]; then
  profile=$2
  shift 2
fi
folder=$profile
[ "$profile" = dev ] && folder=debug
cargo build -q --workspace --bins --profile "$profile"
export STOWAGE_BIN=$CARGO_TARGET_DIR/$folder/stowage
exec cargo bench -q --workspace --bench bench --profile "$profile" -- "$@"
