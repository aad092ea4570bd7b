#!/usr/bin/env bash
# build.sh [OUT]: makes a component of driver.py, by default drivers/dist/python/python.wasm. Takes a minute, and 20 MB.
# componentize-py comes from the Python index into a virtual environment under the build's target folder, once.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
out=${1:-$root/drivers/dist/python/python.wasm}
venv=${CARGO_TARGET_DIR:-$root/target}/componentize-venv
version=0.25.1
stamp=$(cat driver.py world.wit build.sh "$root"/wit/stowage-driver/0.1.0/*.wit | sha256sum | cut -d' ' -f1)
if [ -f "$out" ] && [ "$(cat "$out.from" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
if [ ! -x "$venv/bin/componentize-py" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q "componentize-py==$version"
fi
wit=$(mktemp -d); trap 'rm -rf "$wit"' EXIT
mkdir "$wit/deps"
cp world.wit "$wit/"
cp -r "$root/wit/stowage-driver/0.1.0" "$wit/deps/stowage-driver"
mkdir -p "$(dirname "$out")"
"$venv/bin/componentize-py" -d "$wit" -w python-driver componentize -p . driver -o "$out.new" > /dev/null
mv "$out.new" "$out"
echo "$stamp" > "$out.from"
