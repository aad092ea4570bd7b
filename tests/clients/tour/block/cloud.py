"""openstacksdk: the cloud layer, and the proxy below it."""
import openstack
from demo_common import check
from printed import holds, same


def life(t):
    """openstacksdk: a volume's life through the cloud layer"""
    cloud = t.member.sdk
    made = cloud.create_volume(1, name="sdk", volume_type="fast", wait=True, timeout=60, metadata={"by": "sdk"})
    holds(made.to_dict(), name="sdk", status="available", size=1, volume_type="fast", metadata={"by": "sdk"}, is_bootable=False, attachments=[])
    same(cloud.get_volume("sdk").id, made.id, "the volume of that name")
    taken = cloud.create_volume_snapshot(made.id, name="taken", wait=True, timeout=60)
    holds(taken.to_dict(), status="available", volume_id=made.id, size=1)
    same([s.name for s in cloud.list_volume_snapshots()], ["taken"], "the snapshots")
    check(cloud.delete_volume_snapshot(taken.id, wait=True, timeout=60), "the snapshot was not there")
    check(cloud.delete_volume(made.id, wait=True, timeout=60), "the volume was not there")
    same(cloud.list_volumes(), [], "the volumes that are left")


def pages(t):
    """openstacksdk: a list is read page by page, and filtered"""
    block = t.member.sdk.block_storage
    for n in range(5):
        block.create_volume(name=f"p{n}", size=1 + n % 2)
    for volume in block.volumes():
        block.wait_for_status(volume, "available", ["error"], interval=0.05, wait=60)
    same([v.name for v in block.volumes(limit=2)], ["p4", "p3", "p2", "p1", "p0"], "all pages")
    same([v.name for v in block.volumes(details=False, limit=2, paginated=False)], ["p4", "p3"], "one page")
    same(sorted(v.name for v in block.volumes(status="available", name="p3")), ["p3"], "by name and status")
    summary = block.summary(all_projects=False)
    same((summary.total_count, summary.total_size), (5, 7), "the summary")


def actions(t):
    """openstacksdk: actions on a volume"""
    block = t.member.sdk.block_storage
    p0, p1 = block.find_volume("p0"), block.find_volume("p1")
    block.extend_volume(p0, 4)
    t.settled(t.member, p0.id)
    same(block.get_volume(p0).size, 4, "the size")
    block.set_volume_bootable_status(p0, True)
    block.set_volume_readonly(p0, True)
    block.set_volume_metadata(p0, colour="red", shape="round")
    block.delete_volume_metadata(p0, ["shape"])
    found = block.get_volume(p0)
    holds(found.to_dict(), is_bootable=True, metadata={"colour": "red", "readonly": "True"})
    attachment = block.create_attachment(p1.id, connector={"host": "sdk", "initiator": "iqn.2026-01.org.example:sdk", "ip": "192.0.2.3"}, mode="ro")
    holds(attachment.to_dict(), status="attaching", attach_mode="ro", volume_id=p1.id)
    same(attachment.connection_info["driver_volume_type"], "iscsi", "the transport")
    block.complete_attachment(attachment)
    same([(a.id, a.status) for a in block.attachments()], [(attachment.id, "attached")], "the attachments")
    same(block.get_volume(p1).attachments[0]["attachment_id"], attachment.id, "the volume's attachment")
    block.delete_attachment(attachment)
    block.wait_for_status(p1, "available", ["error"], interval=0.05, wait=60)


def transfer(t):
    """openstacksdk: a transfer between projects"""
    volume = t.member.sdk.block_storage.find_volume("p2")
    offer = t.member.sdk.block_storage.create_transfer(volume_id=volume.id, name="sdk")
    t.other.sdk.block_storage.accept_transfer(offer.id, offer.auth_key)
    same([v.id for v in t.other.sdk.block_storage.volumes()], [volume.id], "what the other has")
    t.delete(t.other, volume.id)


def operators(t):
    """openstacksdk: services, pools, quotas, limits, types for who runs the cloud"""
    block = t.admin.sdk.block_storage
    same({s.host: (s.binary, s.state) for s in block.services(binary="cinder-volume")}, {f"stowage@memory{n}": ("cinder-volume", "up") for n in (1, 2)}, "the services")
    same(sorted(p.name for p in block.backend_pools()), ["stowage@memory1#gold", "stowage@memory2#iron"], "the pools")
    quota = block.get_quota_set(t.member.project_id, usage=True)
    holds({"volumes": quota.volumes, "used": quota.usage["volumes"]}, volumes=10, used=4)
    same(block.get_limits(project=t.member.project_id).absolute.total_volumes_used, 4, "the limits' use")
    same(block.find_type("fast").extra_specs, {"volume_backend_name": "memory1"}, "the type's specs")
    same(sorted(r.resource for r in block.resource_filters()), ["attachment", "message", "pool", "snapshot", "volume", "volume_type"], "the filters")


def errors(t):
    """openstacksdk: errors have the status and the text"""
    block = t.member.sdk.block_storage
    for wanted, text, call in (
        (openstack.exceptions.NotFoundException, "could not be found", lambda: block.get_volume("00000000-0000-4000-8000-000000000000")),
        (openstack.exceptions.ForbiddenException, "Policy doesn't allow", lambda: block.create_type(name="mine")),
        (openstack.exceptions.BadRequestException, "New size for extend must be greater", lambda: block.extend_volume(block.find_volume("p0"), 1)),
    ):
        try:
            call()
        except wanted as e:
            check(text in str(e), f"it says {e}")
        else:
            check(False, f"nothing was raised where {wanted.__name__} should be")
    for volume in block.volumes():
        block.delete_volume(volume)
    t.gone(lambda: list(block.volumes()))


STEPS = [life, pages, actions, transfer, operators, errors]
