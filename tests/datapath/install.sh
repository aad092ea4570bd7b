#!/usr/bin/env bash
# install.sh: what the data path's tests need: tgt and btrfs-progs (what a storage node is made of), libiscsi's tools and a
# private qemu-io with the iscsi module (userspace initiators). Debian, as root; safe to run again.
#
# qemu is unpacked under the build's cache folder and never installed: the package qemu-block-extra would replace the
# qemu-utils that the machine has. Nothing is started: packages must not start services here.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${CARGO_TARGET_DIR:-$PWD/target}/datapath
qemu=$cache/qemu
need=(tgt:tgtd libiscsi-bin:iscsi-ls btrfs-progs:mkfs.btrfs)
PATH=$PATH:/usr/sbin:/sbin
missing=()
for n in "${need[@]}"; do command -v "${n#*:}" >/dev/null || missing+=("${n%:*}"); done
[ ${#missing[@]} = 0 ] && [ -x "$qemu/ready" ] && exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo 'the data path suites need root and Debian packages (tgt, libiscsi-bin, btrfs-progs, qemu-block-extra); run this as root on Debian' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt() { apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -q "$@" </dev/null >"$cache/apt.log" 2>&1; }
mkdir -p "$cache"
if [ ${#missing[@]} != 0 ]; then
  echo "installing ${missing[*]} for the tests"
  # a test machine must not serve iSCSI by itself
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then printf '#!/bin/sh\nexit 101\n' >$policy; chmod 755 $policy; trap 'rm -f /usr/sbin/policy-rc.d' EXIT; fi
  apt install -y --no-install-recommends "${missing[@]}" || { apt update; apt install -y --no-install-recommends "${missing[@]}" || { cat "$cache/apt.log" >&2; exit 1; }; }
fi

if [ ! -x "$qemu/ready" ]; then
  echo 'unpacking a private qemu-io with the iscsi module for the tests'
  tmp=$(mktemp -d "$cache/qemu.XXXXXX")
  # the three packages of one version, that of the distribution's own qemu-block-extra
  version=$(apt-cache madison qemu-block-extra | awk '{print $3; exit}')
  [ -n "$version" ] || { apt update; version=$(apt-cache madison qemu-block-extra | awk '{print $3; exit}'); }
  (cd "$tmp" && apt-get -q -o Acquire::Retries=3 download "qemu-utils=$version" "qemu-block-extra=$version" "qemu-system-common=$version" </dev/null >"$cache/apt.log" 2>&1) || { cat "$cache/apt.log" >&2; exit 1; }
  for deb in "$tmp"/*.deb; do dpkg -x "$deb" "$tmp"; rm "$deb"; done
  # qemu-io looks for its modules beside where it was built for; a wrapper says where they are
  modules=$(dirname "$(find "$tmp" -name 'block-iscsi.so' | head -1)")
  mkdir -p "$tmp/bin"
  for tool in qemu-io qemu-img; do
    printf '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")/..\nQEMU_MODULE_DIR="$here/%s" exec "$here/usr/bin/%s" "$@"\n' "${modules#"$tmp"/}" "$tool" >"$tmp/bin/$tool"
    chmod 755 "$tmp/bin/$tool"
  done
  printf '#!/bin/sh\n' >"$tmp/ready"; chmod 755 "$tmp/ready" "$tmp"
  rm -rf "$qemu"; mv "$tmp" "$qemu"
fi
