"""A first driver in Python: an array that keeps its volumes in the driver's durable `kv`, and a portal that exports them.

A real driver speaks HTTP to its array (`wit_world.imports.http`); everything else is as here. The host makes a fresh instance for
each call, so nothing may be kept in this module's memory. A verb may be repeated, and must then find what its earlier run left.
Build it with build.sh; the contract is wit/stowage-driver/, whose texts say what each record and verb means.
"""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports import capabilities, connection_info, lifecycle
from wit_world.imports import config, kv, types

POOL = "pool"
LARGEST = 1 << 20


def refuse(kind, message):
    """How a verb fails: an error of the contract, never an exception of Python's, which would be a trap."""
    return Err(types.Error(kind, message, None, None))


def capacity():
    return config.get("capacity_gib").value


def volumes():
    """Id to size, of all volumes."""
    found, after = {}, None
    while True:
        page = kv.scan("volume/", after, 100)
        for item in page:
            found[item.key.removeprefix("volume/")] = json.loads(item.entry.value)["gib"]
        if len(page) < 100:
            return found
        after = page[-1].key


def size_of(volume):
    entry = kv.get(f"volume/{volume.id}")
    return None if entry is None else json.loads(entry.value)["gib"]


def found(volume):
    """Its size; a verb on what is not there is refused."""
    size = size_of(volume)
    if size is None:
        raise refuse(types.ErrorKind.NOT_FOUND, f"there is no volume {volume.id}")
    return size


def store(volume, gib):
    kv.put(f"volume/{volume.id}", json.dumps({"gib": gib}).encode())
    return types.VolumeOutcome_Done(types.VolumeUpdate(f"py-{volume.id}", None))


def room_for(gib, besides):
    used = sum(size for id, size in volumes().items() if id != besides)
    if used + gib > capacity():
        raise refuse(types.ErrorKind.EXHAUSTED, f"{used} of {capacity()} GiB are given, {gib} more do not fit")


class Lifecycle(exports.Lifecycle):
    def info(self):
        return lifecycle.DriverInfo("python-example", "Stowage", "0.1.0", 1)

    def describe_options(self):
        size = lifecycle.OptionKind_Integer((1, LARGEST))
        return [
            lifecycle.OptionSpec("capacity_gib", size, False, "100", "How much the array holds."),
            lifecycle.OptionSpec("portal", lifecycle.OptionKind_Text(), True, None, "Where hosts reach it, ADDRESS:PORT."),
        ]

    def init(self, call):
        if ":" not in config.get("portal").value:
            raise refuse(types.ErrorKind.INVALID, "portal: ADDRESS:PORT is wanted")


class Capabilities(exports.Capabilities):
    def report(self, call):
        features = capabilities.Features(
            block_protocols=[capabilities.BlockProtocol_Iscsi()],
            share_protocols=[],
            multiattach=True,
            shared_targets=capabilities.SharedTargets.NO,
            online_extend=True,
            share_server_mode=capabilities.ShareServerMode.WITHOUT_SERVERS,
            share_server_multiple_subnet_support=False,
            network_allocation_update_support=False,
            ip_versions=[],
            ensure_batch=None,
        )
        used = sum(volumes().values())
        pool = capabilities.Pool(
            name=POOL,
            available=True,
            total=types.Capacity_Gib(float(capacity())),
            free=types.Capacity_Gib(float(capacity() - used)),
            provisioned_gib=float(used),
            reserved_percentage=None,
            max_over_subscription_ratio=None,
            thin_provisioning=False,
            thick_provisioning=True,
            multiattach=None,
            online_extend=None,
            filter_function=None,
            goodness_function=None,
            extra=[],
        )
        return capabilities.CapabilityReport(features, [pool], [])


class Volumes(exports.Volumes):
    def create(self, call, volume):
        if size_of(volume) is None:
            room_for(volume.size_gib, volume.id)
        return store(volume, volume.size_gib)

    def delete(self, call, volume):
        kv.delete(f"volume/{volume.id}", None)

    def extend(self, call, volume, new_size_gib):
        size = found(volume)
        room_for(new_size_gib, volume.id)
        return store(volume, max(size, new_size_gib))


class ConnectionInfo(exports.ConnectionInfo):
    def validate_connector(self, call, connector):
        if not connector.initiator:
            raise refuse(types.ErrorKind.INVALID, "the connector has no iSCSI initiator")

    def connect(self, call, volume, attachment_id, mode, connector):
        found(volume)
        target = connection_info.IscsiTarget(config.get("portal").value, f"iqn.2026-01.example:{volume.id}", 1)
        iscsi = connection_info.IscsiConnection([target], None, None, True)
        return connection_info.Connection(connection_info.ConnectionTarget_Iscsi(iscsi), [])

    def disconnect(self, call, volume, target):
        pass

    def ensure_export(self, call, volume):
        pass
