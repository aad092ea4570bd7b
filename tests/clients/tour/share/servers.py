"""Share servers, and another subnet for one that shares are on."""
from printed import holds, same, says

from share import words

COLUMNS = ["ID", "Host", "Status", "Share Network ID", "Project ID"]
V4 = ("--neutron-net-id", "tour", "--neutron-subnet-id", "tour-v4")
V6 = ("--neutron-net-id", "tour", "--neutron-subnet-id", "tour-v6")


def network(t, name, *subnet):
    return t.member.share("network", "create", "--name", name, *subnet).shown()["id"]


def gone(t, network):
    t.gone(lambda: t.admin.manila().share_servers.list(search_opts={"share_network_id": network}))


def built(t):
    """openstack: the first share on a network has a server built; the second lives there, too"""
    t.office = network(t, "office", *V4)
    t.live = words.create(t, t.member, "live", "--share-type", "tenants", "--share-network", "office")
    rows = t.admin.share("server", "list").table(COLUMNS)
    same([(row["Host"], row["Status"], row["Share Network ID"], row["Project ID"]) for row in rows], [("stowage@tenants", "active", t.office, t.member.project_id)], "the servers")
    t.server = rows[0]["ID"]
    words.create(t, t.member, "second", "--share-type", "tenants", "--share-network", "office")
    holds(t.admin.share("show", t.live).shown(), share_server_id=t.server, share_network_id=t.office)
    same(t.admin.share("list", "--all-projects", "--share-server", t.server).column("Name"), ["live", "second"], "the server's shares")
    same(t.member.share("list", "--share-network", "office").column("Name"), ["live", "second"], "the network's shares")


def listed(t):
    """openstack: servers are the operators' to see"""
    for options in (("--host", "stowage@tenants"), ("--status", "active"), ("--share-network", t.office), ("--project", t.member.project)):
        same(t.admin.share("server", "list", *options).column("ID"), [t.server], f"with {options}")
    same(t.admin.share("server", "list", "--status", "error").out.strip(), "", "those in error")
    shown = t.admin.share("server", "show", t.server).shown()
    holds(shown, status="active", share_network_name="office", is_auto_deletable="True", network_allocation_update_support="True", **{"details:address.0": "10.77.0.1"})
    says(t.member.share("server", "list", status=1), "Policy doesn't allow share_server:index to be performed.")


def checked(t):
    """openstack: would the server take an IPv6 subnet? nothing changes"""
    ask = lambda person, *options: person.share("network", "subnet", "create", t.office, *V6, "--check-only", *options).shown()
    words.until(lambda: ask(t.member)["compatible"], "True", "the check")
    holds(ask(t.admin), compatible="True", hosts_check_result="\nstowage@tenants = True")
    words.until(lambda: ask(t.member, "--restart-check")["compatible"], "True", "the check done anew")
    same("fd77" in t.member.share("network", "show", "office").shown()["share_network_subnets"], False, "something changed")


def grown(t):
    """openstack: it is given the subnet; IPv4 and IPv6 side by side, the location that was there stays"""
    before = t.member.share("export", "location", "list", "live").table()
    made = t.member.share("network", "subnet", "create", "office", *V6).shown()
    holds(made, cidr="fd77::/64", ip_version="6", share_network_id=t.office)
    words.until(lambda: t.member.manila().share_networks.get(t.office).status, "active", "the network")
    after = t.member.share("export", "location", "list", "live").table()
    same(after[:1], before, "the first location")
    same(after[1]["Path"].startswith("[fd77::1]:/shares/"), True, f"the second location is {after[1]['Path']}")
    shown = t.admin.share("server", "show", t.server).shown()
    holds(shown, status="active", **{"details:address.1": "fd77::1"})
    same(made["id"] in shown["share_network_subnet_ids"], True, "the server's subnets")
    subnets = t.admin.share("network", "show", t.office).shown()["share_network_subnets"]
    same(("network_type = vlan" in subnets, "segmentation_id = 120" in subnets), (True, True), "what an operator sees of the wire")
    same("vlan" in t.member.share("network", "show", "office").shown()["share_network_subnets"], False, "a user sees the wire")
    t.second_subnet = made["id"]


def refused_by_storage(t):
    """openstack: a driver refuses; its reason is the operator's, a message the user's"""
    walled = network(t, "walled", *V4)
    words.create(t, t.member, "behind", "--share-type", "walls", "--share-network", "walled")
    words.until(lambda: t.admin.share("network", "subnet", "create", walled, *V6, "--check-only").shown()["compatible"], "False", "the check")
    shown = t.admin.share("network", "subnet", "create", walled, *V6, "--check-only").shown()
    holds(shown, hosts_check_reasons="\nstowage@walls = the ports of this array are full")
    refusal = t.member.share("network", "subnet", "create", "walled", *V6, status=1)
    says(refusal, "a storage back end of its share servers refuses. Contact your administrator to learn why. (HTTP 409)")
    same("ports" in refusal.err, False, "the user reads the driver's words")
    says(t.admin.share("network", "subnet", "create", walled, *V6, status=1), "the ports of this array are full")
    message = t.member.share("message", "list", "--resource-id", walled).table()[0]
    holds(message, **{"Resource Type": "SHARE_NETWORK"})
    same("nothing was changed" in message["User Message"], True, f"the message is {message['User Message']}")
    words.delete(t, t.member, "behind")
    t.member.share("network", "delete", "walled")
    gone(t, walled)


def full(t):
    """openstack: a subnet without a free address; the message says so"""
    small = ("--neutron-net-id", "tour", "--neutron-subnet-id", "tour-small")
    first, second = network(t, "first", *small), network(t, "second", *small)
    words.create(t, t.member, "fits", "--share-type", "tenants", "--share-network", "first")
    lost = t.member.share("create", "NFS", "1", "--name", "lost", "--share-type", "tenants", "--share-network", "second").shown()["id"]
    words.until(lambda: t.member.manila().shares.get(lost).status, "error", "the share")
    says(t.member.share("message", "list", "--resource-id", lost), "Share network subnet has no free addresses left")
    words.delete(t, t.member, "fits", "lost")
    for server in t.admin.share("server", "list", "--share-network", second).column("ID"):
        t.admin.share("server", "delete", server)
    t.member.share("network", "delete", "first", "second")
    gone(t, first), gone(t, second)


def kept(t):
    """openstack: what is in use stays"""
    says(t.member.share("network", "subnet", "delete", "office", t.second_subnet, status=1), "(HTTP 409)")
    says(t.member.share("network", "delete", "office", status=1), "(HTTP 409)")
    says(t.admin.share("server", "delete", t.server, status=1), f"Share server {t.server} in use. (HTTP 409)")


def reset(t):
    """openstack: an operator says what a server is"""
    t.admin.share("server", "set", t.server, "--status", "error")
    holds(t.admin.share("server", "show", t.server).shown(), status="error", task_state="None")
    t.admin.share("server", "set", t.server, "--status", "active")


def deleted(t):
    """openstack: an idle server is deleted; or goes with its network"""
    words.delete(t, t.member, "live", "second")
    t.admin.share("server", "delete", t.server)
    gone(t, t.office)
    t.member.share("network", "subnet", "delete", "office", t.second_subnet)
    words.create(t, t.member, "again", "--share-type", "tenants", "--share-network", "office")
    words.delete(t, t.member, "again")
    t.member.share("network", "delete", "office")
    gone(t, t.office)
    same(t.admin.share("server", "list").out.strip(), "", "the servers that are left")


STEPS = [built, listed, checked, grown, refused_by_storage, full, kept, reset, deleted]
