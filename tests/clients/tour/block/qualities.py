"""QoS specs."""
from printed import holds, same, says


def create(t):
    """openstack: specs are made, listed and shown"""
    made = t.admin.openstack("volume", "qos", "create", "--consumer", "front-end", "--property", "total_iops_sec=500", "slow").shown()
    holds(made, name="slow", consumer="front-end", properties="total_iops_sec='500'")
    rows = t.admin.openstack("volume", "qos", "list").table(["ID", "Name", "Consumer", "Associations", "Properties"])
    same(rows, [{"ID": made["id"], "Name": "slow", "Consumer": "front-end", "Associations": "", "Properties": "total_iops_sec='500'"}])
    t.qos = made["id"]


def changed(t):
    """openstack and cinder: keys are set and unset"""
    t.admin.openstack("volume", "qos", "set", "--property", "read_iops_sec=100", "slow")
    t.admin.openstack("volume", "qos", "unset", "--property", "total_iops_sec", "slow")
    holds(t.admin.openstack("volume", "qos", "show", "slow").shown(), properties="read_iops_sec='100'", consumer="front-end")
    t.admin.cinder("qos-key", t.qos, "set", "write_iops_sec=50")
    holds(t.admin.cinder("qos-show", "slow").shown(), name="slow", consumer="front-end")
    rows = t.admin.cinder("qos-list").table(["ID", "Name", "Consumer", "specs"])
    same(rows[0]["specs"], "{'read_iops_sec': '100', 'write_iops_sec': '50'}", "the specs")


def associated(t):
    """openstack and cinder: with a type, and without it again"""
    t.admin.openstack("volume", "qos", "associate", "slow", "fast")
    holds(t.admin.openstack("volume", "qos", "show", "slow").shown(), associations="fast")
    rows = t.admin.cinder("qos-get-association", t.qos).table(["Association_Type", "Name", "ID"])
    same([(row["Association_Type"], row["Name"]) for row in rows], [("volume_type", "fast")])
    says(t.admin.openstack("volume", "qos", "delete", "slow", status=1), "1 of 1 QoS specifications failed to delete.")
    t.admin.openstack("volume", "qos", "disassociate", "--volume-type", "fast", "slow")
    same("associations" in t.admin.openstack("volume", "qos", "show", "slow").shown(), False, "it still names types")


def deleted(t):
    """openstack: specs are deleted, for administrators only"""
    says(t.member.openstack("volume", "qos", "list", status=1), "Policy doesn't allow volume_extension:qos_specs_manage:get_all to be performed.")
    t.admin.openstack("volume", "qos", "delete", "slow")
    same(t.admin.openstack("volume", "qos", "list").out.strip(), "", "the specs that are left")


STEPS = [create, changed, associated, deleted]
