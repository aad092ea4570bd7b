"""Snapshots: made, changed, mounted, what is made of them, back to one."""
from printed import holds, same, says

from share import words

DETAIL = ["ID", "Name", "Status", "Description", "Created At", "Size", "Share ID", "Share Proto", "Share Size", "User ID"]


def settled(t, snapshot):
    t.until(lambda: t.member.manila().share_snapshots.get(snapshot), "available")


def create(t):
    """openstack: a snapshot is made, listed and shown"""
    t.origin = words.create(t, t.member, "origin", "--share-type", "files")
    made = t.member.share("snapshot", "create", "origin", "--name", "first", "--description", "before the move", "--property", "when=today").shown()
    holds(made, name="first", share_id=t.origin, size="1", share_size="1", share_proto="NFS", status="creating", metadata="{'when': 'today'}")
    t.first = made["id"]
    settled(t, t.first)
    shown = t.member.share("snapshot", "show", "first").shown()
    holds(shown, id=t.first, status="available", description="before the move", properties="when='today'", project_id=t.member.project_id)
    same("path = 192.0.2.10:/snapshots/" in shown["export_locations"], True, "where it can be mounted")


def listed(t):
    """openstack: lists, filtered and counted"""
    settled(t, t.member.share("snapshot", "create", "origin", "--name", "second").shown()["id"])
    names = lambda *options: sorted(t.member.share("snapshot", "list", *options).column("Name"))
    same(names(), ["first", "second"], "all")
    same(names("--name", "first"), ["first"], "by name")
    same(names("--name~", "sec"), ["second"], "by a part of the name")
    same(names("--share", "origin", "--status", "available"), ["first", "second"], "of that share")
    same(names("--property", "when=today"), ["first"], "by property")
    says(t.member.share("snapshot", "list", "--count"), "Total number of snapshots: 2")
    rows = t.member.share("snapshot", "list", "--detail", "--name", "second").table(DETAIL)
    holds(rows[0], **{"Status": "available", "Size": "1", "Share ID": t.origin, "Share Proto": "NFS"})
    row = t.admin.share("snapshot", "list", "--all-projects", "--name", "first").table(["ID", "Name", "Project ID"])[0]
    holds(row, **{"ID": t.first, "Project ID": t.member.project_id})
    same(t.other.share("snapshot", "list").out.strip(), "", "what the other sees")


def changed(t):
    """openstack: name, description and properties are set and unset"""
    t.member.share("snapshot", "set", "first", "--name", "one", "--description", "after it", "--property", "who=me")
    holds(t.member.share("snapshot", "show", "one").shown(), description="after it", properties="when='today', who='me'")
    t.member.share("snapshot", "unset", "one", "--property", "when", "--description")
    holds(t.member.share("snapshot", "show", "one").shown(), description="None", properties="who='me'")
    t.admin.share("snapshot", "set", t.first, "--status", "error")
    holds(t.member.share("snapshot", "show", "one").shown(), status="error")
    t.admin.share("snapshot", "set", t.first, "--status", "available")


def mounted(t):
    """openstack: a snapshot is mounted: access rules and locations"""
    made = t.member.share("snapshot", "access", "create", "one", "ip", "10.0.0.9").shown()
    holds(made, access_type="ip", access_to="10.0.0.9")
    rules = lambda: {rule.access_to: rule.state for rule in t.member.manila().share_snapshots.access_list(t.first)}
    words.until(rules, {"10.0.0.9": "active"}, "the rules")
    rows = t.member.share("snapshot", "access", "list", "one").table(["ID", "Access Type", "Access To", "State"])
    same(rows, [{"ID": made["id"], "Access Type": "ip", "Access To": "10.0.0.9", "State": "active"}], "the rules")
    says(t.member.share("snapshot", "access", "create", "one", "ip", "10.0.0.300", status=1), "'10.0.0.300' does not appear to be an IPv4 or IPv6 network")
    rows = t.member.share("snapshot", "export", "location", "list", "one").table(["ID", "Path"])
    same([row["Path"].split("/")[0] for row in rows], ["192.0.2.10:"], "its locations")
    holds(t.member.share("snapshot", "export", "location", "show", "one", rows[0]["ID"]).shown(), path=rows[0]["Path"])
    t.member.share("snapshot", "access", "delete", "one", made["id"])
    words.until(rules, {}, "the rules")


def instances(t):
    """openstack: administrators see a snapshot's instance"""
    rows = t.admin.share("snapshot", "instance", "list", "--snapshot", t.first).table(["ID", "Snapshot ID", "Status"])
    same([(row["Snapshot ID"], row["Status"]) for row in rows], [(t.first, "available")], "the instances")
    holds(t.admin.share("snapshot", "instance", "list", "--snapshot", t.first, "--detailed").table()[0], **{"Share ID": t.origin, "Progress": "100%"})
    holds(t.admin.share("snapshot", "instance", "show", rows[0]["ID"]).shown(), snapshot_id=t.first, share_id=t.origin)
    locations = t.admin.share("snapshot", "instance", "export", "location", "list", rows[0]["ID"]).table(["ID", "Path", "Is Admin only"])
    same([row["Is Admin only"] for row in locations], ["False", "True"], "its locations")
    holds(t.admin.share("snapshot", "instance", "export", "location", "show", rows[0]["ID"], locations[0]["ID"]).shown(), share_snapshot_instance_id=rows[0]["ID"], path=locations[0]["Path"])
    t.admin.share("snapshot", "instance", "set", rows[0]["ID"], "--status", "error")
    holds(t.member.share("snapshot", "show", "one").shown(), status="error")
    t.admin.share("snapshot", "instance", "set", rows[0]["ID"], "--status", "available")
    says(t.member.share("snapshot", "instance", "list", status=1), "Policy doesn't allow share_snapshot_instance:index to be performed.")


def copied(t):
    """openstack: a share is made of a snapshot"""
    made = words.create(t, t.member, "copy", "--snapshot-id", t.first, size=2)
    holds(t.member.share("show", "copy").shown(), size="2", snapshot_id=t.first, share_type_name="files")
    same(t.member.share("list", "--snapshot", "one").column("ID"), [made], "the shares of that snapshot")
    same(t.member.share("snapshot", "list", "--usage", "used").column("Name"), ["one"], "the snapshots in use")
    words.delete(t, t.member, "copy")


def reverted(t):
    """openstack: back to the latest snapshot, and to no earlier one"""
    says(t.member.share("revert", "one", status=1), f"Snapshot {t.first} is not the latest one of share {t.origin}. (HTTP 409)")
    t.member.share("revert", "second")
    words.settled(t, t.member, t.origin)


def deleted(t):
    """openstack: a share goes after its snapshots"""
    says(t.member.share("delete", "origin", status=1), f"Invalid share: Share {t.origin} has 2 dependent snapshot(s); delete them first. (HTTP 403)")
    t.member.share("snapshot", "delete", "one", "second")
    t.gone(t.member.manila().share_snapshots.list)
    words.delete(t, t.member, "origin")
    says(t.member.share("snapshot", "show", "one", status=1), "No sharesnapshot with a name or ID of 'one' exists.")


STEPS = [create, listed, changed, mounted, instances, copied, reverted, deleted]
