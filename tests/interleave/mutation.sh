#!/usr/bin/env bash
# mutation.sh [NAME]: takes one guard out of the service, for each patch in mutations/, and demands that the suite `interleave` finds
# it: the tests that the patch names (`Tests:`) have to fail, and to name the violation that it announces (`Expect:`). Ends with
# "N passed, N failed".
#
# Each patch costs one build of the service. It happens in a copy of the tree with a copy of the built dependencies (hard
# links: nothing is compiled twice, and nothing of the real target folder is written to). The suite itself is the one that is
# built already; only STOWAGE_BIN differs.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=${CARGO_TARGET_DIR:-$PWD/target}
scratch=$target/mutation
rm -rf "$scratch"; trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tree" "$scratch/target/debug"
tar -cf - --exclude=./.git --exclude=./target --exclude=./drivers/target . | tar -xf - -C "$scratch/tree"
cp -al "$target/debug/deps" "$target/debug/build" "$scratch/target/debug/"
cp -a "$target/debug/.fingerprint" "$scratch/target/debug/"
# what is compiled anew is written anew, never through a link
find "$scratch/target/debug" -mindepth 2 -maxdepth 2 \( -name 'stowage*' -o -name 'libstowage*' \) -exec rm -rf {} +

passed=0; failed=0
verdict() { if [ "$1" = ok ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; echo "$1: $2"; }
for patch in tests/interleave/mutations/${1:-*}.patch; do
  name=$(basename "$patch" .patch)
  expect=$(sed -n 's/^Expect: //p' "$patch")
  tests=$(sed -n 's/^Tests: //p' "$patch")
  if ! patch -p1 -s -d "$scratch/tree" <"$patch"; then
    verdict WRONG "$name: the patch does not fit any more; make it anew"
    continue
  fi
  (cd "$scratch/tree" && CARGO_TARGET_DIR=$scratch/target cargo build -q --workspace --bin stowage)
  # on one database, without the kills: what a guard keeps is found without them. The suite ends with the first find
  log=$scratch/$name.log
  if STOWAGE_BIN=$scratch/target/debug/stowage STOWAGE_TEST_DATABASES=sqlite STOWAGE_TEST_NOTES=/dev/null STOWAGE_INTERLEAVE_SECONDS=300 STOWAGE_TEST_FULL= \
    cargo test -q --workspace --features stowage-tests/built --test interleave -- "$tests" >"$log" 2>&1; then
    verdict WRONG "$name: the suite did not notice"
  elif grep -qE "^BROKEN \[($expect)\]" "$log"; then
    verdict ok "$name: found as $(grep -m1 -oE "^BROKEN \[($expect)\]" "$log")"
  else
    verdict WRONG "$name: the suite failed, but not with $expect"; grep -m 5 '^BROKEN' "$log" || tail -n 40 "$log"
  fi
  patch -p1 -s -R -d "$scratch/tree" <"$patch"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
