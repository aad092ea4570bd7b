"""Share types: extra specs, access, and who sees what."""
from printed import holds, same, says

COLUMNS = ["ID", "Name", "Visibility", "Is Default", "Required Extra Specs", "Optional Extra Specs", "Description"]
SUPPORTS = ("--snapshot-support", "True", "--create-share-from-snapshot-support", "True", "--revert-to-snapshot-support", "True", "--mount-snapshot-support", "True")
SUPPORTED = "\n".join(f"{key} : True" for key in ("create_share_from_snapshot_support", "mount_snapshot_support", "revert_to_snapshot_support"))


def create(t):
    """openstack: types with extra specs are made and shown"""
    made = t.admin.share("type", "create", "--description", "plain files", *SUPPORTS, "--extra-specs", "share_backend_name=files", "--", "files", "False").shown()
    holds(made, name="files", visibility="public", is_default="False", required_extra_specs="driver_handles_share_servers : False",
          optional_extra_specs=f"{SUPPORTED}\nshare_backend_name : files\nsnapshot_support : True", description="plain files")
    for name in ("tenants", "walls"):
        t.admin.share("type", "create", name, "True", "--extra-specs", f"share_backend_name={name}")
    holds(t.admin.share("type", "show", "tenants").shown(), required_extra_specs="driver_handles_share_servers : True", optional_extra_specs="share_backend_name : tenants")
    same(t.member.share("type", "show", "files").shown(), {**made, "optional_extra_specs": f"{SUPPORTED}\nsnapshot_support : True"}, "what a member sees")


def listed(t):
    """openstack: types are listed and filtered; one is the default"""
    rows = {row["Name"]: row for row in t.member.share("type", "list").table(COLUMNS) if row["Name"]}
    same(sorted(rows), ["default", "files", "tenants", "walls"], "the types")
    same([name for name, row in rows.items() if row["Is Default"] == "True"], ["default"], "the default type")
    same(t.admin.share("type", "list", "--extra-specs", "share_backend_name=walls").table()[0]["Name"], "walls", "the type with this spec")


def changed(t):
    """openstack: a type's specs and words are set and unset"""
    t.admin.share("type", "set", "walls", "--extra-specs", "disk=ssd", "--description", "behind walls", "--name", "wall")
    holds(t.admin.share("type", "show", "wall").shown(), description="behind walls", optional_extra_specs="disk : ssd\nshare_backend_name : walls")
    t.admin.share("type", "unset", "wall", "disk")
    t.admin.share("type", "set", "wall", "--name", "walls")
    holds(t.admin.share("type", "show", "walls").shown(), optional_extra_specs="share_backend_name : walls")
    says(t.admin.share("type", "unset", "walls", "driver_handles_share_servers", status=1), "Extra spec 'driver_handles_share_servers' can't be deleted.")


def private(t):
    """openstack: a private type is seen by the projects it was given to"""
    holds(t.admin.share("type", "create", "ours", "False", "--public", "False").shown(), visibility="private")
    says(t.member.share("type", "show", "ours", status=1), "No sharetype with a name or ID of 'ours' exists.")
    t.admin.share("type", "access", "create", "ours", t.member.project_id)
    holds(t.member.share("type", "show", "ours").shown(), name="ours", visibility="private")
    same(t.admin.share("type", "access", "list", "ours").table(), [{"Project ID": t.member.project_id}], "who has it")
    says(t.other.share("type", "show", "ours", status=1), "No sharetype with a name or ID of 'ours' exists.")
    t.admin.share("type", "access", "delete", "ours", t.member.project_id)
    same(t.admin.share("type", "access", "list", "ours").out.strip(), "", "who has it afterwards")
    t.admin.share("type", "delete", "ours")


def refused(t):
    """openstack: what cannot be made, and by whom"""
    says(t.member.share("type", "create", "mine", "False", status=1), "Policy doesn't allow share_type:create to be performed. (HTTP 403) (Request-ID: req-")
    says(t.admin.share("type", "create", "files", "False", status=1), "Share Type files already exists. (HTTP 409)")
    says(t.admin.share("type", "create", "bad", "False", "--extra-specs", "snapshot_support=perhaps", status=1), "'snapshot_support' ")
    says(t.admin.share("type", "delete", "nothing", status=1), "No sharetype with a name or ID of 'nothing' exists.")


STEPS = [create, listed, changed, private, refused]
