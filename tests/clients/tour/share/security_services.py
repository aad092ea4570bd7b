"""Security services: with whom a share server works."""
from printed import holds, same, says


def create(t):
    """openstack: security services are made, listed and shown"""
    made = t.member.share("security", "service", "create", "ldap", "--name", "people", "--dns-ip", "10.0.0.2", "--server", "ldap.example.org", "--domain", "example.org",
                          "--user", "reader", "--password", "a secret", "--description", "who is who").shown()
    holds(made, type="ldap", name="people", dns_ip="10.0.0.2", server="ldap.example.org", domain="example.org", user="reader", status="new", ou="None")
    made = t.member.share("security", "service", "create", "active_directory", "--name", "windows", "--ou", "files", "--default-ad-site", "here").shown()
    holds(made, type="active_directory", ou="files", default_ad_site="here")
    rows = t.member.share("security", "service", "list").table(["ID", "Name", "Status", "Type"])
    same(sorted((row["Name"], row["Status"], row["Type"]) for row in rows), [("people", "new", "ldap"), ("windows", "new", "active_directory")], "the list")
    holds(t.member.share("security", "service", "show", "people").shown(), description="who is who", share_networks="")


def listed(t):
    """openstack: lists, filtered"""
    names = lambda *options: t.member.share("security", "service", "list", *options).column("Name")
    same(names("--name", "windows"), ["windows"], "by name")
    same(names("--type", "ldap"), ["people"], "by type")
    same(names("--domain", "example.org", "--dns-ip", "10.0.0.2"), ["people"], "by what they are")
    same(names("--limit", "1") + names("--limit", "1", "--marker", "1"), names(), "page by page")
    same(sorted(t.admin.share("security", "service", "list", "--all-projects").column("Name")), ["people", "windows"], "everybody's")
    same(t.other.share("security", "service", "list").out.strip(), "", "what the other sees")


def changed(t):
    """openstack: they are changed, and what they say is unset"""
    t.member.share("security", "service", "set", "people", "--name", "staff", "--ou", "people")
    holds(t.member.share("security", "service", "show", "staff").shown(), ou="people", server="ldap.example.org")
    t.member.share("security", "service", "unset", "staff", "--ou", "--description")
    holds(t.member.share("security", "service", "show", "staff").shown(), ou="None", description="None")


def used(t):
    """openstack: a network has one of each type; a used one stays"""
    t.member.share("network", "create", "--name", "served")
    t.member.share("network", "set", "served", "--new-security-service", "staff")
    same(t.member.share("security", "service", "list", "--share-network", "served").column("Name"), ["staff"], "the network's services")
    same(t.member.share("network", "list", "--security-service", t.member.manila().security_services.find(name="staff").id).column("Name"), ["served"], "the networks of that service")
    says(t.member.share("security", "service", "delete", "staff", status=1), "(HTTP 403)")
    t.member.share("security", "service", "create", "ldap", "--name", "spare")
    says(t.member.share("network", "set", "served", "--new-security-service", "spare", status=1), "(HTTP 409)")
    t.member.share("network", "set", "served", "--current-security-service", "staff", "--new-security-service", "spare")
    same(t.member.share("security", "service", "list", "--share-network", "served").column("Name"), ["spare"], "the network's services then")
    t.member.share("network", "unset", "served", "--security-service", "spare")
    t.member.share("network", "delete", "served")


def deleted(t):
    """openstack: they are deleted"""
    t.member.share("security", "service", "delete", "staff", "spare", "windows")
    same(t.member.share("security", "service", "list").out.strip(), "", "what is left")


STEPS = [create, listed, changed, used, deleted]
