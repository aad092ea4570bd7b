"""Volume types: properties (extra specs), access, and who sees what."""
from printed import holds, same, says

FAST = "volume_backend_name='memory1'"


def create(t):
    """openstack: a type with properties is made and shown"""
    made = t.admin.openstack("volume", "type", "create", "--public", "--description", "on disks that hurry", "--property", "volume_backend_name=memory1", "fast").shown()
    holds(made, name="fast", description="on disks that hurry", is_public="True", properties=FAST)
    holds(t.admin.openstack("volume", "type", "show", "fast").shown(), id=made["id"], properties=FAST, access_project_ids="None")
    for name, spec in (("quick", "memory1"), ("iron", "memory2")):
        t.admin.openstack("volume", "type", "create", "--property", f"volume_backend_name={spec}", name)
    t.admin.openstack("volume", "type", "create", "--multiattach", "shared")


def listed(t):
    """openstack and cinder: types are listed, with their properties"""
    rows = t.admin.openstack("volume", "type", "list", "--long").table(["ID", "Name", "Is Public", "Description", "Properties"])
    same({row["Name"]: row["Properties"] for row in rows},
         {"fast": FAST, "quick": FAST, "iron": "volume_backend_name='memory2'", "shared": "multiattach='<is> True'", "__DEFAULT__": ""}, "the list of types")
    rows = t.member.cinder("type-list").table(["ID", "Name", "Description", "Is_Public"])
    same(sorted(row["Name"] for row in rows), ["__DEFAULT__", "fast", "iron", "quick", "shared"], "what a member sees")
    holds(t.member.cinder("type-default").table()[0], Name="__DEFAULT__")


def extra_specs(t):
    """cinder: an extra spec is set and taken away"""
    t.admin.cinder("type-key", "fast", "set", "disk=ssd")
    rows = t.admin.cinder("extra-specs-list").table(["ID", "Name", "extra_specs"])
    same([row["extra_specs"] for row in rows if row["Name"] == "fast"], ["{'disk': 'ssd', 'volume_backend_name': 'memory1'}"], "the type's specs")
    t.admin.cinder("type-key", "fast", "unset", "disk")
    holds(t.admin.cinder("type-show", "fast").shown(), extra_specs="volume_backend_name : memory1", is_public="True", name="fast")


def filtered(t):
    """cinder: types are filtered by an extra spec"""
    rows = t.admin.cinder("type-list", "--filters", "extra_specs={volume_backend_name:memory2}").table()
    same([row["Name"] for row in rows], ["iron"], "the types with this spec")


def changed(t):
    """openstack: a type's name and description are changed, its properties unset"""
    t.admin.openstack("volume", "type", "create", "--property", "a=b", "--property", "c=d", "first")
    t.admin.openstack("volume", "type", "set", "--name", "second", "--description", "renamed", "first")
    t.admin.openstack("volume", "type", "unset", "--property", "a", "second")
    holds(t.admin.openstack("volume", "type", "show", "second").shown(), description="renamed", properties="c='d'")
    t.admin.openstack("volume", "type", "delete", "second")
    says(t.admin.openstack("volume", "type", "show", "second", status=1), "No Type found for second")


def private(t):
    """openstack and cinder: a private type is seen by the projects it was given to"""
    names = lambda: t.member.openstack("volume", "type", "list").column("Name")
    made = t.admin.openstack("volume", "type", "create", "--private", "ours").shown()
    holds(made, is_public="False")
    same("ours" in names(), False, "before: the member sees it")
    t.admin.openstack("volume", "type", "set", "--project", t.member.project, "ours")
    same("ours" in names(), True, "now: the member sees it")
    same(t.admin.cinder("type-access-list", "--volume-type", "ours").table(), [{"Volume_type_ID": made["id"], "Project_ID": t.member.project_id}], "the access list")
    same("ours" in t.other.openstack("volume", "type", "list").column("Name"), False, "the other project sees it")
    t.admin.cinder("type-access-remove", "--volume-type", "ours", "--project-id", t.member.project_id)
    same("ours" in names(), False, "afterwards: the member sees it")
    t.admin.cinder("type-delete", "ours")


STEPS = [create, listed, extra_specs, filtered, changed, private]
