#!/usr/bin/env bash
# The suites of both APIs, as tests/run.sh calls them: one's failure does not keep the other from running.
set -euo pipefail
here=$(dirname "$0"); status=0
for suite in block share; do "$here/run" "$suite" || status=1; done
exit "$status"
