"""Types of share groups."""
from printed import holds, same, says


def create(t):
    """openstack: a group type is made for a share type, listed and shown"""
    made = t.admin.share("group", "type", "create", "together", "files", "--group-specs", "tier=gold").shown()
    files = t.admin.manila().share_types.find(name="files").id
    holds(made, name="together", visibility="public", is_default="False", group_specs="tier : gold", share_types=files)
    rows = t.member.share("group", "type", "list").table(["ID", "Name", "Share Types", "Visibility", "Is Default", "Group Specs"])
    same([(row["Name"], row["Share Types"], row["Visibility"]) for row in rows], [("together", files, "public")], "the list")


def specs(t):
    """openstack: its specs are set and unset"""
    t.admin.share("group", "type", "set", "together", "--group-specs", "consistent_snapshot_support=True")
    holds(t.admin.share("group", "type", "show", "together").shown(), group_specs="consistent_snapshot_support : True\ntier : gold")
    t.admin.share("group", "type", "unset", "together", "tier")
    holds(t.admin.share("group", "type", "show", "together").shown(), group_specs="consistent_snapshot_support : True")


def private(t):
    """openstack: a private one is given to projects"""
    names = lambda: [row["Name"] for row in t.member.share("group", "type", "list").table()]
    t.admin.share("group", "type", "create", "ours", "files", "--public", "False")
    same(names(), ["together"], "what a member sees before")
    t.admin.share("group", "type", "access", "create", "ours", t.member.project_id)
    same(sorted(names()), ["ours", "together"], "what a member sees then")
    same(t.admin.share("group", "type", "access", "list", "ours").column("Project ID"), [t.member.project_id], "who has it")
    t.admin.share("group", "type", "access", "delete", "ours", t.member.project_id)
    same(names(), ["together"], "what a member sees afterwards")


def deleted(t):
    """openstack: group types are deleted by administrators"""
    says(t.member.share("group", "type", "delete", "together", status=1), "Policy doesn't allow share_group_type:delete to be performed.")
    t.admin.share("group", "type", "delete", "together", "ours")
    same(t.admin.share("group", "type", "list").out.strip(), "", "the group types that are left")


STEPS = [create, specs, private, deleted]
