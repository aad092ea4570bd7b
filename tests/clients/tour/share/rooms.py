"""The share API's rooms, in the order of the tour."""
from share import access, cloud, group_types, kinds, library, locations, networks, operators, quotas, refusals, security_services, servers, shares, snapshots

ROOMS = [kinds, group_types, shares, access, locations, snapshots, security_services, networks, servers, quotas, operators, refusals, library, cloud]
