#!/usr/bin/env bash
# demo.sh: Stowage shown with released clients, from an empty state folder to an empty one. `make demo` builds and calls it.
#
# Everything lives below this clone and a temporary folder that is removed at the end, also when a step fails or you
# interrupt it. Set STOWAGE_BIN and STOWAGE_DRIVERS to show another build.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
export STOWAGE_BIN=${STOWAGE_BIN:-$target/debug/stowage} STOWAGE_DRIVERS=${STOWAGE_DRIVERS:-$root/drivers/dist}
[ -x "$STOWAGE_BIN" ] || { echo "demo: $STOWAGE_BIN is not there: run \`make demo\`, which builds it" >&2; exit 1; }
[ -f "$STOWAGE_DRIVERS/memory.wasm" ] || { echo "demo: $STOWAGE_DRIVERS/memory.wasm is not there: run \`make drivers\`" >&2; exit 1; }
# the second half, bytes on a disk, needs root and Debian's packages; without them it is left out, and says so
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  CARGO_TARGET_DIR=$target "$root/tests/datapath/install.sh" && export STOWAGE_QEMU_IO=$target/datapath/qemu/bin/qemu-io ||
    echo 'demo: the packages for bytes over iSCSI could not be installed' >&2
fi
bin=$("$root/tests/clients/venv.sh" "$target/clients-venv")
exec "$bin/python" -B "$root/examples/demo.py" "$bin"
