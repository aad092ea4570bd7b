"""What attached volumes before there were attachments, as python-cinderclient does it; and what that looks like to others."""
from printed import holds, same, says

SERVER = "5e7e0002-0000-4000-8000-000000000002"
CONNECTOR = {"initiator": "iqn.2026-01.org.example:old", "ip": "192.0.2.2", "host": "old", "platform": "x86_64", "os_type": "linux", "multipath": False}


def status(t):
    return t.member.cinder("show", "old").shown()["status"]


def reserved(t):
    """library: reserve and unreserve"""
    t.volume = t.create(t.member, "old", "--size", "1")
    t.volumes = t.member.library("3.0").volumes
    t.volumes.reserve(t.volume)
    same(status(t), "attaching", "the status")
    t.volumes.unreserve(t.volume)
    same(status(t), "available", "the status afterwards")


def attached(t):
    """library: reserve, initialize_connection, attach; printed as attached"""
    t.volumes.reserve(t.volume)
    connection = t.admin.library("3.0").volumes.initialize_connection(t.volume, CONNECTOR)
    same(connection["driver_volume_type"], "iscsi", "the transport")
    holds(connection["data"], access_mode="rw", target_discovered=False)
    t.volumes.attach(t.volume, SERVER, "/dev/vdb", host_name="old")
    holds(t.member.cinder("list").table()[0], **{"Status": "in-use", "Attached to": SERVER})
    same(t.member.openstack("volume", "list").table()[0]["Attached to"], f"Attached to {SERVER} on /dev/vdb", "the list's column")
    t.attachment = t.member.openstack("volume", "attachment", "list").table()[0]
    holds(t.attachment, **{"Volume ID": t.volume, "Server ID": SERVER, "Status": "attached"})


def detaching(t):
    """library: begin_detaching and roll_detaching"""
    t.volumes.begin_detaching(t.volume)
    same(status(t), "detaching", "the status")
    t.volumes.roll_detaching(t.volume)
    same(status(t), "in-use", "the status afterwards")


def detached(t):
    """library: begin_detaching, terminate_connection, detach; nothing is attached"""
    t.volumes.begin_detaching(t.volume)
    t.compute().volumes.terminate_connection(t.volume, CONNECTOR)
    t.compute().volumes.detach(t.volume, t.attachment["ID"])
    t.settled(t.member, t.volume)
    holds(t.member.cinder("show", "old").shown(), status="available", attached_servers="[]", attachment_ids="[]")
    same(t.member.openstack("volume", "attachment", "list").out.strip(), "", "the attachments that are left")


def reset(t):
    """openstack and cinder: an administrator says what a volume is"""
    t.admin.openstack("volume", "set", "--state", "error", t.volume)
    same(status(t), "error", "the status")
    t.admin.cinder("reset-state", "--state", "available", t.volume)
    same(status(t), "available", "the status afterwards")
    says(t.member.openstack("volume", "set", "--state", "error", "old", status=1), "Policy doesn't allow volume_extension:volume_admin_actions:reset_status to be performed.")
    t.delete(t.member, "old")


STEPS = [reserved, attached, detaching, detached, reset]
