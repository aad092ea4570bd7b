"""openstacksdk: the proxy of shared file systems."""
import openstack
from demo_common import check
from printed import holds, same

from share import words


def waited(files, share, status="available"):
    return files.wait_for_status(share, status, ["error"], interval=0.05, wait=60)


def life(t):
    """openstacksdk: a share's life"""
    files = t.member.sdk.shared_file_system
    made = files.create_share(share_protocol="NFS", size=1, name="sdk", share_type="files", metadata={"by": "sdk"}, is_public=False)
    holds(made.to_dict(), name="sdk", size=1, share_protocol="NFS", metadata={"by": "sdk"}, is_public=False, is_replicated=False, share_type_name="files")
    found = waited(files, made)
    holds(found.to_dict(), status="available", access_rules_status="active", is_snapshot_supported=True, is_reverting_to_snapshot_supported=True, availability_zone="nova")
    files.update_share(made, display_name="sdk-2", display_description="by the SDK")
    files.resize_share(made.id, 3)
    words.settled(t, t.member, made.id)
    files.resize_share(made.id, 2)
    words.settled(t, t.member, made.id)
    holds(files.get_share(made).to_dict(), name="sdk-2", description="by the SDK", size=2)
    same(files.find_share("sdk-2").id, made.id, "the share of that name")
    same([s.name for s in files.shares(name="sdk-2")], ["sdk-2"], "the shares of that name")
    t.sdk = made.id


def metadata(t):
    """openstacksdk: a share's metadata"""
    files = t.member.sdk.shared_file_system
    same(files.get_share_metadata(t.sdk).metadata, {"by": "sdk"}, "the metadata")
    files.create_share_metadata(t.sdk, floor="2", rack="7")
    files.update_share_metadata(t.sdk, {"floor": "3"}, replace=False)
    same(files.get_share_metadata_item(t.sdk, "floor").metadata, {"floor": "3"}, "one of them")
    files.delete_share_metadata(t.sdk, ["by", "rack"])
    same(files.get_share_metadata(t.sdk).metadata, {"floor": "3"}, "the metadata then")


def pages(t):
    """openstacksdk: lists are read page by page"""
    files = t.member.sdk.shared_file_system
    made = [files.create_share(share_protocol="NFS", size=1, name=f"p{n}") for n in range(3)]
    for share in made:
        waited(files, share)
    same([s.name for s in files.shares(limit=2, sort_key="display_name", sort_dir="asc")], ["p0", "p1", "p2", "sdk-2"], "all pages")
    same([s.name for s in files.shares(details=False, limit=2, sort_key="display_name", sort_dir="asc", paginated=False)], ["p0", "p1"], "one page")
    for share in made:
        files.delete_share(share)
    t.gone(lambda: [s for s in files.shares() if s.name.startswith("p")])


def access(t):
    """openstacksdk: access rules and export locations"""
    files = t.member.sdk.shared_file_system
    rule = files.create_access_rule(t.sdk, access_type="ip", access_to="10.0.0.7", access_level="rw")
    words.until(lambda: files.get_access_rule(rule.id).state, "active", "the rule")
    same([(r.access_to, r.access_level) for r in files.access_rules(t.sdk)], [("10.0.0.7", "rw")], "the rules")
    files.delete_access_rule(rule.id, t.sdk)
    words.until(lambda: list(files.access_rules(t.sdk)), [], "the rules")
    locations = list(files.export_locations(t.sdk))
    same([(e.is_preferred, e.path.startswith("192.0.2.10:")) for e in locations], [(True, True)], "the locations")
    same(files.get_export_location(locations[0].id, t.sdk).path, locations[0].path, "the location")


def snapshots(t):
    """openstacksdk: snapshots, their metadata, and back to one"""
    files = t.member.sdk.shared_file_system
    made = files.create_share_snapshot(share_id=t.sdk, name="then", description="d")
    waited(files, made)
    files.update_share_snapshot(made.id, display_name="now")
    files.set_share_snapshot_metadata(made.id, when="today")
    same(files.fetch_share_snapshot_metadata(made.id).metadata, {"when": "today"}, "its metadata")
    holds(files.get_share_snapshot(made.id).to_dict(), name="now", share_id=t.sdk, size=2, share_proto="NFS", status="available")
    same([s.name for s in files.share_snapshots()], ["now"], "the snapshots")
    instances = list(t.admin.sdk.shared_file_system.share_snapshot_instances())
    same([(i.snapshot_id, i.status) for i in instances], [(made.id, "available")], "the instances")
    holds(t.admin.sdk.shared_file_system.get_share_snapshot_instance(instances[0].id).to_dict(), share_id=t.sdk, progress="100%")
    files.revert_share_to_snapshot(t.sdk, made.id)
    words.settled(t, t.member, t.sdk)
    files.delete_share_snapshot(made.id)
    t.gone(lambda: list(files.share_snapshots()))


def instances(t):
    """openstacksdk: share instances, for administrators"""
    files = t.admin.sdk.shared_file_system
    found = [i for i in files.share_instances() if i.share_id == t.sdk]
    same([(i.host, i.status) for i in found], [("stowage@files#silver", "available")], "the instances")
    files.reset_share_instance_status(found[0].id, "error")
    same(files.get_share_instance(found[0].id).status, "error", "the status")
    files.reset_share_instance_status(found[0].id, "available")


def networks(t):
    """openstacksdk: share networks, their subnets, a server on them"""
    files = t.member.sdk.shared_file_system
    made = files.create_share_network(name="sdk", description="d", neutron_net_id="tour", neutron_subnet_id="tour-v4")
    files.update_share_network(made.id, name="sdk-net")
    holds(files.get_share_network(made.id).to_dict(), name="sdk-net", description="d", project_id=t.member.project_id)
    same([n.name for n in files.share_networks()], ["sdk-net"], "the networks")
    share = files.create_share(share_protocol="NFS", size=1, name="served", share_type="tenants", share_network_id=made.id)
    waited(files, share)
    subnet = files.create_share_network_subnet(made.id, neutron_net_id="tour", neutron_subnet_id="tour-v6")
    holds(subnet.to_dict(), cidr="fd77::/64", ip_version=6, neutron_subnet_id="tour-v6")
    words.until(lambda: t.member.manila().share_networks.get(made.id).status, "active", "the network")
    same(sorted(s.cidr for s in files.share_network_subnets(made.id)), ["10.77.0.0/24", "fd77::/64"], "the subnets")
    same(files.set_share_network_subnet_metadata(made.id, subnet.id, floor="1").metadata, {"floor": "1"}, "its metadata")
    same(len(list(files.export_locations(share.id))), 2, "the locations")
    files.delete_share(share)
    t.gone(lambda: [s for s in files.shares() if s.id == share.id])
    files.delete_share_network_subnet(made.id, subnet.id)
    files.delete_share_network(made.id)
    t.gone(lambda: list(files.share_networks()))
    t.gone(t.admin.manila().share_servers.list)


def locks(t):
    """openstacksdk: resource locks"""
    files = t.member.sdk.shared_file_system
    made = files.create_resource_lock(resource_id=t.sdk, resource_type="share", resource_action="delete", lock_reason="mine")
    holds(made.to_dict(), resource_id=t.sdk, lock_context="user", lock_reason="mine")
    files.update_resource_lock(made.id, lock_reason="ours")
    same(files.get_resource_lock(made.id).lock_reason, "ours", "the reason")
    same([lock.id for lock in files.resource_locks(resource_type="share")], [made.id], "the locks")
    files.delete_resource_lock(made.id)
    same(list(files.resource_locks()), [], "the locks that are left")


def operators(t):
    """openstacksdk: types, services, ensuring, pools, quotas, limits, zones for who runs the cloud"""
    files, member = t.admin.sdk.shared_file_system, t.member.sdk.shared_file_system
    made = files.create_share_type(name="sdk", extra_specs={"driver_handles_share_servers": "False"})
    files.update_share_type_extra_specs(made.id, disk="ssd")
    same(files.get_share_type(made.id).extra_specs, {"driver_handles_share_servers": "False", "disk": "ssd"}, "the specs")
    files.delete_share_type_extra_spec_property(made.id, "disk")
    files.delete_share_type(made.id)
    same("sdk" in [kind.name for kind in files.share_types()], False, "it is still there")
    same({s.host: (s.binary, s.state) for s in files.services(binary="manila-share")}, {f"stowage@{name}": ("manila-share", "up") for name in ("files", "tenants", "walls")}, "the services")
    files.ensure_shares_service("stowage@files")
    words.until(lambda: [s.ensuring for s in t.admin.manila().services.list(search_opts={"host": "stowage@files"})], [False], "the run")
    same(sorted(p.name for p in files.storage_pools()), ["stowage@files#silver", "stowage@tenants#room", "stowage@walls#cell"], "the pools")
    same(files.get_quota_set(t.member.project_id).shares, 50, "the quota")
    files.update_quota_set(t.member.project_id, shares=9)
    same(files.get_quota_set(t.member.project_id).shares, 9, "the quota then")
    files.revert_quota_set(t.member.project_id)
    same(files.get_quota_class_set("default").shares, 50, "the class")
    # its own class of limits looks for them one level too high
    same(member.get("/limits").json()["limits"]["absolute"]["totalSharesUsed"], 1, "the limits' use")
    same([zone.name for zone in member.availability_zones()], ["nova"], "the zones")
    same(list(member.user_messages(resource_id=t.sdk)), [], "the messages of the share")


def errors(t):
    """openstacksdk: errors have the status and the text"""
    files = t.member.sdk.shared_file_system
    for wanted, text, call in (
        (openstack.exceptions.NotFoundException, "could not be found", lambda: files.get_share("00000000-0000-4000-8000-000000000000")),
        (openstack.exceptions.ForbiddenException, "Policy doesn't allow", lambda: list(files.share_instances())),
        (openstack.exceptions.BadRequestException, "must be an integer and greater than 0", lambda: files.create_share(share_protocol="NFS", size=0)),
    ):
        try:
            call()
        except wanted as e:
            check(text in str(e), f"it says {e}")
        else:
            check(False, f"nothing was raised where {wanted.__name__} should be")
    files.soft_delete_share(t.sdk)
    files.restore_share(t.sdk)
    files.delete_share(t.sdk)
    t.gone(lambda: list(files.shares()))


STEPS = [life, metadata, pages, access, snapshots, instances, networks, locks, operators, errors]
