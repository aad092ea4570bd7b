"""The block API's rooms, in the order of the tour."""
from block import attachments, cloud, kinds, older_actions, operators, qualities, quotas, refusals, snapshots, transfers, volumes

ROOMS = [kinds, volumes, snapshots, transfers, attachments, older_actions, qualities, quotas, operators, refusals, cloud]
