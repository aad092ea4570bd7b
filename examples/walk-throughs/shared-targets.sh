#!/usr/bin/env bash
# What a consumer reads before it attaches or detaches (docs/shared-targets.md).
version=3.71
. "$(dirname "$0")/common.sh"
block

api POST /volumes '{"volume": {"size": 1, "name": "walk"}}'
volume=$(field volume.id)
eventually available /volumes/"$volume" volume.status

say 'From 3.48 a volume says whether its target is shared, and which back end to lock on.'
api GET /volumes/"$volume"
shared=$(field volume.shared_targets) lock=$(field volume.service_uuid)
case $shared in
  false) say "The array gives each volume a target of its own: no lock is needed." ;;
  *)     say "Take a lock named $lock on this host around each attach and detach." ;;
esac
if [ "$shared" != false ]; then [ "$lock" != null ]; fi

say 'A client of before 3.48 does not see the fields.'
version_header=(-H 'OpenStack-API-Version: volume 3.47')
api GET /volumes/"$volume"
if grep -q shared_targets "$answer"; then exit 1; fi

api DELETE /volumes/"$volume"
eventually 404 /volumes/"$volume" volume.status
say 'done'
