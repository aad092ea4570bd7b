"""The attachments API, without a compute service: as who attaches, and as who looks on."""
from printed import holds, same, says

SERVER = "5e7e0001-0000-4000-8000-000000000001"


def connected(person, volume, host, mode="rw", server=()):
    return person.cinder("attachment-create", "--connect", "True", "--host", host, "--ip", "192.0.2.1", "--initiator", f"iqn.2026-01.org.example:{host}",
                         "--mode", mode, volume, *server).shown()


def reserved(t):
    """cinder: a reservation is made, and seen"""
    t.volume = t.create(t.member, "disk", "--size", "1", "--type", "shared")
    made = t.member.cinder("attachment-create", "disk", SERVER).shown()
    holds(made, status="reserved", volume_id=t.volume, instance=SERVER, attach_mode="null")
    holds(t.member.openstack("volume", "show", "disk").shown(), status="reserved", multiattach="True")
    t.first = made["id"]


def updated(t):
    """openstack: the connector is given; how to connect is printed"""
    shown = t.member.openstack("volume", "attachment", "set", "--host", "one", "--ip", "192.0.2.1", "--initiator", "iqn.2026-01.org.example:one", t.first).shown()
    holds(shown, **{"ID": t.first, "Volume ID": t.volume, "Instance ID": SERVER, "Status": "attaching"})
    for part in ("driver_volume_type='iscsi'", "target_iqn=", "target_lun=", "target_portal=", f"attachment_id='{t.first}'"):
        same(part in shown["Properties"], True, f"{part} in {shown['Properties']}")


def completed(t):
    """openstack: it is completed; the volume is in use and says by whom"""
    t.member.openstack("volume", "attachment", "complete", t.first)
    holds(t.member.openstack("volume", "attachment", "show", t.first).shown(), **{"Status": "attached", "Attach Mode": "rw"})
    same(t.member.openstack("volume", "list").table()[0]["Attached to"], f"Attached to {SERVER} on None", "the list's column")
    holds(t.member.cinder("list").table()[0], **{"Status": "in-use", "Attached to": SERVER})


def twice(t):
    """cinder: a multi-attach volume is attached once more, to be read only"""
    made = connected(t.member, "disk", "two", "ro")
    holds(made, status="attaching", attach_mode="ro", driver_volume_type="iscsi", access_mode="ro")
    t.member.cinder("attachment-complete", made["id"])
    t.second = made["id"]
    rows = t.member.openstack("volume", "attachment", "list").table(["ID", "Volume ID", "Server ID", "Status"])
    same({row["ID"]: (row["Volume ID"], row["Server ID"], row["Status"]) for row in rows}, {t.first: (t.volume, SERVER, "attached"), t.second: (t.volume, "None", "attached")})


def listed(t):
    """openstack and cinder: attachments by volume, status and page"""
    single = t.create(t.member, "single", "--size", "1")
    third = t.member.cinder("attachment-create", "single").shown()["id"]
    ids = lambda *options: t.member.openstack("volume", "attachment", "list", *options).column("ID")
    same(ids("--volume-id", single), [third], "of that volume")
    same(ids("--status", "reserved"), [third], "reserved")
    every = ids("--limit", "2")
    same(sorted(every), sorted([t.first, t.second, third]), "page by page")
    same(ids("--marker", every[0]), every[1:], "after the first")
    rows = t.member.cinder("attachment-list", "--filters", "status=attached").table(["ID", "Volume ID", "Status", "Server ID"])
    same(sorted(row["ID"] for row in rows), sorted([t.first, t.second]), "attached")
    same(t.other.openstack("volume", "attachment", "list").out.strip(), "", "what the other project sees")
    holds(t.member.cinder("attachment-show", third).shown(), status="reserved", volume_id=single, attach_mode="null")


def refused(t):
    """cinder: an ordinary volume is attached once; a used one is not deleted"""
    single = t.member.volume("single")
    says(t.member.cinder("attachment-create", "single", SERVER, status=1), f"ERROR: Invalid volume: Volume {single} status must be available or downloading to reserve, but the current status is reserved. (HTTP 400) (Request-ID: req-")
    refusal = t.member.cinder("delete", "disk", status=1)
    says(refusal, f"Delete for volume disk failed: Invalid volume: Volume {t.volume} is still attached, detach volume first. (HTTP 400)")
    says(refusal, "ERROR: Unable to delete any of the specified volumes.")


def ended(t):
    """openstack and cinder: a server's attachment is ended by the compute service only, others by who made them"""
    says(t.member.openstack("volume", "attachment", "delete", t.first, status=1), f"ConflictNovaUsingAttachment: Detach volume from instance {SERVER} using the Compute API")
    t.compute().attachments.delete(t.first)
    holds(t.member.openstack("volume", "show", "disk").shown(), status="in-use")
    t.member.cinder("attachment-delete", t.second)
    t.settled(t.member, "disk")
    for one in t.member.library().attachments.list():
        t.member.library().attachments.delete(one.id)
    t.settled(t.member, "single")
    same(t.member.openstack("volume", "attachment", "list").out.strip(), "", "the attachments that are left")
    t.delete(t.member, "disk", "single")


STEPS = [reserved, updated, completed, twice, listed, refused, ended]
