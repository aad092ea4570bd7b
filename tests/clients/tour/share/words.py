"""What the rooms of the share API have in common: a share once it is there, what goes once it is gone."""
import time

from demo_common import check


def create(t, person, name, *options, proto="NFS", size=1):
    """The id of a new share, once it is available."""
    made = person.share("create", proto, str(size), "--name", name, *options).shown()["id"]
    settled(t, person, made)
    return made


def settled(t, person, share, status="available"):
    return t.until(lambda: person.manila().shares.get(share), status)


def ruled(person, share):
    """Waits until the share's rules are applied."""
    return until(lambda: person.manila().shares.get(share).access_rules_status, "active", "the rules")


def until(get, wanted, what):
    deadline = time.monotonic() + 60
    while (found := get()) != wanted:
        check(found != "error", f"{what}: {found}")
        check(time.monotonic() < deadline, f"{what}: still {found}")
        time.sleep(0.05)
    return found


def delete(t, person, *shares):
    person.share("delete", *shares)
    t.gone(lambda: [share for share in person.manila().shares.list() if share.id in shares or share.name in shares])
