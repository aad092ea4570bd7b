"""Share networks and their subnets."""
from printed import holds, same, says

V4 = ("--neutron-net-id", "tour", "--neutron-subnet-id", "tour-v4")
LAB = ("--neutron-net-id", "tour", "--neutron-subnet-id", "tour-lab")


def found(t):
    """openstack: the subnets that share networks may be over are found as a network service's"""
    same(t.member.openstack("network", "list").table(["ID", "Name", "Subnets"]), [{"ID": "tour", "Name": "tour", "Subnets": "tour-lab, tour-small, tour-v4, tour-v6"}], "the networks")
    rows = {row["ID"]: row["Subnet"] for row in t.member.openstack("subnet", "list", "--network", "tour").table(["ID", "Name", "Network", "Subnet"])}
    same(rows["tour-v6"], "fd77::/64", "the IPv6 subnet")
    holds(t.member.openstack("subnet", "show", "tour-v4").shown(), cidr="10.77.0.0/24", ip_version="4", network_id="tour")


def create(t):
    """openstack: a network is made with its first subnet, listed and shown"""
    made = t.member.share("network", "create", "--name", "office", "--description", "ours", *V4).shown()
    holds(made, name="office", description="ours", status="active", network_allocation_update_support="True", project_id=t.member.project_id)
    same("neutron_subnet_id = tour-v4" in made["share_network_subnets"], True, f"the subnet is in {made['share_network_subnets']}")
    same(t.member.share("network", "list").table(["ID", "Name"]), [{"ID": made["id"], "Name": "office"}], "the list")
    row = t.member.share("network", "list", "--detail").table(["ID", "Name", "Status", "Created At", "Updated At", "Description"])[0]
    holds(row, Name="office", Status="active", Description="ours")
    shown = t.member.share("network", "show", "office").shown()
    holds(shown, id=made["id"], security_services="")
    t.office = made["id"]


def listed(t):
    """openstack: lists, filtered; everybody's for administrators"""
    t.member.share("network", "create", "--name", "lab", *LAB)
    names = lambda *options: t.member.share("network", "list", *options).column("Name")
    same(sorted(names()), ["lab", "office"], "all")
    same(names("--name", "lab"), ["lab"], "by name")
    same(names("--name~", "off"), ["office"], "by a part of the name")
    same(names("--neutron-subnet-id", "tour-v4"), ["office"], "over that subnet")
    row = t.admin.share("network", "list", "--all-projects", "--name", "office").table(["ID", "Name", "Project ID"])[0]
    holds(row, **{"ID": t.office, "Project ID": t.member.project_id})
    same(t.other.share("network", "list").out.strip(), "", "what the other sees")
    says(t.other.share("network", "show", t.office, status=1), f"No sharenetwork with a name or ID of '{t.office}' exists.")


def changed(t):
    """openstack: name, description and the first subnet are changed while there is no server"""
    t.member.share("network", "set", "lab", "--name", "attic", "--description", "upstairs")
    t.member.share("network", "set", "attic", "--neutron-net-id", "tour", "--neutron-subnet-id", "tour-v6")
    shown = t.member.share("network", "show", "attic").shown()
    holds(shown, description="upstairs")
    same("neutron_subnet_id = tour-v6" in shown["share_network_subnets"], True, "the subnet")
    t.member.share("network", "unset", "attic", "--description")
    holds(t.member.share("network", "show", "attic").shown(), description="None")
    t.member.share("network", "delete", "attic")


def subnets(t):
    """openstack: a subnet for a zone, with properties"""
    made = t.member.share("network", "subnet", "create", "office", *LAB, "--availability-zone", "nova", "--property", "floor=1").shown()
    holds(made, share_network_name="office", availability_zone="nova", neutron_subnet_id="tour-lab", metadata="{'floor': '1'}")
    t.member.share("network", "subnet", "set", "office", made["id"], "--property", "rack=7")
    t.member.share("network", "subnet", "unset", "office", made["id"], "--property", "floor")
    holds(t.member.share("network", "subnet", "show", "office", made["id"]).shown(), properties="rack='7'", share_network_id=t.office)
    says(t.member.share("network", "delete", "office", status=1), f"The share network {t.office} has more than one subnet attached.")
    t.member.share("network", "subnet", "delete", "office", made["id"])
    same("tour-lab" in t.member.share("network", "show", "office").shown()["share_network_subnets"], False, "it is still there")


def refused(t):
    """openstack: what cannot be made"""
    says(t.member.share("network", "create", "--neutron-net-id", "mars", "--neutron-subnet-id", "tour-v4", status=1), "Neutron network 'mars' not found.")
    says(t.member.share("network", "subnet", "create", "office", "--neutron-net-id", "tour", "--neutron-subnet-id", "none", status=1), "Neutron subnet 'none' not found.")
    says(t.member.share("network", "create", "--neutron-net-id", "tour", status=1), "you need to specify both neutron_net_id and neutron_subnet_id or none of them. (HTTP 400)")
    says(t.member.share("network", "subnet", "create", "office", *V4, "--availability-zone", "mars", status=1), "mars")
    says(t.member.share("network", "set", "office", "--status", "error", status=1), "Policy doesn't allow share_network:reset_status to be performed.")


def deleted(t):
    """openstack: a network is deleted"""
    t.member.share("network", "delete", "office")
    same(t.member.share("network", "list").out.strip(), "", "the networks that are left")


STEPS = [found, create, listed, changed, subnets, refused, deleted]
