"""Access rules, their locks, and locks on shares."""
from printed import holds, same, says

from share import words

COLUMNS = ["ID", "Access Type", "Access To", "Access Level", "State", "Access Key", "Created At", "Updated At"]
LOCKS = ["ID", "Resource Id", "Resource Type", "Resource Action"]


def given(t):
    """openstack: access is given, listed and shown"""
    t.files = words.create(t, t.member, "files", "--share-type", "files")
    made = t.member.share("access", "create", "files", "ip", "10.0.0.0/24", "--access-level", "rw", "--properties", "who=us").shown()
    holds(made, share_id=t.files, access_type="ip", access_to="10.0.0.0/24", access_level="rw", properties="who : us", access_key="None")
    words.ruled(t.member, t.files)
    t.rule = made["id"]
    rows = t.member.share("access", "list", "files").table(COLUMNS)
    same([(row["ID"], row["Access To"], row["Access Level"], row["State"]) for row in rows], [(t.rule, "10.0.0.0/24", "rw", "active")], "the rules")
    holds(t.member.share("access", "show", t.rule).shown(), state="active", properties="who : us")


def more(t):
    """openstack: read-only, for users; filtered"""
    t.member.share("access", "create", "files", "ip", "10.1.0.0/16", "--access-level", "ro")
    words.ruled(t.member, t.files)
    to = lambda *options: sorted(row["Access To"] for row in t.member.share("access", "list", "files", *options).table(COLUMNS))
    same(to("--access-type", "ip"), ["10.0.0.0/24", "10.1.0.0/16"], "of addresses")
    same(to("--access-level", "ro"), ["10.1.0.0/16"], "read-only ones")
    same(to("--access-type", "ip", "--access-to", "10.1.0.0/16"), ["10.1.0.0/16"], "for this one")
    same(to("--properties", "who=us"), ["10.0.0.0/24"], "with this property")
    windows = words.create(t, t.member, "windows", "--share-type", "files", proto="CIFS")
    t.member.share("access", "create", "windows", "user", "joseph")
    words.ruled(t.member, windows)
    same(t.member.share("access", "list", "windows", "--access-type", "user").column("Access To"), ["joseph"], "the share's users")
    words.delete(t, t.member, "windows")


def not_applied(t):
    """openstack: a rule that the storage does not take is in error, with a message; without it all is well"""
    made = t.member.share("access", "create", "files", "cert", "mail.example.org").shown()
    words.until(lambda: t.member.manila().share_access_rules.get(made["id"]).state, "error", "the rule")
    holds(t.member.share("show", "files").shown(), access_rules_status="error", status="available")
    says(t.member.share("message", "list", "--resource-id", t.files), "update access rules: ")
    t.member.share("access", "delete", "files", made["id"])
    words.ruled(t.member, t.files)


def cephx(t):
    """openstack: a Ceph rule shows the key that the storage made"""
    t.ceph = words.create(t, t.member, "ceph", "--share-type", "files", proto="CEPHFS")
    t.member.share("access", "create", "ceph", "cephx", "alice")
    words.ruled(t.member, t.ceph)
    key = t.member.share("access", "list", "ceph").table(COLUMNS)[0]["Access Key"]
    same(key not in ("None", ""), True, f"the key is {key}")
    words.delete(t, t.member, "ceph")


def changed(t):
    """openstack: a rule's level and properties are changed"""
    t.member.share("access", "set", t.rule, "--access-level", "ro", "--property", "more=less")
    t.member.share("access", "unset", t.rule, "--property", "who")
    words.ruled(t.member, t.files)
    holds(t.member.share("access", "show", t.rule).shown(), access_level="ro", properties="more : less", state="active")


def refused(t):
    """openstack: what cannot be given, and to whom"""
    says(t.member.share("access", "create", "files", "ip", "10.0.0.0/24", status=1), "Share access ip:10.0.0.0/24 exists. (HTTP 400)")
    says(t.member.share("access", "create", "files", "user", "joe", status=1), "Invalid user or group name. Must be 4-255 characters")
    says(t.member.share("access", "create", "files", "ip", "10.0.0.300", status=1), "'10.0.0.300' does not appear to be an IPv4 or IPv6 network")
    says(t.member.share("access", "create", "files", "ip", "10.0.0.1/24", status=1), "10.0.0.1/24")
    says(t.member.share("access", "show", "00000000-0000-4000-8000-000000000000", status=1), "(HTTP 404)")


def locked(t):
    """openstack: a locked rule is taken away only with its locks"""
    made = t.member.share("access", "create", "files", "ip", "10.9.9.9", "--lock-visibility", "--lock-deletion", "--lock-reason", "theirs").shown()
    words.ruled(t.member, t.files)
    rows = t.member.share("lock", "list", "--resource", made["id"]).table(LOCKS)
    same(sorted((row["Resource Type"], row["Resource Action"]) for row in rows), [("access_rule", "delete"), ("access_rule", "show")], "the locks")
    says(t.member.share("access", "delete", "files", made["id"], status=1), f"Cannot deny access for access '{made['id']}' since it has been locked.")
    t.member.share("access", "delete", "files", made["id"], "--unrestrict")
    words.until(lambda: made["id"] in [r.id for r in t.member.manila().share_access_rules.access_list(t.files)], False, "the rule is there")
    same(t.member.share("lock", "list").out.strip(), "", "the locks that are left")


def share_locked(t):
    """openstack: a lock keeps a share from being deleted"""
    made = t.member.share("lock", "create", "files", "share", "--resource-action", "delete", "--lock-reason", "in use").shown()
    holds(made, resource_id=t.files, resource_type="share", resource_action="delete", lock_reason="in use", lock_context="user")
    says(t.member.share("delete", "files", status=1), f"Resource lock/s [{made['id']}] prevents delete action. (HTTP 403)")
    t.member.share("lock", "set", made["id"], "--lock-reason", "by the books")
    holds(t.member.share("lock", "show", made["id"]).shown(), **{"Lock Reason": "by the books", "Resource Action": "delete", "Project Id": t.member.project_id})
    t.member.share("lock", "unset", made["id"], "--lock-reason")
    holds(t.member.share("lock", "show", made["id"]).shown(), **{"Lock Reason": "None"})
    same(t.admin.share("lock", "list", "--all-projects", "--resource-type", "share").column("ID"), [made["id"]], "what an administrator sees")
    same(t.other.share("lock", "list").out.strip(), "", "what the other sees")
    says(t.other.share("lock", "delete", made["id"], status=1), "Unable to delete some or all of the specified locks.")
    t.member.share("lock", "delete", made["id"])
    same(t.member.share("lock", "list").out.strip(), "", "the locks that are left")


def taken(t):
    """openstack: access is taken away"""
    t.member.share("access", "delete", "files", t.rule)
    words.until(lambda: len(t.member.manila().share_access_rules.access_list(t.files)), 1, "the rules that are left")
    words.delete(t, t.member, "files")


STEPS = [given, more, not_applied, cephx, changed, refused, locked, share_locked, taken]
