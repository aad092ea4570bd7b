"""Quotas of a project, a user and a type; their use and their defaults; limits."""
from printed import holds, same, says

from share import words


def shown(t):
    """openstack: a project's quotas and what it uses of them"""
    words.create(t, t.member, "one", "--share-type", "files", size=2)
    holds(t.admin.share("quota", "show", t.member.project).shown(), shares="50", gigabytes="1000", share_networks="10", per_share_gigabytes="-1", id=t.member.project_id)
    detail = t.admin.share("quota", "show", t.member.project, "--detail").shown()
    holds(detail, shares="in_use = 1\nlimit = 50\nreserved = 0", gigabytes="in_use = 2\nlimit = 1000\nreserved = 0")
    holds(t.admin.share("quota", "show", t.member.project, "--defaults").shown(), shares="50")


def changed(t):
    """openstack: an administrator changes them, for a user and a type, too"""
    t.admin.share("quota", "set", t.member.project, "--shares", "2", "--gigabytes", "5", "--snapshots", "1")
    holds(t.admin.share("quota", "show", t.member.project).shown(), shares="2", gigabytes="5", snapshots="1", share_networks="10")
    t.admin.share("quota", "set", t.member.project, "--gigabytes", "4", "--user", "mia")
    holds(t.admin.share("quota", "show", t.member.project, "--user", "mia").shown(), gigabytes="4")
    t.admin.share("quota", "set", t.member.project, "--gigabytes", "3", "--share-type", "files")
    holds(t.admin.share("quota", "show", t.member.project, "--share-type", "files").shown(), gigabytes="3")


def refused(t):
    """openstack: what does not fit is refused, and what is below the use"""
    says(t.member.share("create", "NFS", "2", "--name", "large", "--share-type", "files", status=1), "ShareSizeExceedsAvailableQuota: Requested share exceeds allowed project/user or share type gigabytes quota. (HTTP 413)")
    words.create(t, t.member, "two", size=1)
    says(t.member.share("create", "NFS", "1", "--name", "three", status=1), "ShareLimitExceeded: Maximum number of shares allowed (2) either per project/user or share type quota is exceeded. (HTTP 413)")
    says(t.admin.share("quota", "set", t.member.project, "--shares", "1", status=1), "Quota value 1 for shares is smaller than already used and reserved 2. (HTTP 400)")
    t.admin.share("quota", "set", t.member.project, "--shares", "1", "--force")
    holds(t.admin.share("quota", "show", t.member.project).shown(), shares="1")
    words.delete(t, t.member, "two")


def limits(t):
    """openstack: limits as the project sees them"""
    rows = {row["Name"]: row["Value"] for row in t.member.share("limits", "show", "--absolute").table(["Name", "Value"])}
    holds(rows, maxTotalShares="1", maxTotalShareGigabytes="5", totalSharesUsed="1", totalShareGigabytesUsed="2", totalShareSnapshotsUsed="0")
    same(t.member.share("limits", "show", "--rate").out.strip(), "", "the rate limits")


def taken_back(t):
    """openstack: quotas of their own are deleted"""
    t.admin.share("quota", "delete", t.member.project, "--share-type", "files")
    t.admin.share("quota", "delete", t.member.project)
    holds(t.admin.share("quota", "show", t.member.project).shown(), shares="50", gigabytes="1000")
    holds(t.admin.share("quota", "show", t.member.project, "--user", "mia").shown(), gigabytes="1000")
    words.delete(t, t.member, "one")


def defaults(t):
    """openstack: the class of all that have none of their own"""
    t.admin.share("quota", "set", "default", "--class", "--shares", "51")
    holds(t.admin.share("quota", "show", t.other.project).shown(), shares="51")
    t.admin.share("quota", "set", "default", "--class", "--shares", "50")
    holds(t.admin.share("quota", "show", t.other.project, "--defaults").shown(), shares="50")


STEPS = [shown, changed, refused, limits, taken_back, defaults]
