"""What a person reads when something is not done."""
from printed import same, says

NOBODY = "00000000-0000-4000-8000-000000000000"


def unknown(t):
    """openstack and cinder: what is not there"""
    says(t.member.openstack("volume", "show", "nothing", status=1), "No Volume found for nothing")
    says(t.member.cinder("show", NOBODY, status=1), f"ERROR: No volume with a name or ID of '{NOBODY}' exists.")
    says(t.member.cinder("attachment-show", NOBODY, status=1), f"ERROR: Volume attachment could not be found with filter: attachment_id = {NOBODY}. (HTTP 404) (Request-ID: req-")
    says(t.member.cinder("create", "1", "--snapshot-id", NOBODY, status=1), f"ERROR: Snapshot {NOBODY} could not be found. (HTTP 404)")
    says(t.member.cinder("create", "1", "--volume-type", "golden", status=1), "ERROR: Volume type with name golden could not be found. (HTTP 404)")
    says(t.member.openstack("volume", "create", "--size", "1", "--availability-zone", "mars", "far", status=1), "Availability zone 'mars' is invalid.")


def wrong_state(t):
    """openstack and cinder: what cannot be done now"""
    volume = t.create(t.member, "busy", "--size", "2")
    t.member.cinder("attachment-create", volume)
    says(t.member.openstack("volume", "delete", "busy", status=1), f"Invalid volume: Volume {volume} is reserved for an attachment; delete the attachment first.")
    says(t.member.openstack("volume", "transfer", "request", "create", "busy", status=1), f"Invalid volume: status must be available to offer volume {volume}, but it is reserved")
    says(t.member.cinder("snapshot-create", "busy", status=1), f"ERROR: Invalid volume: Volume {volume} status must be available or in-use, but current status is: reserved. (HTTP 400)")
    t.member.library().attachments.delete(t.member.library().attachments.list()[0].id)
    t.settled(t.member, "busy")


def bad_values(t):
    """openstack and cinder: what makes no sense"""
    says(t.member.cinder("extend", "busy", "1", status=1), "ERROR: Invalid input received: New size for extend must be greater than current size. (current: 2, extended: 1). (HTTP 400)")
    says(t.member.openstack("volume", "create", "--size", "0", "none", status=1), "Invalid input for field/attribute size. Value: 0.")
    says(t.member.cinder("list", "--filters", "colour=red", status=1), "ERROR: Invalid filters colour are found in query options. (HTTP 400)")
    says(t.member.cinder("list", "--limit", "-1", status=1), "ERROR: limit param must be positive (HTTP 400)")
    t.delete(t.member, "busy")


def not_allowed(t):
    """openstack and cinder: what is not for everybody"""
    says(t.member.openstack("volume", "type", "create", "mine", status=1), "Policy doesn't allow volume_extension:type_create to be performed.")
    says(t.member.cinder("quota-class-update", "default", "--volumes", "1", status=1), "ERROR: Policy doesn't allow volume_extension:quota_classes:update to be performed. (HTTP 403)")


def without_a_login(t):
    """openstack: a wrong password"""
    says(t.member.mistyped().openstack("volume", "list", status=1), "The request you have made requires authentication. (HTTP 401)")


def versions(t):
    """cinder: the versions that are there"""
    found = t.member.cinder("version-list").table(["Id", "Status", "Updated", "Min Version", "Version"])
    same([(row["Id"], row["Status"], row["Min Version"], row["Version"]) for row in found], [("v3.0", "CURRENT", "3.0", "3.71")])


STEPS = [unknown, wrong_state, bad_values, not_allowed, without_a_login, versions]
