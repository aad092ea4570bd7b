#!/usr/bin/env bash
# The released clients against the real binary: the demo's steps, each one counted; the walk-throughs with curl; then the tour,
# which checks what each client prints. The Makefile builds what they need.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$(cd "$here/../.." && pwd)/target}
status=0
"$here/../../examples/demo.sh" || status=$?
python3 -B "$here/walk_throughs.py" || status=$?
bin=$("$here/venv.sh" "$target/clients-venv")
"$bin/python" -B "$here/tour/tour.py" || status=$?
exit "$status"
