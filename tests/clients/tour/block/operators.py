"""What who runs the cloud looks at: services, pools, capabilities, zones, filters, messages."""
from printed import holds, same, says
from share import words

SERVICES = ["Binary", "Host", "Zone", "Status", "State", "Updated At", "Cluster", "Backend State"]


def services(t):
    """openstack and cinder: services"""
    rows = t.admin.openstack("volume", "service", "list").table(SERVICES)
    found = {(row["Binary"], row["Host"]): (row["Zone"], row["Status"], row["State"], row["Backend State"]) for row in rows}
    same(found, {("cinder-scheduler", "stowage"): ("nova", "enabled", "up", "None"),
                 ("cinder-volume", "stowage@memory1"): ("nova", "enabled", "up", "up"), ("cinder-volume", "stowage@memory2"): ("nova", "enabled", "up", "up")})
    same(t.admin.openstack("volume", "service", "list", "--host", "stowage@memory2").column("Host"), ["stowage@memory2"], "of one host")
    rows = t.admin.cinder("service-list", "--binary", "cinder-volume").table(["Binary", "Host", "Zone", "Status", "State", "Updated_at", "Cluster", "Disabled Reason", "Backend State"])
    same([row["Host"] for row in rows], ["stowage@memory1", "stowage@memory2"])


def disabled(t):
    """openstack and cinder: a disabled service says why, and gets nothing new"""
    t.admin.openstack("volume", "service", "set", "--disable", "--disable-reason", "new cables", "stowage@memory2", "cinder-volume")
    row = t.admin.openstack("volume", "service", "list", "--long", "--host", "stowage@memory2").table([*SERVICES, "Disabled Reason"])[0]
    holds(row, **{"Status": "disabled", "Disabled Reason": "new cables"})
    t.failed = t.member.openstack("volume", "create", "--size", "1", "--type", "iron", "nowhere").shown()["id"]
    t.settled(t.member, t.failed, "error")
    holds(t.admin.cinder("service-enable", "stowage@memory2", "cinder-volume").table(["Host", "Binary", "Status"])[0], Host="stowage@memory2", Status="enabled")
    holds(t.admin.cinder("service-disable", "--reason", "why not", "stowage@memory2", "cinder-volume").table()[0], **{"Status": "disabled", "Disabled Reason": "why not"})
    t.admin.openstack("volume", "service", "set", "--enable", "stowage@memory2", "cinder-volume")


def messages(t):
    """openstack and cinder: the message that says why a volume is in error"""
    rows = t.member.openstack("volume", "message", "list").table(
        ["ID", "Event ID", "Resource Type", "Resource UUID", "Message Level", "User Message", "Request ID", "Created At", "Guaranteed Until"])
    holds(rows[0], **{"Resource Type": "VOLUME", "Resource UUID": t.failed, "Message Level": "ERROR"})
    says_why = rows[0]["User Message"]
    same(says_why.startswith("schedule allocate volume:Could not find any available weighted backend."), True, f"the message is {says_why}")
    holds(t.member.cinder("message-show", rows[0]["ID"]).shown(), resource_uuid=t.failed, user_message=says_why, message_level="ERROR")
    found = t.member.cinder("message-list", "--resource_uuid", t.failed).table(["ID", "Resource Type", "Resource UUID", "Event ID", "User Message"])
    same([row["User Message"] for row in found], [says_why], "the message")
    same(t.other.openstack("volume", "message", "list").out.strip(), "", "what the other project sees")
    t.member.openstack("volume", "message", "delete", rows[0]["ID"])
    same(t.member.openstack("volume", "message", "list").out.strip(), "", "the messages that are left")
    t.delete(t.member, "nowhere")


def pools(t):
    """openstack and cinder: pools and what they can do"""
    t.create(t.member, "taking-room", "--size", "5", "--type", "fast")
    rows = {row["Name"]: row for row in t.admin.openstack("volume", "backend", "pool", "list", "--long").table()}
    same(sorted(rows), ["stowage@memory1#gold", "stowage@memory2#iron"], "the pools")
    gold = dict(pair.split("=", 1) for pair in rows["stowage@memory1#gold"]["Capabilities"].split(", "))
    holds(gold, disk="'ssd'", volume_backend_name="'memory1'", total_capacity_gb="'100'", allocated_capacity_gb="'5'", thin_provisioning_support="'True'", multiattach="'True'")
    same(t.admin.cinder("get-pools", "--filters", "name=stowage@memory2#iron").shown()["name"], "stowage@memory2#iron", "the pool of that name")
    holds(t.admin.cinder("get-pools", "--detail", "--filters", "name=stowage@memory2#iron").shown(), multiattach="False", total_capacity_gb="60", backend_state="up")
    t.delete(t.member, "taking-room")


def capabilities(t):
    """openstack: what a back end can do"""
    rows = t.admin.openstack("volume", "backend", "capability", "show", "stowage@memory1").table(["Title", "Key", "Type", "Description"])
    same("multiattach" in [row["Key"] for row in rows], True, f"multiattach is in {rows}")


def zones_and_filters(t):
    """openstack and cinder: availability zones, resource filters"""
    same(t.member.openstack("availability", "zone", "list", "--volume").table(), [{"Zone Name": "nova", "Zone Status": "available"}])
    rows = {row["Resource"]: row["Filters"] for row in t.member.openstack("block", "storage", "resource", "filter", "list").table(["Resource", "Filters"])}
    same(rows["snapshot"], "availability_zone, consumes_quota, metadata, name~, status, volume_id", "the filters of snapshots")
    holds(t.member.openstack("block", "storage", "resource", "filter", "show", "pool").shown(), Resource="pool", Filters="name, volume_type")
    same(t.member.cinder("list-filters", "--resource", "pool").table(["Resource", "Filters"]), [{"Resource": "pool", "Filters": "name, volume_type"}])


def hosts(t):
    """openstack and cinder: a host is frozen and thawed; members see none of this"""
    t.admin.openstack("volume", "host", "set", "--disable", "stowage@memory2")
    row = [row for row in t.admin.cinder("service-list", "--withreplication").table() if row["Host"] == "stowage@memory2"][0]
    holds(row, Frozen="True")
    t.admin.openstack("volume", "host", "set", "--enable", "stowage@memory2")
    for command, action in ((("volume", "service", "list"), "volume_extension:services:index"), (("volume", "backend", "pool", "list"), "scheduler_extension:scheduler_stats:get_pools")):
        says(t.member.openstack(*command, status=1), f"Policy doesn't allow {action} to be performed.")


def log_levels(t):
    """openstack and cinder: the log level of the running service"""
    binaries = ["cinder-api", "cinder-scheduler", "cinder-volume"]
    columns = ["Binary", "Host", "Prefix", "Level"]
    t.admin.openstack("block", "storage", "log", "level", "set", "debug", "--service", "cinder-volume", "--log-prefix", "stowage::jobs")
    rows = t.admin.openstack("block", "storage", "log", "level", "list", "--log-prefix", "stowage::jobs").table(columns)
    same([(row["Binary"], row["Prefix"], row["Level"]) for row in rows], [(binary, "stowage::jobs", "DEBUG") for binary in binaries])
    t.admin.cinder("service-set-log", "INFO", version="3.32")
    rows = t.admin.cinder("service-get-log", "--server", rows[0]["Host"], "--prefix", "stowage::j", version="3.32").table(columns)
    same([(row["Binary"], row["Level"]) for row in rows if row["Prefix"] == "stowage::jobs"], [(binary, "INFO") for binary in binaries])


def failover(t):
    """openstack and cinder: a back end fails over to another array, and back"""
    def replication():
        row = [row for row in t.admin.cinder("service-list", "--withreplication").table() if row["Host"] == "stowage@memory2"][0]
        return row["Replication Status"], row["Active Backend ID"], row["Status"]

    t.admin.openstack("volume", "host", "failover", "stowage@memory2", "--volume-backend", "east")
    words.until(replication, ("failed-over", "east", "disabled"), "the fail-over")
    t.admin.cinder("failover-host", "stowage@memory2", "--backend_id", "default")
    words.until(lambda: replication()[::2], ("enabled", "enabled"), "the way back")
    says(t.admin.cinder("failover-host", "stowage@memory1", status=1), "must be enabled or failed-over")


STEPS = [services, disabled, messages, pools, capabilities, zones_and_filters, hosts, log_levels, failover]
