#!/usr/bin/env bash
# run.sh check|test: builds every suite, runs them one after another, prints each one's time, and ends with
# "N passed, N failed". A suite that fails does not keep the others from running.
#
# Suites get STOWAGE_BIN and STOWAGE_DRIVERS from the Makefile; one that lacks what it needs fails, it does not skip. Only what
# cannot be had without root (the node suite) is left out for others, and named.
# STOWAGE_TEST_FULL=1 (`make test-full`) lifts the cuts; STOWAGE_TEST_MANY_SHARES=50000 lifts that of the shares that are ensured.
# STOWAGE_TEST_DATABASES says which databases the store's contract runs on. SUITES="api cli" runs only these.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:?run.sh check|test}

rust=(unit store api share_api identity scheduler jobs)
scripts=()
export STOWAGE_TEST_DATABASES=${STOWAGE_TEST_DATABASES:-sqlite}
if [ "$mode" = test ]; then
  rust+=(driver_kit sandbox reload cli crash interleave node)
  scripts+=(clients tempest)
  [ -f tests/.no-postgres ] || STOWAGE_TEST_DATABASES=sqlite,postgres
fi
if [ -n "${SUITES:-}" ]; then
  keep() { local s; for s in "$@"; do [[ " $SUITES " == *" $s "* ]] && echo "$s"; done || true; }
  mapfile -t rust < <(keep "${rust[@]}"); mapfile -t scripts < <(keep ${scripts[@]+"${scripts[@]}"})
fi

# iSCSI for real: root, tgt, btrfs, userspace initiators
# The storage node needs root. As root what it needs must be installable: then the suite that lacks it fails.
if [[ " ${rust[*]-} " == *" node "* ]] && ! tests/datapath/install.sh && [ "$(id -u)" != 0 ]; then
  echo 'left out: the node suite (see above)'
  left=(); for s in "${rust[@]}"; do [ "$s" = node ] || left+=("$s"); done; rust=(${left[@]+"${left[@]}"})
fi

if cargo nextest --version >/dev/null 2>&1; then nextest=1; else nextest=; fi
# tests wait for jobs more than they compute
threads=(--test-threads $((2 * $(nproc))))
# the drivers and the binary are built: the suites that need them are there
built=(--features stowage-tests/built)
target() { if [ "$1" = unit ]; then echo "--workspace --lib --bins"; else echo "--workspace --test $1"; fi; }
# one build for all, so that a suite's time is its own
build=(); for s in ${rust[@]+"${rust[@]}"}; do [ "$s" = unit ] || build+=(--test "$s"); done
say() { printf '\n== %s\n' "$*"; }
say "building the suites"
began=$SECONDS
cargo test -q --no-run --workspace "${built[@]}" --lib --bins ${build[@]+"${build[@]}"}
say "built in $((SECONDS - began)) s"

log=$(mktemp); notes=$(mktemp)
# what suites want to be read at the end
export STOWAGE_TEST_NOTES=$notes
# which test had which route succeed
STOWAGE_TEST_ROUTES=$(mktemp -d); export STOWAGE_TEST_ROUTES
trap 'rm -rf "$log" "$notes" "$STOWAGE_TEST_ROUTES"' EXIT
table=(); passed=0; failed=0
# counts from nextest's Summary line, cargo test's "test result:" lines, or a script's "N passed, N failed"
count() {
  local p=0 f=0
  while read -r line; do
    [[ $line =~ ([0-9]+)\ passed ]] && p=$((p + BASH_REMATCH[1]))
    [[ $line =~ ([0-9]+)\ (failed|timed\ out) ]] && f=$((f + BASH_REMATCH[1]))
  done < <(grep -E '^ +Summary \[|^test result:|^[0-9]+ passed, [0-9]+ failed' "$log" || true)
  echo "$p $f"
}
one() { # NAME COMMAND...
  local name=$1; shift
  say "$name"
  local began=$SECONDS status=0 p f
  "$@" 2>&1 | tee "$log" || status=$?
  read -r p f < <(count)
  # a suite that could not even run is one failure
  [ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
  passed=$((passed + p)); failed=$((failed + f))
  table+=("$(printf '%-12s %5d s  %4d passed  %3d failed' "$name" $((SECONDS - began)) "$p" "$f")")
}
for s in ${rust[@]+"${rust[@]}"}; do
  read -ra what <<<"$(target "$s")"
  if [ -n "$nextest" ]; then
    one "$s" cargo nextest run "${threads[@]}" --no-fail-fast --no-tests=pass --status-level=fail --final-status-level=fail --hide-progress-bar "${built[@]}" "${what[@]}"
  else
    one "$s" cargo test -q --no-fail-fast "${built[@]}" "${what[@]}"
  fi
done
# The coverage pages and the tests agree: known once an API's whole suite has run. STOWAGE_COVERAGE=write writes the pages.
coverage() { # NAME SUITE API PAGE
  [[ " ${rust[*]-} " == *" $2 "* ]] || return 0
  one "$1" "${CARGO_TARGET_DIR:-target}/debug/api-coverage" "${STOWAGE_COVERAGE:-check}" "$3" "$4" "$STOWAGE_TEST_ROUTES"
}
coverage coverage api block docs/api-coverage.md
coverage shares share_api share docs/share-api-coverage.md
for s in ${scripts[@]+"${scripts[@]}"}; do one "$s" "tests/$s/run.sh"; done
# each guard that is taken out of the service is missed
if [ -n "${STOWAGE_TEST_FULL:-}" ] && [[ " ${rust[*]-} " == *" interleave "* ]]; then one mutation tests/interleave/mutation.sh; fi

say "times"
printf '%s\n' ${table[@]+"${table[@]}"}
if [ -s "$notes" ]; then say "notes"; cat "$notes"; fi
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
