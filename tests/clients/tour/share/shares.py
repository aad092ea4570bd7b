"""Shares: made, listed in every way, changed, resized, deleted."""
from printed import holds, same, says

from share import words

COLUMNS = ["ID", "Name", "Size", "Share Proto", "Status", "Is Public", "Share Type Name", "Host", "Availability Zone"]


def typed(t):
    """the commands as a person types them: create, show, list"""
    made = t.member.typed("openstack", "share", "create", "NFS", "1", "--name", "books", "--share-type", "files", "--description", "to read", "--property", "shelf=3", "--wait").shown()
    holds(made, name="books", size="1", share_proto="NFS", status="available", share_type_name="files", description="to read", metadata="{'shelf': '3'}", is_public="False",
          snapshot_support="True", availability_zone="nova", share_network_id="None")
    t.books = made["id"]
    shown = t.member.typed("openstack", "share", "show", "books").shown()
    holds(shown, id=t.books, status="available", access_rules_status="active", properties="shelf='3'", progress="100%")
    same("path = 192.0.2.10:/shares/" in shown["export_locations"], True, f"the location is in {shown['export_locations']}")
    same(t.member.typed("openstack", "share", "list").table(COLUMNS),
         [dict(zip(COLUMNS, (t.books, "books", "1", "NFS", "available", "False", "files", "", "nova")))], "the list")


def fields_by_role(t):
    """openstack: where a share lies is shown to administrators only"""
    mine, theirs = t.member.share("show", "books").shown(), t.admin.share("show", t.books).shown()
    same(("host" in mine, "192.0.2.99" in mine["export_locations"]), (False, False), "what a member sees")
    holds(theirs, host="stowage@files#silver", share_server_id="None", project_id=t.member.project_id)
    same("path = 192.0.2.99:/shares/" in theirs["export_locations"], True, "the administrators' location")


def listed(t):
    """openstack: lists, filtered and sorted"""
    t.atlas = words.create(t, t.member, "atlas", "--share-type", "files", "--property", "colour=red", size=3)
    t.bible = words.create(t, t.member, "bible", "--property", "colour=blue", proto="CIFS", size=2)
    names = lambda *options: [row["Name"] for row in t.member.share("list", *options).table(COLUMNS)]
    same(names(), ["atlas", "bible", "books"], "all")
    same(names("--name", "atlas"), ["atlas"], "by name")
    same(names("--name~", "b"), ["bible", "books"], "by a part of the name")
    same(names("--property", "colour=blue"), ["bible"], "by property")
    same(names("--share-type", "files", "--status", "available"), ["atlas", "books"], "by type and status")
    says(t.member.share("list", "--extra-spec", "disk=ssd", status=1), "Policy doesn't allow share_types_extra_spec:index to be performed.")
    same(t.admin.share("list", "--all-projects", "--extra-spec", "share_backend_name=files").column("Name"), ["atlas", "books"], "by the type's spec")
    same(names("--availability-zone", "nova", "--sort", "size:desc"), ["atlas", "bible", "books"], "largest first")
    same(t.member.share("list", "--status", "error").out.strip(), "", "those in error")
    row = t.member.share("list", "--long", "--name", "atlas").table()[0]
    holds(row, **{"Name": "atlas", "Size": "3", "Properties": "{'colour': 'red'}", "Project ID": t.member.project_id, "Access Rules Status": "active",
                  "Supports Reverting to Snapshot": "True", "Has Replicas": "False", "Share Network ID": "None"})


def paged(t):
    """openstack: page by page"""
    # the newest first is what the service does; the client sorts by name within a page
    same(t.member.share("list", "--limit", "2").column("Name"), ["atlas", "bible"], "the first page")
    same(t.member.share("list", "--limit", "2", "--marker", "2").column("Name"), ["books"], "what follows")


def of_all_projects(t):
    """openstack: an administrator sees everybody's, others only theirs"""
    words.create(t, t.other, "foreign")
    same(t.admin.share("list", "--all-projects").column("Name"), ["atlas", "bible", "books", "foreign"], "everybody's")
    same(t.admin.share("list", "--project", t.other.project).column("Name"), ["foreign"], "the other project's")
    same(t.admin.share("list", "--all-projects", "--host", "stowage@files#silver").column("Host"), ["stowage@files#silver"] * 4, "of this pool")
    same(t.other.share("list").column("Name"), ["foreign"], "what the other sees")
    says(t.other.share("show", t.books, status=1), f"No share with a name or ID of '{t.books}' exists.")
    words.delete(t, t.other, "foreign")


def changed(t):
    """openstack: name, description and properties are set and unset"""
    t.member.share("set", "atlas", "--name", "maps", "--description", "of the world", "--property", "scale=1:25000")
    holds(t.member.share("show", "maps").shown(), description="of the world", properties="colour='red', scale='1:25000'")
    same(t.member.share("properties", "show", "maps").shown(), {"colour": "red", "scale": "1:25000"}, "the properties")
    t.member.share("unset", "maps", "--property", "colour", "--description")
    holds(t.member.share("show", "maps").shown(), description="None", properties="scale='1:25000'")


def public(t):
    """openstack: a public share is seen by all; only administrators make one public"""
    refusal = t.member.share("set", "maps", "--public", "True", status=1)
    says(refusal, "Policy doesn't allow share:set_public_share to be performed. (HTTP 403)")
    t.admin.share("set", t.atlas, "--public", "True")
    same(t.other.share("list").out.strip(), "", "what the other sees without asking for public ones")
    same(t.other.share("list", "--public").column("Name"), ["maps"], "what the other sees")
    t.admin.share("set", t.atlas, "--public", "False")
    same(t.other.share("list", "--public").out.strip(), "", "what the other sees afterwards")


def states(t):
    """openstack: an administrator says what a share is"""
    t.admin.share("set", t.atlas, "--status", "error")
    holds(t.member.share("show", "maps").shown(), status="error")
    t.admin.share("set", t.atlas, "--status", "available")
    says(t.member.share("set", "maps", "--status", "error", status=1), "Policy doesn't allow share:reset_status to be performed.")
    holds(t.member.share("show", "maps").shown(), status="available", task_state="None")


def resized(t):
    """openstack: a share grows and shrinks"""
    t.member.share("resize", "books", "4")
    words.settled(t, t.member, t.books)
    holds(t.member.share("show", "books").shown(), size="4")
    t.member.share("resize", "books", "2")
    words.settled(t, t.member, t.books)
    holds(t.member.share("show", "books").shown(), size="2")
    says(t.member.share("resize", "books", "2", status=1), "Share size is already at 2 GiBs")
    says(t.member.share("resize", "books", "0", status=1), "Share resize failed: Invalid input for field/attribute new_size. Value: 0.")
    says(t.member.share("resize", "books", "5000", status=1), "Share resize failed: Requested share exceeds allowed project/user or share type gigabytes quota.")


def recycled(t):
    """openstack: a share goes to the recycle bin and comes back"""
    t.member.share("delete", "--soft", "books")
    same(t.member.share("list", "--soft-deleted").column("Name"), ["books"], "the recycle bin")
    same(t.member.share("list").column("Name"), ["bible", "maps"], "the shares beside it")
    shown = t.member.share("show", t.books).shown()
    holds(shown, is_soft_deleted="True", status="available")
    same(shown["scheduled_to_be_deleted_at"] > shown["created_at"], True, "it is deleted later")
    says(t.member.share("resize", t.books, "3", status=1), "Share resize failed: ")
    t.member.share("restore", t.books)
    same(t.member.share("list").column("Name"), ["bible", "books", "maps"], "the shares then")
    same(t.member.share("list", "--soft-deleted").out.strip(), "", "the recycle bin then")


def deleted(t):
    """openstack: several are deleted by one command, and one by force"""
    says(t.member.share("delete", "--force", "maps", status=1), "Policy doesn't allow share:force_delete to be performed.")
    t.admin.share("delete", "--force", t.atlas)
    words.delete(t, t.member, "books", "bible")
    t.gone(t.member.manila().shares.list)
    same(t.member.share("list").out.strip(), "", "what is left")


STEPS = [typed, fields_by_role, listed, paged, of_all_projects, changed, public, states, resized, recycled, deleted]
