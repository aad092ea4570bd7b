"""python-manilaclient as programs use it."""
from demo_common import check
from manilaclient.common.apiclient import exceptions
from printed import holds, same

from share import words


def life(t):
    """library: a share's life"""
    manila = t.member.manila()
    made = manila.shares.create("NFS", 1, name="lib", share_type="files", metadata={"by": "library"})
    holds(made.to_dict(), name="lib", size=1, share_proto="NFS", status="creating", metadata={"by": "library"}, is_public=False, has_replicas=False)
    words.settled(t, t.member, made)
    made.update(display_name="library", display_description="of books")
    made.set_metadata({"floor": "2"})
    made.delete_metadata(["by"])
    found = manila.shares.get(made.id)
    holds(found.to_dict(), name="library", description="of books", metadata={"floor": "2"}, task_state=None)
    found.extend(2)
    words.settled(t, t.member, made)
    found.shrink(1)
    same(words.settled(t, t.member, made).size, 1, "the size")
    same([s.name for s in manila.shares.list(search_opts={"metadata": {"floor": "2"}})], ["library"], "by metadata")
    t.lib = made


def access(t):
    """library: access rules, and what they are applied to"""
    rule = t.lib.allow("ip", "10.0.0.5", "ro", metadata={"who": "us"})["id"]
    words.ruled(t.member, t.lib)
    rules = t.member.manila().share_access_rules.access_list(t.lib)
    same([(r.id, r.access_to, r.access_level, r.state) for r in rules], [(rule, "10.0.0.5", "ro", "active")], "the rules")
    t.lib.deny(rule)
    words.until(lambda: t.member.manila().share_access_rules.access_list(t.lib), [], "the rules")
    locations = t.member.manila().share_export_locations.list(t.lib)
    same([(e.preferred, e.path.startswith("192.0.2.10:")) for e in locations], [(True, True)], "the locations")


def snapshot(t):
    """library: a snapshot, and back to it"""
    manila = t.member.manila()
    made = manila.share_snapshots.create(t.lib.id, name="then")
    t.until(lambda: manila.share_snapshots.get(made), "available")
    t.lib.revert_to_snapshot(made)
    words.settled(t, t.member, t.lib)
    holds(manila.share_snapshots.get(made).to_dict(), share_id=t.lib.id, size=1, share_proto="NFS", status="available")
    manila.share_snapshots.delete(made)
    t.gone(manila.share_snapshots.list)


def older(t):
    """library: the versions of before, with the paths and names of then"""
    for version in ("2.6", "2.7", "2.40", "2.69"):
        manila = t.member.manila(version)
        same([s.name for s in manila.shares.list()], ["library"], f"the shares at {version}")
        same(manila.availability_zones.list()[0].name, "nova", f"the zones at {version}")
        same({s.host for s in t.admin.manila(version).services.list(search_opts={"binary": "manila-share"})}, {"stowage@files", "stowage@tenants", "stowage@walls"}, f"the services at {version}")
        same(t.admin.manila(version).quotas.get(t.member.project_id).shares, 50, f"the quota at {version}")
        same("files" in [k.name for k in manila.share_types.list()], True, f"the types at {version}")


def refused(t):
    """library: refusals have their own errors"""
    manila = t.member.manila()
    for wanted, text, call in (
        (exceptions.NotFound, "could not be found", lambda: manila.shares.get("00000000-0000-4000-8000-000000000000")),
        (exceptions.Forbidden, "Policy doesn't allow share_type:create", lambda: manila.share_types.create("mine", False)),
        (exceptions.BadRequest, "New size for", lambda: t.lib.extend(1)),
        (exceptions.Conflict, "already exists", lambda: t.admin.manila().share_types.create("files", False)),
        (exceptions.RequestEntityTooLarge, "gigabytes quota", lambda: manila.shares.create("NFS", 5000)),
    ):
        try:
            call()
        except wanted as e:
            check(text in str(e), f"it says {e}")
        else:
            check(False, f"nothing was raised where {wanted.__name__} should be")
    words.delete(t, t.member, t.lib.id)


STEPS = [life, access, snapshot, older, refused]
