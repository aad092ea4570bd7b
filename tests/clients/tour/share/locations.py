"""Export locations of a share, and its instances."""
from printed import holds, same, says

from share import words

INSTANCES = ["ID", "Share ID", "Host", "Status", "Availability Zone", "Share Network ID", "Share Server ID", "Share Type ID"]


def listed(t):
    """openstack: a share's locations; administrators see one more"""
    t.share_id = words.create(t, t.member, "here", "--share-type", "files")
    rows = t.member.share("export", "location", "list", "here").table(["ID", "Path", "Preferred"])
    same([(row["Path"].split("/")[0], row["Preferred"]) for row in rows], [("192.0.2.10:", "True")], "a member's locations")
    every = t.admin.share("export", "location", "list", t.share_id).column("Path")
    same([path.split("/")[0] for path in every], ["192.0.2.10:", "192.0.2.99:"], "the administrators' locations")
    t.location, t.path = rows[0]["ID"], rows[0]["Path"]
    for key in (t.location, t.path):
        same(t.member.share("list", "--export-location", key).column("Name"), ["here"], f"the share of {key}")


def properties(t):
    """openstack: a location has properties"""
    t.member.share("export", "location", "set", "here", t.location, "--property", "rack=7")
    holds(t.member.share("export", "location", "show", "here", t.location).shown(), id=t.location, path=t.path, preferred="True", properties="rack='7'")
    t.member.share("export", "location", "unset", "here", t.location, "--property", "rack")
    holds(t.member.share("export", "location", "show", "here", t.location).shown(), properties="")
    says(t.member.share("export", "location", "set", "here", t.location, "--property", "preferred=False", status=1), "(HTTP 403)")


def instances(t):
    """openstack: administrators see a share's instance, and its locations"""
    rows = t.admin.share("instance", "list", "--share", t.share_id).table(INSTANCES)
    same([(row["Share ID"], row["Host"], row["Status"]) for row in rows], [(t.share_id, "stowage@files#silver", "available")], "the instances")
    t.instance = rows[0]["ID"]
    same(t.admin.share("instance", "list", "--export-location", t.location).column("ID"), [t.instance], "the instance of that location")
    holds(t.admin.share("instance", "show", t.instance).shown(), share_id=t.share_id, access_rules_status="active", cast_rules_to_readonly="False", replica_state="None")
    rows = t.admin.share("instance", "export", "location", "list", t.instance).table(["ID", "Path", "Is Admin Only", "Preferred"])
    same([(row["Is Admin Only"], row["Preferred"]) for row in rows], [("False", "True"), ("True", "False")], "its locations")
    holds(t.admin.share("instance", "export", "location", "show", t.instance, t.location).shown(), path=t.path, share_instance_id=t.instance, is_admin_only="False")


def reset(t):
    """openstack: an administrator says what an instance is, and deletes it by force"""
    t.admin.share("instance", "set", t.instance, "--status", "error")
    holds(t.member.share("show", "here").shown(), status="error")
    says(t.member.share("instance", "list", status=1), "Policy doesn't allow share_instance:index to be performed.")
    t.admin.share("instance", "delete", t.instance)
    t.gone(lambda: [s for s in t.member.manila().shares.list() if s.id == t.share_id])
    same(t.admin.share("instance", "list").out.strip(), "", "the instances that are left")


STEPS = [listed, properties, instances, reset]
