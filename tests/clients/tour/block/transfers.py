"""A volume changes its project."""
from printed import holds, same, says

COLUMNS = ["ID", "Name", "Volume"]


def offered(t):
    """openstack: a volume is offered; the key is printed once"""
    t.volume = t.create(t.member, "gift", "--size", "1")
    made = t.member.openstack("volume", "transfer", "request", "create", "--name", "for-you", "gift").shown()
    holds(made, name="for-you", volume_id=t.volume)
    t.transfer, t.key = made["id"], made["auth_key"]
    same(t.member.openstack("volume", "transfer", "request", "list").table(COLUMNS), [{"ID": t.transfer, "Name": "for-you", "Volume": t.volume}])
    shown = t.member.openstack("volume", "transfer", "request", "show", "for-you").shown()
    holds(shown, id=t.transfer, volume_id=t.volume)
    same("auth_key" in shown, False, "the key is shown again")
    holds(t.member.openstack("volume", "show", "gift").shown(), status="awaiting-transfer")


def taken_with_the_wrong_key(t):
    """openstack: the wrong key does not open it"""
    says(t.other.openstack("volume", "transfer", "request", "accept", "--auth-key", "0123456789abcdef", t.transfer, status=1), f"Attempt to transfer {t.transfer} with invalid auth key.")


def taken(t):
    """openstack: the other project takes it"""
    holds(t.other.openstack("volume", "transfer", "request", "accept", "--auth-key", t.key, t.transfer).shown(), name="for-you", volume_id=t.volume)
    same(t.other.openstack("volume", "list").table(["ID", "Name", "Status", "Size", "Attached to"]),
         [{"ID": t.volume, "Name": "gift", "Status": "available", "Size": "1", "Attached to": ""}], "what the other has now")
    same(t.member.openstack("volume", "list").out.strip(), "", "what the giver has left")
    same(t.member.openstack("volume", "transfer", "request", "list").out.strip(), "", "the offers that are left")


def withdrawn(t):
    """cinder: an offer is listed and withdrawn"""
    made = t.other.cinder("transfer-create", "gift").shown()
    holds(made, volume_id=t.volume)
    rows = t.other.cinder("transfer-list").table(COLUMNS[:1] + ["Volume ID", "Name"])
    same([(row["ID"], row["Volume ID"]) for row in rows], [(made["id"], t.volume)])
    t.other.cinder("transfer-delete", made["id"])
    t.settled(t.other, "gift")
    same(t.other.cinder("transfer-list").table(), [], "the offers that are left")
    t.delete(t.other, "gift")


STEPS = [offered, taken_with_the_wrong_key, taken, withdrawn]
