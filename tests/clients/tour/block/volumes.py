"""Volumes: made, listed in every way, changed, grown, given another type, deleted."""
from printed import holds, same, says

LONG = ["ID", "Name", "Status", "Size", "Type", "Bootable", "Attached to", "Properties"]
CINDER = ["ID", "Status", "Name", "Size", "Consumes Quota", "Volume Type", "Bootable", "Attached to"]


def typed(t):
    """the commands as a person types them: create, show, list"""
    made = t.member.typed("openstack", "volume", "create", "--size", "1", "--type", "fast", "--description", "for the books", "--property", "shelf=3", "books").shown()
    holds(made, name="books", size="1", type="fast", status="creating", properties="shelf='3'", description="for the books", bootable="False")
    t.settled(t.member, made["id"])
    holds(t.member.typed("openstack", "--os-volume-api-version", "3.71", "volume", "show", "books").shown(), id=made["id"], status="available", attachments="[]")
    rows = t.member.typed("cinder", "--os-volume-api-version", "3.71", "list").table(CINDER)
    same(rows, [{"ID": made["id"], "Status": "available", "Name": "books", "Size": "1", "Consumes Quota": "True", "Volume Type": "fast", "Bootable": "false", "Attached to": ""}])


def fields_by_role(t):
    """openstack: where a volume lies is shown to administrators only"""
    holds(t.member.openstack("volume", "show", "books").shown(), **{"os-vol-host-attr:host": "None", "os-vol-tenant-attr:tenant_id": t.member.project_id})
    books = t.member.volume("books")
    holds(t.admin.openstack("volume", "show", books).shown(), **{"os-vol-host-attr:host": "stowage@memory1#gold", "provider_id": f"memory-{books}"})


def listed(t):
    """openstack: lists, filtered by name, status and property"""
    for name, size, colour in (("atlas", 3, "red"), ("bible", 2, "blue")):
        t.create(t.member, name, "--size", str(size), "--property", f"colour={colour}")
    rows = t.member.openstack("volume", "list", "--long").table(LONG)
    same([(r["Name"], r["Status"], r["Size"], r["Type"], r["Properties"]) for r in rows],
         [("bible", "available", "2", "__DEFAULT__", "colour='blue'"), ("atlas", "available", "3", "__DEFAULT__", "colour='red'"), ("books", "available", "1", "fast", "shelf='3'")], "the list, newest first")
    names = lambda *options: [row["Name"] for row in t.member.openstack("volume", "list", *options).table()]
    same(names("--name", "atlas"), ["atlas"], "by name")
    same(names("--property", "colour=blue"), ["bible"], "by property")
    same(names("--status", "available", "--property", "colour=red"), ["atlas"], "by both")
    same(t.member.openstack("volume", "list", "--status", "error").out.strip(), "", "those in error")


def paged(t):
    """openstack and cinder: pages, sorted, with a count"""
    page = t.member.cinder("list", "--sort", "created_at:desc", "--limit", "2").table(CINDER)
    same([row["Name"] for row in page], ["bible", "atlas"], "the first page")
    same(t.member.cinder("list", "--sort", "created_at:desc", "--limit", "2", "--marker", page[-1]["ID"]).column("Name"), ["books"], "the second page")
    # this client reads on, two at a time
    same(t.member.openstack("volume", "list", "--limit", "2").column("Name"), ["bible", "atlas", "books"], "page by page")
    same(t.member.openstack("volume", "list", "--marker", page[0]["ID"]).column("Name"), ["atlas", "books"], "after the newest")
    same(t.member.cinder("list", "--sort", "size:asc").column("Name"), ["books", "bible", "atlas"], "by size")
    same(t.member.cinder("list", "--sort", "name:desc", "--limit", "2").column("Name"), ["books", "bible"], "by name, backwards")
    counted = t.member.cinder("list", "--limit", "1", "--with-count")
    same(counted.column("Name"), ["bible"], "the counted list")
    says(counted, "Volume in total: 3")


def filters(t):
    """cinder: parts of names and other filters"""
    names = lambda *filters: sorted(t.member.cinder("list", "--filters", *filters).column("Name"))
    same(names("name~=b"), ["bible", "books"], "names with a b")
    same(names("size=3"), ["atlas"], "of 3 GiB")
    same(names("bootable=false", "status=available"), ["atlas", "bible", "books"], "available, not bootable")
    same(sorted(t.member.cinder("list", "--metadata", "colour=red").column("Name")), ["atlas"], "by metadata")


def of_all_projects(t):
    """openstack and cinder: an administrator sees everybody's, others only theirs"""
    t.create(t.other, "foreign", "--size", "1")
    same(sorted(t.admin.openstack("volume", "list", "--all-projects").column("Name")), ["atlas", "bible", "books", "foreign"], "everybody's")
    same(t.admin.openstack("volume", "list", "--project", t.other.project).column("Name"), ["foreign"], "the other project's")
    rows = t.admin.cinder("list", "--all-tenants", "--name", "foreign").table(["ID", "Tenant ID", *CINDER[1:]])
    holds(rows[0], **{"Tenant ID": t.other.project_id})
    same(t.other.openstack("volume", "list").column("Name"), ["foreign"], "what the other sees")
    t.delete(t.other, "foreign")


def changed(t):
    """openstack: name, description and properties are set and unset"""
    t.member.openstack("volume", "set", "--name", "maps", "--description", "of the world", "--property", "scale=1:25000", "atlas")
    holds(t.member.openstack("volume", "show", "maps").shown(), description="of the world", properties="colour='red', scale='1:25000'")
    t.member.openstack("volume", "unset", "--property", "colour", "maps")
    holds(t.member.openstack("volume", "show", "maps").shown(), properties="scale='1:25000'")
    t.member.cinder("metadata", "maps", "set", "colour=green")
    same(t.member.cinder("metadata-show", "maps").shown(), {"colour": "green", "scale": "1:25000"}, "the metadata")
    t.member.openstack("volume", "set", "--no-property", "--property", "only=this", "maps")
    holds(t.member.openstack("volume", "show", "maps").shown(), properties="only='this'")


def flags(t):
    """openstack: bootable and read-only"""
    t.member.openstack("volume", "set", "--bootable", "maps")
    t.member.openstack("volume", "set", "--read-only", "maps")
    shown = t.member.openstack("volume", "show", "maps").shown()
    holds(shown, bootable="True", properties="only='this', readonly='True'")
    same(t.member.cinder("list", "--bootable", "true").column("Name"), ["maps"], "the bootable ones")
    t.member.openstack("volume", "set", "--non-bootable", "maps")
    t.member.openstack("volume", "set", "--read-write", "maps")
    holds(t.member.openstack("volume", "show", "maps").shown(), bootable="False", properties="only='this', readonly='False'")


def grown(t):
    """openstack and cinder: a volume grows"""
    t.member.openstack("volume", "set", "--size", "2", "books")
    t.settled(t.member, "books")
    holds(t.member.openstack("volume", "show", "books").shown(), size="2")
    t.member.cinder("extend", "books", "3")
    t.settled(t.member, "books")
    holds(t.member.cinder("show", "books").shown(), size="3", status="available")


def retyped(t):
    """openstack and cinder: a volume gets another type where it lies"""
    books = t.member.volume("books")
    t.member.openstack("volume", "set", "--type", "quick", "--retype-policy", "never", books)
    t.settled(t.member, books)
    holds(t.admin.openstack("volume", "show", books).shown(), type="quick", **{"os-vol-host-attr:host": "stowage@memory1#gold"})
    t.member.cinder("retype", books, "fast")
    t.settled(t.member, books)
    holds(t.member.cinder("show", books).shown(), volume_type="fast")


def summary(t):
    """openstack and cinder: the summary of a project, and of all"""
    same(t.member.openstack("volume", "summary").shown(), {"Total Count": "3", "Total Size": "8", "Metadata": "colour='['blue']', only='['this']', shelf='['3']'"})
    holds(t.other.openstack("volume", "summary").shown(), **{"Total Count": "0", "Total Size": "0"})
    holds(t.admin.openstack("volume", "summary", "--all-projects").shown(), **{"Total Count": "3", "Total Size": "8"})
    holds(t.member.cinder("summary").shown(), total_count="3", total_size="8")


def deleted(t):
    """openstack: several are deleted by one command"""
    t.delete(t.member, "books", "maps", "bible")
    same(t.member.openstack("volume", "list").out.strip(), "", "what is left")


STEPS = [typed, fields_by_role, listed, paged, filters, of_all_projects, changed, flags, grown, retyped, summary, deleted]
