"""The suites: how the service stands that each runs against, and what the peer's configuration says of it.

A suite has runs, one service each. A test is named with the runs that it passes in, where there are several.
"""
import dataclasses
import pathlib
import typing

import node
import nothing
import service


@dataclasses.dataclass(frozen=True)
class Run:
    api: str
    template: str
    # the service's configuration, beside what every run has; what it starts for that it adds to the list
    config: typing.Callable[[pathlib.Path, list], str]
    # prepares the running service; what it returns fills the template
    prepare: typing.Callable[[service.Service], dict]


@dataclasses.dataclass(frozen=True)
class Suite:
    regex: str
    runs: dict


def block_config(home, nodes):
    """Two fake arrays; as root two storage nodes, and a fake array beside them."""
    elsewhere = nothing.serve()
    services = "".join(f'[[identity.service]]\ntype = "{kind}"\nname = "nothing"\nurl = "{elsewhere}"\n' for kind in ("network", "image"))
    copy = ""
    if node.qemu_img():
        copy = f'[copy]\nprogram = "{node.qemu_img()}"\n'
        node.put_driver(home)
        for name in ("one", "two"):
            nodes.append(node.Node(home, name))
    fakes = ("three",) if nodes else ("one", "two")
    backends = "".join(n.section() for n in nodes) + "".join(f'[[backend]]\nname = "{name}"\ndriver = "memory"\n' for name in fakes)
    return f"[block]\nbackend_name_field = false\n{copy}{services}{backends}"


def block_prepare(running):
    client = service.Client(running, "block-storage")
    client.ask("/types", {"volume_type": {"name": "plain"}})
    client.ask("/types", {"volume_type": {"name": "shared", "extra_specs": {"multiattach": "<is> True"}}})
    pool = client.first_pool("/scheduler-stats/get_pools?detail=true")
    return {key: pool[key] for key in ("vendor_name", "storage_protocol")}


# Subnets that users name by no id: share networks of the suite have none.
NETWORK = """[share]
default_share_type = "with-servers"
[network]
default_subnet = "default"
[[network.subnet]]
id = "default"
network_id = "default"
cidr = "10.20.0.0/16"
"""


def share_config(servers):
    """Two arrays; with servers of their own, the second can neither build one over several subnets nor give it another later, and
    a third one, which has no room for what the suite makes, takes no server from another."""
    def config(_home, _nodes):
        backends = ""
        for name, able in (("one", "true"), ("two", "false")):
            backends += f'[[backend]]\nname = "{name}"\nkind = "share"\ndriver = "memory"\n[backend.options]\n'
            # with servers, the suite wants this of back ends between which they move, though nothing is replicated
            more = ":replication_type=dr" if servers else ""
            backends += f'pools = ["{name}-pool:10000{more}"]\nshare_protocols = ["nfs", "cifs"]\n'
            backends += 'ip_versions = ["4", "6"]\nexport_addresses = ["192.0.2.10", "2001:db8::10"]\n'
            if servers:
                backends = backends.replace(f'name = "two"\n', 'name = "two"\navailability_zone = "elsewhere"\n')
                backends += f'driver_handles_share_servers = "yes"\nmultiple_subnets = {able}\nallocation_update = {able}\n'
        if servers:
            backends += '[[backend]]\nname = "three"\nkind = "share"\ndriver = "memory"\n[backend.options]\npools = ["three-pool:1"]\n'
            backends += 'driver_handles_share_servers = "yes"\nmigration_refusal = "nothing comes here"\n'
        return (NETWORK if servers else "") + backends
    return config


def share_prepare(servers):
    def prepare(running):
        client = service.Client(running, "shared-file-system", {"X-OpenStack-Manila-API-Version": "2.99"})
        protocol = client.first_pool("/scheduler-stats/pools/detail")["storage_protocol"]
        if servers:
            specs = {"driver_handles_share_servers": "True", "snapshot_support": "True", "create_share_from_snapshot_support": "True"}
            client.ask("/types", {"share_type": {"name": "with-servers", "extra_specs": specs}})
        return {"servers": str(servers).lower(), "storage_protocol": protocol}
    return prepare


SUITES = {
    "block": Suite(r"^tempest\.api\.volume|^cinder_tempest_plugin\.api", {"": Run("block", "block", block_config, block_prepare)}),
    "share": Suite(r"^manila_tempest_tests\.tests\.api", {
        "without-servers": Run("share", "share", share_config(False), share_prepare(False)),
        "with-servers": Run("share", "share", share_config(True), share_prepare(True)),
    }),
}
