"""Quotas, their use and their defaults; limits."""
from printed import holds, same, says


def shown(t):
    """openstack: a project's quotas and what it uses of them"""
    t.create(t.member, "one", "--size", "2", "--type", "fast")
    rows = {row["Resource"]: row["Limit"] for row in t.member.openstack("quota", "show", "--volume").table(["Resource", "Limit"])}
    holds(rows, volumes="10", gigabytes="1000", snapshots="10", gigabytes_fast="-1", **{"per-volume-gigabytes": "-1", "backup-gigabytes": "1000"})
    rows = {row["Resource"]: row for row in t.member.openstack("quota", "show", "--volume", "--usage").table(["Resource", "Limit", "In Use", "Reserved"])}
    same((rows["gigabytes"]["In Use"], rows["volumes"]["In Use"], rows["volumes_fast"]["In Use"]), ("2", "1", "1"), "what is used")


def used(t):
    """cinder: usage by resource and type"""
    rows = {row["Type"]: row for row in t.admin.cinder("quota-usage", t.member.project_id).table(["Type", "In_use", "Reserved", "Limit", "Allocated"])}
    holds(rows["gigabytes"], In_use="2", Reserved="0", Limit="1000")
    holds(rows["volumes_fast"], In_use="1", Limit="-1")


def changed(t):
    """openstack and cinder: an administrator changes them, and takes that back"""
    t.admin.openstack("quota", "set", "--volumes", "2", "--gigabytes", "5", "--snapshots", "1", t.member.project)
    holds(t.admin.cinder("quota-show", t.member.project_id).shown(), volumes="2", gigabytes="5", snapshots="1", backups="10")
    t.admin.openstack("quota", "set", "--gigabytes", "3", "--volume-type", "fast", t.member.project)
    holds(t.admin.cinder("quota-update", "--volumes", "3", t.member.project_id).shown(), volumes="3", gigabytes_fast="3")
    says(t.member.cinder("quota-update", "--volumes", "99", t.member.project_id, status=1), "ERROR: Policy doesn't allow volume_extension:quotas:update to be performed. (HTTP 403)")


def refused(t):
    """openstack: a refusal names the limit, what is asked and what is used"""
    says(t.member.openstack("volume", "create", "--size", "9", "large", status=1),
         "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 9G, quota is 5G and 2G has been consumed.")
    says(t.member.openstack("volume", "create", "--size", "2", "--type", "fast", "large", status=1), "exceeds allowed gigabytes_fast quota. Requested 2G, quota is 3G and 2G has been consumed.")
    t.admin.cinder("quota-update", "--volumes", "1", t.member.project_id)
    says(t.member.openstack("volume", "create", "--size", "1", "large", status=1), "VolumeLimitExceeded: Maximum number of volumes allowed (1) exceeded for quota 'volumes'.")


def limits(t):
    """openstack and cinder: limits as the project sees them"""
    rows = {row["Name"]: row["Value"] for row in t.member.openstack("limits", "show", "--absolute").table(["Name", "Value"])}
    holds(rows, max_total_volumes="1", max_total_volume_gigabytes="5", total_volumes_used="1", total_gigabytes_used="2")
    rows = {row["Name"]: row["Value"] for row in t.member.cinder("absolute-limits").table(["Name", "Value"])}
    holds(rows, maxTotalVolumes="1", totalVolumesUsed="1", totalGigabytesUsed="2", maxTotalSnapshots="1")


def taken_back(t):
    """openstack: a project's own quotas are deleted"""
    t.admin.openstack("quota", "delete", "--volume", t.member.project)
    holds(t.admin.cinder("quota-show", t.member.project_id).shown(), volumes="10", gigabytes="1000", gigabytes_fast="-1")
    t.delete(t.member, "one")


def defaults(t):
    """openstack and cinder: the class of all that have none of their own"""
    holds(t.admin.cinder("quota-class-update", "default", "--volumes", "11").shown(), volumes="11", gigabytes="1000")
    holds(t.admin.cinder("quota-defaults", t.member.project_id).shown(), volumes="11")
    holds({row["Resource"]: row["Limit"] for row in t.member.openstack("quota", "show", "--volume").table()}, volumes="11")
    t.admin.openstack("quota", "set", "--class", "--volumes", "10", "default")
    holds(t.admin.cinder("quota-class-show", "default").shown(), volumes="10")


STEPS = [shown, used, changed, refused, limits, taken_back, defaults]
