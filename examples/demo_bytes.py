"""The demo's second half: bytes on a disk. `stowage node` turns this machine into an array (btrfs in a file, iSCSI by tgt), the
driver `linux` speaks to it, and two userspace initiators read and write. It needs root and Debian's packages, which
`demo.sh` installs; without them it is left out, and the demo says so.
"""
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request

from demo_common import check, free_ports, replace

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
GIB = 1 << 30


class Initiator:
    """A host with an iSCSI name of its own, in userspace."""

    def __init__(self, qemu_io, host):
        self.qemu_io, self.host, self.name = qemu_io, host, f"iqn.2026-01.org.example:{host}"

    def connector(self):
        return {"host": self.host, "ip": "127.0.0.1", "initiator": self.name, "multipath": False, "os_type": "linux", "platform": "x86_64"}

    def run(self, at, *commands, write=False):
        """What qemu-io prints; None when it could not log in, or an operation failed."""
        options = (f"driver=raw,file.driver=iscsi,file.transport=tcp,file.portal={at['target_portal']},file.target={at['target_iqn']},"
                   f"file.lun={at['target_lun']},file.initiator-name={self.name},file.user={at['auth_username']},file.password={at['auth_password']}")
        command = [self.qemu_io, *([] if write else ["-r"]), "--image-opts", options]
        for c in commands:
            command += ["-c", c]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return None
        out = done.stdout + done.stderr
        return out if done.returncode == 0 and "failed" not in out and "rror" not in out else None

    def write(self, at, pattern, length="1M"):
        check(self.run(at, f"write -P {pattern} 0 {length}", "flush", write=True), f"{self.host} cannot write")

    def reads(self, at, pattern):
        return self.run(at, f"read -P {pattern} 0 1M") is not None

    def length(self, at):
        return (self.run(at, "length") or "").strip()


class Bytes:
    def __init__(self, demo, stowage, drivers, qemu_io):
        self.demo, self.stowage, self.drivers = demo, stowage, drivers
        self.home = os.path.join(demo.service.home, "node")
        self.node, self.attachments = None, {}
        self.one, self.two = Initiator(qemu_io, "one"), Initiator(qemu_io, "two")
        self.left_out = self.lacks(qemu_io)

    def lacks(self, qemu_io):
        if os.geteuid() != 0:
            return "it needs root"
        if not qemu_io:
            return "it needs a userspace initiator (tests/datapath/install.sh)"
        self.api, self.portal = (f"127.0.0.1:{port}" for port in free_ports(2))
        asked = subprocess.run([self.stowage, "node", "--dir", self.home, "--listen", self.api, "--portal", self.portal, "--check"],
                               capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return "" if asked.returncode == 0 else (asked.stdout + asked.stderr).strip()

    def steps(self):
        return [self.storage_node, self.two_initiators, self.copies, self.detach, self.delete, self.node_ends]

    # ------------------------------------------------------------------ steps

    def storage_node(self):
        """this machine as an array; its driver and its back end come without a restart"""
        self.url = f"http://{self.api}"
        self.log = open(os.path.join(self.demo.service.home, "node.log"), "ab")
        self.node = subprocess.Popen([self.stowage, "node", "--dir", self.home, "--loop-size", "3G", "--listen", self.api,
                                      "--portal", self.portal], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log)
        self.until(lambda: self.node.poll() is not None or self.is_ready(), "the node is not ready")
        check(self.node.poll() is None, f"the node ended with {self.node.returncode}")
        token = os.path.join(self.home, "token")
        with open(token) as f:
            self.token = f.read().strip()
        with open(os.path.join(self.drivers, "linux.wasm"), "rb") as f:
            replace(os.path.join(self.demo.service.state, "drivers", "linux.wasm"), f.read())
        self.demo.service.configure(more=f"""
[[backend]]
name = "linux"
driver = "linux"
grants.http = ["{self.api}"]
secrets.token = {{ file = "{token}" }}
options.nodes = ["here={self.url}"]
""")
        pools = lambda: [p.name for p in self.client.pools.list()]
        self.until(lambda: "stowage@linux#here" in pools(), "the node is no pool")
        self.demo.openstack("volume", "type", "create", "--property", "volume_backend_name=linux", "--property", "multiattach=<is> True", "bytes")

    def two_initiators(self):
        """one volume, two initiators: one writes, the other reads"""
        self.free = self.capacity()["free_bytes"]
        self.volume = self.make("--size", "1", "--type", "bytes", "on-disk")
        at_one, at_two = self.attach(self.volume, self.one), self.attach(self.volume, self.two)
        self.one.write(at_one, 0xA1)
        check(self.two.reads(at_two, 0xA1), "the other initiator reads something else")
        stranger = Initiator(self.one.qemu_io, "stranger")
        check(not stranger.reads(at_one, 0xA1), "an initiator that is not attached could read")
        check(not self.one.reads({**at_one, "auth_password": "wrong-secret"}, 0xA1), "a wrong CHAP secret was taken")

    def copies(self):
        """snapshot, clone, revert and extend, by content"""
        at = self.attachments[self.volume, "one"][1]
        taken = self.client.volume_snapshots.create(self.volume, force=True, name="taken").id
        self.demo.wait_for(self.client.volume_snapshots, taken, "available")
        self.one.write(at, 0xB2)
        from_snapshot = self.make("--snapshot", taken, "from-taken")
        clone = self.make("--source", self.volume, "clone")
        for volume, pattern, what in ((from_snapshot, 0xA1, "the snapshot"), (clone, 0xB2, "the volume")):
            check(self.one.reads(self.attach(volume, self.one), pattern), f"a copy of {what} has not its content")
            self.let_go(volume, "one")
        self.let_go(self.volume, "one")
        self.let_go(self.volume, "two")
        self.demo.wait(self.volume, "available")
        self.demo.cinder("revert-to-snapshot", taken)
        self.demo.wait(self.volume, "available")
        self.demo.openstack("volume", "set", "--size", "2", self.volume)
        self.demo.wait(self.volume, "available")
        at_one = self.attach(self.volume, self.one)
        self.attach(self.volume, self.two)
        check(self.one.reads(at_one, 0xA1), "the revert did not bring the snapshot's content back")
        check(self.one.length(at_one) == "2 GiB", f"the initiator sees {self.one.length(at_one)}, not 2 GiB")
        self.extra, self.taken = [from_snapshot, clone], taken

    def detach(self):
        """detach cuts access, and nobody else's"""
        at_one, at_two = self.attachments[self.volume, "one"][1], self.attachments[self.volume, "two"][1]
        self.let_go(self.volume, "one")
        check(not self.one.reads(at_one, 0xA1), "a detached initiator could read")
        check(self.two.reads(at_two, 0xA1), "the other initiator lost its access")
        self.two.write(at_two, 0xC3, "500M")
        self.let_go(self.volume, "two")

    def delete(self):
        """delete frees the space"""
        full = self.capacity()["free_bytes"]
        check(full < self.free - (400 << 20), f"500 MiB were written, and {full} of {self.free} bytes are free")
        self.client.volume_snapshots.delete(self.taken)
        self.until(lambda: not self.client.volume_snapshots.list(), "the snapshot is still there")
        for volume in [self.volume, *self.extra]:
            self.demo.wait(volume, "available")
            self.client.volumes.delete(volume)
        self.until(lambda: not self.client.volumes.list(), "volumes are still there")
        self.until(lambda: self.capacity()["free_bytes"] > self.free - (64 << 20), "the space has not come back")
        check(self.capacity()["volumes"] == 0, f"the node still has volumes: {self.capacity()}")
        self.demo.openstack("volume", "type", "delete", "bytes")

    def node_ends(self):
        """the node ends in order: no target, no mount, no loop device is left"""
        self.demo.service.configure()
        self.node.send_signal(signal.SIGTERM)
        check(self.node.wait(timeout=60) == 0, f"the node ended with {self.node.returncode}")
        with open("/proc/mounts") as f:
            check(self.home not in f.read(), "its file system is still mounted")

    # ---------------------------------------------------------------- helpers

    @property
    def client(self):
        return self.demo.cinder_client

    def make(self, *how):
        volume = self.demo.openstack("volume", "create", *how)["id"]
        self.demo.wait(volume, "available")
        return volume

    def attach(self, volume, initiator):
        made = self.client.attachments.create(volume, initiator.connector(), None)
        made = made if isinstance(made, dict) else made.to_dict()
        made = made.get("attachment", made)
        self.client.attachments.complete(made["id"])
        self.attachments[volume, initiator.host] = (made["id"], made["connection_info"])
        return made["connection_info"]

    def let_go(self, volume, host):
        self.client.attachments.delete(self.attachments.pop((volume, host))[0])

    def ask(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.token}"} if path != "/healthz" else {})
        with OPENER.open(request, timeout=30) as answer:
            return json.load(answer)

    def is_ready(self):
        try:
            return self.ask("/healthz")["status"] == "ok"
        except OSError:
            return False

    def capacity(self):
        return self.ask("/v1/capacity")

    def until(self, fact, otherwise):
        deadline = time.monotonic() + 60
        while not fact():
            check(time.monotonic() < deadline, f"{otherwise} after 60 s")
            time.sleep(0.05)

    def end(self):
        """Whatever happened: no process and no mount is left."""
        if self.node and self.node.poll() is None:
            self.node.send_signal(signal.SIGTERM)
            try:
                self.node.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.node.kill()
        shutil.rmtree(self.home, ignore_errors=True)
