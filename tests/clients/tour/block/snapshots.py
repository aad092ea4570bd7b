"""Snapshots and what is made of them and of volumes; back to a snapshot."""
from printed import holds, same, says


def create(t):
    """openstack: a snapshot with properties is made, listed and shown"""
    t.create(t.member, "origin", "--size", "1")
    made = t.member.openstack("volume", "snapshot", "create", "--volume", "origin", "--description", "before the move", "--property", "when=today", "first").shown()
    holds(made, name="first", size="1", description="before the move", properties="when='today'", volume_id=t.member.volume("origin"), status="creating")
    t.settled_snapshot(t.member, made["id"])
    rows = t.member.openstack("volume", "snapshot", "list", "--long").table(["ID", "Name", "Description", "Status", "Size", "Created At", "Volume", "Properties"])
    same([(r["ID"], r["Name"], r["Status"], r["Size"], r["Volume"], r["Properties"]) for r in rows], [(made["id"], "first", "available", "1", "origin", "when='today'")])
    holds(t.member.openstack("volume", "snapshot", "show", "first").shown(), id=made["id"], status="available")


def listed(t):
    """openstack and cinder: snapshots by volume, name and status, sorted"""
    t.create(t.member, "elsewhere", "--size", "2")
    t.member.openstack("volume", "snapshot", "create", "--volume", "elsewhere", "second")
    t.settled_snapshot(t.member, "second")
    names = lambda *options: t.member.openstack("volume", "snapshot", "list", *options).column("Name")
    same(names("--volume", "elsewhere"), ["second"], "of that volume")
    same(names("--name", "first"), ["first"], "of that name")
    same(sorted(names("--status", "available")), ["first", "second"], "available")
    same(names("--limit", "1"), ["second", "first"], "page by page, newest first")
    rows = t.member.cinder("snapshot-list", "--sort", "name:desc").table()
    same([row["Name"] for row in rows], ["second", "first"], "by name, backwards")
    same(t.member.cinder("snapshot-list", "--filters", "name~=irs").column("Name"), ["first"], "by a part of the name")


def changed(t):
    """openstack and cinder: a snapshot's name and properties are changed"""
    t.member.openstack("volume", "snapshot", "set", "--name", "one", "--property", "who=me", "first")
    holds(t.member.openstack("volume", "snapshot", "show", "one").shown(), properties="when='today', who='me'")
    t.member.openstack("volume", "snapshot", "unset", "--property", "when", "one")
    same(t.member.cinder("snapshot-metadata-show", "one").shown(), {"who": "me"}, "the metadata")
    t.member.cinder("snapshot-metadata", "one", "set", "more=less")
    holds(t.member.cinder("snapshot-show", "one").shown(), metadata="{'more': 'less', 'who': 'me'}")


def copies(t):
    """openstack: a volume of a snapshot, and one of a volume"""
    made = t.create(t.member, "from-snapshot", "--snapshot", "one", "--size", "2")
    shown = t.member.openstack("volume", "show", "from-snapshot").shown()
    holds(shown, size="2", snapshot_id=t.member.snapshot("one"), source_volid="None")
    t.create(t.member, "clone", "--source", "from-snapshot")
    holds(t.member.openstack("volume", "show", "clone").shown(), size="2", source_volid=made, snapshot_id="None")


def reverted(t):
    """openstack and cinder: back to a snapshot"""
    t.member.openstack("volume", "revert", "one")
    t.settled(t.member, "origin")
    t.settled_snapshot(t.member, "one")
    t.member.cinder("revert-to-snapshot", "one")
    t.settled(t.member, "origin")
    holds(t.settled_snapshot(t.member, "one").to_dict(), status="available", volume_id=t.member.volume("origin"))


def deleted(t):
    """openstack: a volume goes after its snapshots, or with them"""
    says(t.member.openstack("volume", "delete", "origin", status=1), f"Invalid volume: Volume {t.member.volume('origin')} has 1 snapshots; delete them first.")
    t.member.openstack("volume", "snapshot", "delete", "one")
    t.gone(lambda: t.member.library().volume_snapshots.list(search_opts={"name": "one"}))
    t.delete(t.member, "origin", "from-snapshot", "clone")
    t.member.openstack("volume", "delete", "--purge", "elsewhere")
    t.gone(t.member.library().volumes.list)
    same(t.member.openstack("volume", "snapshot", "list").out.strip(), "", "the snapshots that are left")


STEPS = [create, listed, changed, copies, reverted, deleted]
