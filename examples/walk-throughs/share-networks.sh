#!/usr/bin/env bash
# A live share server over IPv4 is given an IPv6 subnet (docs/share-networks.md). Needs a back end that builds share servers, and
# subnets for them:
#
#   [network]
#   [[network.subnet]]
#   id = "walk-v4"
#   network_id = "walk"
#   cidr = "10.77.0.0/24"
#   [[network.subnet]]
#   id = "walk-v6"
#   network_id = "walk"
#   cidr = "fd77::/64"
#
#   [[backend]]
#   name = "tenants"
#   driver = "memory"
#   kind = "share"
#   [backend.options]
#   driver_handles_share_servers = "yes"
#   multiple_subnets = true
#   allocation_update = true
#   ip_versions = ["4", "6"]
version=2.99
. "$(dirname "$0")/common.sh"
share

say 'A type whose shares live on servers of their own, on back ends that can give live servers more subnets.'
api POST /types '{"share_type": {"name": "walk-served-'$$'", "extra_specs": {"driver_handles_share_servers": "True", "network_allocation_update_support": "<is> True"}}}'
type=$(field share_type.id)

say 'A share network over IPv4, and the first share on it: a server is built.'
api POST /share-networks '{"share_network": {"name": "walk", "neutron_net_id": "walk", "neutron_subnet_id": "walk-v4"}}'
network=$(field share_network.id)
is share_network.network_allocation_update_support true
api POST /shares '{"share": {"share_proto": "NFS", "size": 1, "name": "walk", "share_type": "'"$type"'", "share_network_id": "'"$network"'"}}'
share_id=$(field share.id)
eventually available /shares/"$share_id" share.status
api GET /shares/"$share_id"/export_locations
location=$(field export_locations.0.id)
api GET /shares/"$share_id"
server=$(field share.share_server_id)

say 'Before 2.70 a zone has one subnet.'
v6='"neutron_net_id": "walk", "neutron_subnet_id": "walk-v6"'
version_header=(-H 'X-OpenStack-Manila-API-Version: 2.69')
refused 409 POST /share-networks/"$network"/subnets '{"share-network-subnet": {'"$v6"'}}'
version_header=(-H "X-OpenStack-Manila-API-Version: $version")

say 'Would the server take an IPv6 subnet? Nothing changes; null means that its driver has not answered yet.'
compatible=null
while [ "$compatible" = null ]; do
  api POST /share-networks/"$network"/action '{"share_network_subnet_create_check": {'"$v6"'}}'
  compatible=$(field compatible)
done
is compatible true

say 'Add it: the network and its server are in network_change until the driver is done.'
api POST /share-networks/"$network"/subnets '{"share-network-subnet": {'"$v6"'}}'
subnet=$(field share_network_subnet.id)
is share_network_subnet.cidr fd77::/64
eventually active /share-networks/"$network" share_network.status
api GET /share-servers/"$server"
is share_server.status active

say 'IPv4 and IPv6 side by side; the location that was there is the same.'
api GET /shares/"$share_id"/export_locations
is export_locations.0.id "$location"
grep -q 'fd77::' "$answer"

say 'A subnet that shares are on stays. When they are gone, the server goes with it.'
refused 409 DELETE /share-networks/"$network"/subnets/"$subnet"
api DELETE /shares/"$share_id"
eventually 404 /shares/"$share_id" share.status
api DELETE /share-networks/"$network"/subnets/"$subnet"
eventually 404 /share-servers/"$server" share_server.status
api DELETE /share-networks/"$network"
api DELETE /types/"$type"
say 'done'
