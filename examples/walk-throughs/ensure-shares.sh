#!/usr/bin/env bash
# The shares of one back end are compared with what its driver finds (docs/ensure-shares.md).
version=2.99
. "$(dirname "$0")/common.sh"
share

api POST /shares '{"share": {"share_proto": "NFS", "size": 1, "name": "walk"}}'
share_id=$(field share.id)
eventually available /shares/"$share_id" share.status
api GET /shares/"$share_id"
host=$(field share.host)
host=${host%%#*}
api GET /shares/"$share_id"/export_locations
location=$(field export_locations.0.id)

say 'Back ends of shares are parts of the share service; `ensuring` says whether the shares of one are being compared.'
api GET "/services?host=$host"
is services.0.ensuring false

say 'As released clients ask (openstack share service ensure shares): accepted, whatever is under way.'
api POST /services/ensure-shares '{"ensure_shares": {"host": "'"$host"'"}}'
eventually false "/services?host=$host" services.0.ensuring

say 'The share is what it was, and its export location has the id it had.'
api GET /shares/"$share_id"
is share.status available
api GET /shares/"$share_id"/export_locations
is export_locations.0.id "$location"

say 'As the specification asks: refused while a share of the back end is in a transitional state; it is named.'
api POST /shares/"$share_id"/action '{"reset_status": {"status": "migrating"}}'
refused 409 POST /services/ensure '{"host": "'"$host"'"}'
api POST /shares/"$share_id"/action '{"reset_status": {"status": "available"}}'
api POST /services/ensure '{"host": "'"$host"'"}'
eventually false "/services?host=$host" services.0.ensuring

say 'An unknown host is not found, and neither is the action before 2.86.'
refused 404 POST /services/ensure '{"host": "nowhere@none"}'
version_header=(-H 'X-OpenStack-Manila-API-Version: 2.85')
refused 404 POST /services/ensure '{"host": "'"$host"'"}'
version_header=(-H "X-OpenStack-Manila-API-Version: $version")

api DELETE /shares/"$share_id"
eventually 404 /shares/"$share_id" share.status

say 'How the last run went is in the admin API: `stowage manage ensure HOST@BACKEND --wait` shows the same as it goes.'
admin
eventually done /backends/"$host"/ensure ensure.state
api GET /backends/"$host"/ensure
is ensure.unchanged 1
say 'done'
