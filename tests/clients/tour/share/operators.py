"""What who runs the cloud looks at: services, ensuring, pools, zones, messages."""
from printed import holds, same, says

from share import words

SERVICES = ["ID", "Binary", "Host", "Zone", "Status", "State", "Updated At", "Disabled Reason", "Ensuring"]
BACKENDS = ["files", "tenants", "walls"]


def services(t):
    """openstack: services, by all that they have"""
    rows = t.admin.share("service", "list").table(SERVICES)
    same([(row["Binary"], row["Host"], row["Zone"], row["Status"], row["State"], row["Ensuring"]) for row in rows],
         [("manila-scheduler", "stowage", "nova", "enabled", "up", "False")] + [("manila-share", f"stowage@{name}", "nova", "enabled", "up", "False") for name in BACKENDS], "the services")
    hosts = lambda *options: t.admin.share("service", "list", *options).column("Host")
    same(hosts("--host", "stowage@files", "--binary", "manila-share", "--status", "enabled", "--state", "up", "--zone", "nova"), ["stowage@files"], "one of them")
    same(t.admin.share("service", "list", "--ensuring", "True").out.strip(), "", "those that ensure")
    says(t.member.share("service", "list", status=1), "Policy doesn't allow service:index to be performed.")


def disabled(t):
    """openstack: a disabled back end says why, gets nothing new, and its shares are not ensured"""
    t.admin.share("service", "set", "stowage@files", "manila-share", "--disable", "--disable-reason", "new cables")
    holds(t.admin.share("service", "list", "--host", "stowage@files").table(SERVICES)[0], **{"Status": "disabled", "Disabled Reason": "new cables"})
    t.lost = t.member.share("create", "NFS", "1", "--name", "lost", "--share-type", "files").shown()["id"]
    words.until(lambda: t.member.manila().shares.get(t.lost).status, "error", "the share")
    says(t.admin.share("service", "ensure", "shares", "stowage@files", status=1), "new cables")
    t.admin.share("service", "set", "stowage@files", "manila-share", "--enable")
    says(t.admin.share("service", "set", "stowage@mars", "manila-share", "--disable", status=1), "Service stowage@mars could not be found. (HTTP 404)")


def messages(t):
    """openstack: the message that says why a share is in error"""
    rows = t.member.share("message", "list", "--resource-id", t.lost).table(["ID", "Resource Type", "Resource ID", "Action ID", "User Message", "Detail ID", "Created At"])
    holds(rows[0], **{"Resource Type": "SHARE", "Resource ID": t.lost})
    says_why = rows[0]["User Message"]
    same(says_why.startswith("allocate host: "), True, f"the message is {says_why}")
    holds(t.member.share("message", "show", rows[0]["ID"]).shown(), resource_id=t.lost, user_message=says_why, message_level="ERROR")
    same(t.member.share("message", "list", "--resource-type", "SHARE", "--message-level", "ERROR", "--limit", "1").column("ID"), [rows[0]["ID"]], "filtered")
    says(t.other.share("message", "show", rows[0]["ID"], status=1), rows[0]["ID"])
    t.member.share("message", "delete", rows[0]["ID"])
    same(t.member.share("message", "list", "--resource-id", t.lost).out.strip(), "", "the messages that are left")
    words.delete(t, t.member, "lost")


def ensured(t):
    """openstack: the shares of a back end are ensured; what they are stays"""
    one = words.create(t, t.member, "one", "--share-type", "files")
    before = t.member.share("export", "location", "list", "one").table()
    t.admin.share("service", "ensure", "shares", "stowage@files")
    words.until(lambda: [s.ensuring for s in t.admin.manila().services.list(search_opts={"host": "stowage@files"})], [False], "the run")
    words.settled(t, t.member, one)
    same(t.member.share("export", "location", "list", "one").table(), before, "the locations")
    says(t.admin.share("service", "ensure", "shares", "stowage@mars", status=1), "Service stowage@mars could not be found. (HTTP 404)")
    says(t.member.share("service", "ensure", "shares", "stowage@files", status=1), "Policy doesn't allow service:ensure_shares to be performed. (HTTP 403)")
    words.delete(t, t.member, "one")


def pools(t):
    """openstack: pools and what they can do"""
    rows = t.admin.share("pool", "list").table(["Name", "Host", "Backend", "Pool"])
    same([row["Name"] for row in rows], ["stowage@files#silver", "stowage@tenants#room", "stowage@walls#cell"], "the pools")
    rows = t.admin.share("pool", "list", "--detail", "--backend", "tenants").table(["Name", "Host", "Backend", "Pool", "Capabilities"])
    can = {line.split(" : ")[0]: line.split(" : ")[1] for line in (row["Capabilities"] for row in rows)}
    holds(can, driver_handles_share_servers="True", share_server_multiple_subnet_support="True", network_allocation_update_support="True", ipv6_support="True",
          share_backend_name="tenants", total_capacity_gb="100", storage_protocol="NFS")
    same(t.admin.share("pool", "list", "--share-type", "walls").column("Name"), ["stowage@walls#cell"], "for this type")
    same(t.admin.share("pool", "list", "--pool", "silver").column("Name"), ["stowage@files#silver"], "of this name")
    says(t.member.share("pool", "list", status=1), "Policy doesn't allow scheduler_stats:pools:index to be performed.")


def zones(t):
    """openstack: availability zones"""
    same([row["Name"] for row in t.member.share("availability", "zone", "list").table(["Id", "Name", "Created At", "Updated At"])], ["nova"], "the zones")


STEPS = [services, disabled, messages, ensured, pools, zones]
