"""A tour of both APIs with the released clients: `openstack`, `cinder`, openstacksdk, python-cinderclient, python-manilaclient.

Every step checks what a client prints, or what a library gives back: columns and values, and the words of a refusal. The steps of
one topic build on each other, and leave nothing to the next topic but its types. Prints a line a step; the last one is `N passed, N
failed`. `tour.py share.kinds share.servers` visits these rooms only.
"""
import os
import shutil
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "..", "examples")]
os.environ.update(NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")

import yaml  # noqa: E402
from cinderclient import client  # noqa: E402
from keystoneauth1 import session  # noqa: E402
from keystoneauth1.service_token import ServiceTokenAuthWrapper  # noqa: E402

import block.rooms  # noqa: E402
import share.rooms  # noqa: E402
from demo_common import Failed, check  # noqa: E402
from person import Person  # noqa: E402
from service import Service  # noqa: E402

TOPICS = [*block.rooms.ROOMS, *share.rooms.ROOMS]


class Tour:
    """Who takes part, and the few words that the steps share."""

    def __init__(self, service):
        self.service = service
        with open(service.clouds) as f:
            auth = yaml.safe_load(f)["clouds"]["stowage"]["auth"]
        self.admin = Person(service, auth["project_name"], auth["username"], auth["password"])
        self.member, self.other = self.newcomer("shop", "mia"), self.newcomer("lab", "otto")
        self.nova = self.newcomer("services", "nova", "service")

    def newcomer(self, project, user, role="member"):
        cloud = self.admin.sdk
        cloud.get_role(role) or cloud.create_role(role)
        made = cloud.create_project(name=project, domain_id="default")
        cloud.identity.create_user(name=user, password="a password", domain_id="default", default_project_id=made.id)
        cloud.grant_role(role, user=user, project=made.id)
        return Person(self.service, project, user, "a password")

    def compute(self):
        """python-cinderclient as a compute service has it: a user's token and, beside it, the service's own."""
        auth = ServiceTokenAuthWrapper(user_auth=self.admin.sdk.session.auth, service_auth=self.nova.sdk.session.auth)
        return client.Client("3.71", session=session.Session(auth=auth), region_name="RegionOne")

    def create(self, person, name, *options):
        """A volume, once it is available."""
        made = person.openstack("volume", "create", *options, name).shown()["id"]
        self.settled(person, made)
        return made

    def settled(self, person, volume, status="available"):
        return self.until(lambda: person.library().volumes.get(person.volume(volume)), status)

    def settled_snapshot(self, person, snapshot, status="available"):
        return self.until(lambda: person.library().volume_snapshots.get(person.snapshot(snapshot)), status)

    def until(self, get, status):
        deadline = time.monotonic() + 60
        while (one := get()).status != status:
            check(not one.status.startswith("error"), f"{one.name} is {one.status}")
            check(time.monotonic() < deadline, f"{one.name} is still {one.status}")
            time.sleep(0.05)
        return one

    def delete(self, person, *volumes):
        ids = [person.volume(volume) for volume in volumes]
        person.openstack("volume", "delete", *volumes)
        self.gone(lambda: [v for v in person.library().volumes.list() if v.id in ids])

    def gone(self, listed):
        deadline = time.monotonic() + 60
        while left := listed():
            check(time.monotonic() < deadline, f"still there: {left}")
            time.sleep(0.05)

    def nothing_is_left(self):
        """nothing is left, and the service ends in order"""
        left = self.admin.library().volumes.list(search_opts={"all_tenants": 1}) + self.admin.library().volume_snapshots.list(search_opts={"all_tenants": 1})
        manila = self.admin.manila()
        for kind in (manila.shares, manila.share_snapshots, manila.share_networks, manila.share_servers, manila.security_services):
            left += kind.list(search_opts={"all_tenants": 1})
        check(not left, f"left: {left}")
        self.service.stop()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = tempfile.mkdtemp(prefix="stowage-tour-")
    service = Service(home)
    begun, passed, failed = time.monotonic(), 0, 0
    try:
        service.start()
        tour = Tour(service)
        wanted = sys.argv[1:]
        topics = [topic for topic in TOPICS if not wanted or topic.__name__ in wanted]
        steps = [(topic.__name__, lambda step=step: step(tour), step.__doc__) for topic in topics for step in topic.STEPS]
        steps.append(("end", tour.nothing_is_left, Tour.nothing_is_left.__doc__))
        for topic, step, text in steps:
            try:
                step()
            except Exception as e:  # noqa: BLE001 - what a library raises is a failed step
                failed += 1
                print(f"FAILED   {topic}: {text}\n  {e if isinstance(e, Failed) else repr(e)}", flush=True)
            else:
                passed += 1
                print(f"ok       {topic}: {text}", flush=True)
        if failed:
            print("--- the service's last words\n" + service.last_words())
    finally:
        try:
            service.stop()
        finally:
            shutil.rmtree(home, ignore_errors=True)
    print(f"the whole tour: {time.monotonic() - begun:.1f} s, {sum(os.times()[:4]):.1f} s of CPU for the clients and the service")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
