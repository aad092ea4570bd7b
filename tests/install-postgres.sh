#!/usr/bin/env bash
# install-postgres.sh: gives the tests PostgreSQL's programs. They start a private cluster of their own in a temporary folder;
# no service is started or changed. Installs only as root; otherwise says what is left out.
set -euo pipefail
cd "$(dirname "$0")"
rm -f .no-postgres
there() { command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
there && exit
if [ -n "${STOWAGE_TEST_POSTGRES:-}" ]; then exit; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo 'left out: the PostgreSQL half of the store suite (no initdb on this machine; install the package postgresql)'
  touch .no-postgres
  exit
fi
echo 'installing PostgreSQL for the tests'
# the package would make and start a cluster that nobody asked for
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -q --no-install-recommends postgresql </dev/null >/dev/null || { apt-get update -q </dev/null >/dev/null; apt-get install -y -q --no-install-recommends postgresql </dev/null >/dev/null; }
there
