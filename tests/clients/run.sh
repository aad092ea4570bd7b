#!/usr/bin/env bash
# The released clients against the real binary: the demo's steps, each one counted; then the walk-throughs with curl.
# The Makefile builds what they need.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
status=0
"$here/../../examples/demo.sh" || status=$?
python3 -B "$here/walk_throughs.py" || status=$?
exit "$status"
