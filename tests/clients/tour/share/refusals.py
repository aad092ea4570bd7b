"""What a person reads when something is not done."""
from printed import says

NOBODY = "00000000-0000-4000-8000-000000000000"


def unknown(t):
    """openstack: what is not there"""
    says(t.member.share("show", "nothing", status=1), "No share with a name or ID of 'nothing' exists.")
    says(t.member.share("create", "NFS", "1", "--share-type", "golden", status=1), "No sharetype with a name or ID of 'golden' exists.")
    says(t.member.share("create", "NFS", "1", "--availability-zone", "mars", status=1), "Availability zone mars could not be found. (HTTP 404)")
    says(t.member.share("create", "NFS", "1", "--share-network", "mars", status=1), "No sharenetwork with a name or ID of 'mars' exists.")
    says(t.member.share("restore", NOBODY, status=1), f"Share {NOBODY} could not be found. (HTTP 404)")
    says(t.member.share("delete", "nothing", status=1), "1 of 1 shares failed to delete.")


def bad_values(t):
    """openstack: what makes no sense"""
    says(t.member.share("create", "NFS", "0", status=1), "Invalid input received: Share size '0' must be an integer and greater than 0 (HTTP 400)")
    says(t.member.share("create", "HDFS", "1", status=1), "Invalid share protocol provided: HDFS. It is either disabled or unsupported. Available protocols: NFS, CIFS, CEPHFS (HTTP 400)")
    says(t.member.share("create", "NFS", "1", "--share-type", "tenants", status=1), "Share network must be set when the driver_handles_share_servers is true. (HTTP 400)")
    says(t.member.share("lock", "create", NOBODY, "share", "--resource-action", "fly", status=1), "exists.")


def older(t):
    """openstack: an older version of the API does not have what came later"""
    says(t.member.share("list", "--soft-deleted", version="2.68", status=1), "only available with manila API version >= 2.69")
    says(t.admin.share("service", "ensure", "shares", "stowage@files", version="2.85", status=1), "2.86")


def not_there_yet(t):
    """openstack: what this service does not do is not found"""
    for command in (("group", "list"), ("transfer", "list"), ("backup", "list")):
        says(t.member.share(*command, status=1), "Not Found (HTTP 404)")


def without_a_login(t):
    """openstack: a wrong password"""
    says(t.member.mistyped().share("list", status=1), "The request you have made requires authentication. (HTTP 401)")


STEPS = [unknown, bad_values, older, not_there_yet, without_a_login]
