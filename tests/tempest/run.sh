#!/usr/bin/env bash
# The suite of the block API, as tests/run.sh calls it.
set -euo pipefail
exec "$(dirname "$0")/run" block
