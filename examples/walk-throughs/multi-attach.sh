#!/usr/bin/env bash
# One volume, two hosts at once (docs/multi-attach.md).
version=3.71
. "$(dirname "$0")/common.sh"
block

say 'A volume may be attached more than once when its type says so; the old parameter of create is refused.'
api POST /types '{"volume_type": {"name": "walk-shared-'$$'", "extra_specs": {"multiattach": "<is> True"}}}'
type=$(field volume_type.id)
refused 400 POST /volumes '{"volume": {"size": 1, "multiattach": true}}'
api POST /volumes '{"volume": {"size": 1, "name": "walk", "volume_type": "'"$type"'"}}'
volume=$(field volume.id)
eventually available /volumes/"$volume" volume.status
is volume.multiattach true

say 'The first host: reserve, connect, complete. Read and write.'
api POST /attachments '{"attachment": {"volume_uuid": "'"$volume"'", "mode": "rw"}}'
first=$(field attachment.id)
api PUT /attachments/"$first" '{"attachment": {"connector": {"host": "host-a", "initiator": "iqn.2026-01.org.example:host-a", "multipath": false}}}'
api POST /attachments/"$first"/action '{"os-complete": {}}'

say 'The second host, read-only, while the first goes on.'
api POST /attachments '{"attachment": {"volume_uuid": "'"$volume"'", "mode": "ro", "connector": {"host": "host-b", "initiator": "iqn.2026-01.org.example:host-b", "multipath": false}}}'
second=$(field attachment.id)
api POST /attachments/"$second"/action '{"os-complete": {}}'
api GET /attachments?volume_id="$volume"
is attachments.1.volume_id "$volume"
api GET /volumes/"$volume"
is volume.status in-use

say 'Detach one: the volume stays in use by the other.'
api DELETE /attachments/"$first"
api GET /volumes/"$volume"
is volume.status in-use
is volume.attachments.0.attachment_id "$second"
say 'A volume in use is not deleted.'
refused 400 DELETE /volumes/"$volume"
api DELETE /attachments/"$second"
eventually available /volumes/"$volume" volume.status

api DELETE /volumes/"$volume"
eventually 404 /volumes/"$volume" volume.status
api DELETE /types/"$type"
say 'done'
