#!/usr/bin/env bash
# The released clients against the real binary: the demo's steps, each one counted. The Makefile builds what they need.
set -euo pipefail
exec "$(dirname "$0")/../../examples/demo.sh"
