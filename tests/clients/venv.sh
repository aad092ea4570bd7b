#!/usr/bin/env bash
# venv.sh DIR [REQUIREMENTS MODULES]: makes (or reuses) a virtual environment in DIR with what the file REQUIREMENTS lists (the
# released clients), sees that MODULES (comma separated) can be imported, and prints its bin folder.
# Says what is missing; as root it installs Debian's python3-venv itself.
set -euo pipefail
dir=${1:?venv.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
list=${2:-$here/requirements.txt} modules=${3:-openstack,cinderclient,manilaclient}
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
if ! cmp -s "$list" "$stamp" 2>/dev/null || ! "$dir/bin/python" -c "import $modules" 2>/dev/null; then
  log "installing ${list##*/} into $dir"
  rm -rf "$dir"
  python3 -m venv "$dir"
  "$dir/bin/pip" install -q --disable-pip-version-check --no-input -r "$list" >&2
  cp "$list" "$stamp"
fi
echo "$dir/bin"
