#!/usr/bin/env bash
# venv.sh DIR: makes (or reuses) a virtual environment in DIR with the clients of requirements.txt, and prints its bin folder.
# Says what is missing; as root it installs Debian's python3-venv itself.
set -euo pipefail
dir=${1:?venv.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
log() { printf 'clients: %s\n' "$*" >&2; }
die() { log "$*"; exit 1; }

command -v python3 >/dev/null || {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || die 'python3 is not on this machine: install the packages python3 and python3-venv'
  log 'installing python3 and python3-venv'
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3 python3-venv </dev/null >&2
}
if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || die 'python3 has no venv: install the package python3-venv'
  log 'installing python3-venv'
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-venv </dev/null >&2 ||
    { apt-get update -q </dev/null >&2; DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3-venv </dev/null >&2; }
fi
mkdir -p "$(dirname "$dir")"; exec 9>"$dir.lock"; flock 9
stamp=$dir/.requirements
if ! cmp -s "$here/requirements.txt" "$stamp" 2>/dev/null || ! "$dir/bin/python" -c 'import openstack, cinderclient' 2>/dev/null; then
  log "installing the released clients into $dir"
  rm -rf "$dir"
  python3 -m venv "$dir"
  "$dir/bin/pip" install -q --disable-pip-version-check --no-input -r "$here/requirements.txt" >&2
  cp "$here/requirements.txt" "$stamp"
fi
echo "$dir/bin"
