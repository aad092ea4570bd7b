"""The demo's steps. Each is printed with its time; the first that is not as promised ends the demo with status 1.

Commands are the released `openstack` and `cinder`; what those would do slowly, or only with a Nova, is done with the
library below `cinder` (python-cinderclient).
"""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from demo_bytes import Bytes
from demo_common import Failed, check, free_ports, replace

BIN = sys.argv[1]
STOWAGE = os.environ["STOWAGE_BIN"]
DRIVERS = os.environ["STOWAGE_DRIVERS"]


class Service:
    """`stowage serve` on a state folder of its own."""

    def __init__(self, home):
        self.home = home
        self.state = os.path.join(home, "state")
        self.identity, self.block, self.share, self.admin = free_ports(4)
        self.config = os.path.join(home, "stowage.toml")
        self.configure()
        self.process = None
        self.log = open(os.path.join(home, "stowage.log"), "ab")
        self.temporary = os.path.join(home, "tmp")
        os.mkdir(self.temporary)

    def configure(self, options="", more=""):
        """Writes the configuration, with these options of the memory driver, and more of it."""
        replace(self.config, f"""state_dir = "{self.state}"
[listen]
identity = "127.0.0.1:{self.identity}"
block = "127.0.0.1:{self.block}"
share = "127.0.0.1:{self.share}"
admin = "127.0.0.1:{self.admin}"
[quota]
volumes = -1
gigabytes = -1
[scheduler]
report_interval = "1s"
[[backend]]
name = "memory"
driver = "memory"
[backend.options]
{options}
{more}""".encode())

    def start(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("STOWAGE_", "OS_", "XDG_"))}
        # whatever it may leave behind would be found there
        env.update(HOME=self.home, TMPDIR=self.temporary)
        self.process = subprocess.Popen([STOWAGE, "--config", self.config, "serve"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=self.log, env=env)
        deadline = time.monotonic() + 60
        while True:
            check(self.process.poll() is None, f"the service ended with {self.process.returncode}")
            try:
                if self.get("/healthz", None)["status"] == "ok":
                    return
            except OSError:
                pass
            check(time.monotonic() < deadline, "the service is not ready after 60 s")
            time.sleep(0.02)

    def get(self, path, token, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.admin}{path}", method=method,
                                         headers={"X-Auth-Token": token} if token else {})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.load(answer)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def rows(self, query):
        """Two columns of the database of a service that does not run, as a dictionary."""
        db = sqlite3.connect(f"file:{os.path.join(self.state, 'stowage.db')}?mode=ro", uri=True)
        try:
            return dict(db.execute(query).fetchall())
        finally:
            db.close()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                return self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode if self.process else 0


class Demo:
    def __init__(self, home):
        self.service = Service(home)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("OS_")}
        self.env.update(HOME=home, OS_CLIENT_CONFIG_FILE=os.path.join(self.service.state, "clouds.yaml"), NO_PROXY="127.0.0.1", no_proxy="127.0.0.1",
                        PYTHONDONTWRITEBYTECODE="1", TMPDIR=self.service.temporary)
        self.clone = clone_status()

    def run(self, *command):
        done = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        check(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def openstack(self, *command):
        print("    $ openstack", " ".join(command))
        out = self.run("openstack", "--os-cloud", "stowage", *command, *(["-f", "json"] if SHOWN & set(command[:3]) else []))
        return json.loads(out) if out.strip().startswith(("{", "[")) else out

    def cinder(self, *command):
        print("    $ cinder --os-volume-api-version 3.54", " ".join(command))
        return self.run("cinder", "--os-volume-api-version", "3.54", *command)

    def log_in(self):
        """The same clouds.yaml for `cinder`, which reads the environment, and for the library."""
        import openstack
        from cinderclient import client
        self.env_file = self.env["OS_CLIENT_CONFIG_FILE"]
        os.environ.update(OS_CLIENT_CONFIG_FILE=self.env_file, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")
        cloud = openstack.connect(cloud="stowage", app_name="stowage-demo")
        auth = cloud.config.config["auth"]
        for key, value in auth.items():
            self.env["OS_" + key.upper()] = value
        self.env["OS_REGION_NAME"] = cloud.config.get_region_name() or ""
        self.token = cloud.session.get_token()
        self.session = cloud.session
        self.client = lambda version="3.54": client.Client(version, session=self.session, region_name=cloud.config.get_region_name())
        return self.client()

    # ------------------------------------------------------------------ steps

    def start(self):
        """start on an empty state folder"""
        self.service.start()
        mode = os.stat(os.path.join(self.service.state, "clouds.yaml")).st_mode & 0o777
        check(mode == 0o600, f"clouds.yaml has mode {mode:o}")
        self.cinder_client = self.log_in()

    def multi_attach_volume(self):
        """openstack: a multi-attach type and a volume of it"""
        self.openstack("volume", "type", "create", "--property", "multiattach=<is> True", "shared")
        self.volume = self.openstack("volume", "create", "--size", "1", "--type", "shared", "both")["id"]
        self.wait(self.volume, "available")
        shown = self.openstack("volume", "show", self.volume)
        check(shown["status"] == "available" and shown["multiattach"], f"not a multi-attach volume: {shown}")

    def attach_twice(self):
        """cinder: attach it for two hosts, without a server"""
        for host in ("one", "two"):
            out = self.cinder("attachment-create", "--connect", "True", "--host", host, "--ip", "10.0.0.1", "--initiator", f"iqn.2026-01.org.example:{host}", self.volume)
            check("connection_info" in out or "driver_volume_type" in out, f"no connection in the answer:\n{out}")
        self.attachments = [a.id for a in self.cinder_client.attachments.list(search_opts={"volume_id": self.volume})]
        check(len(self.attachments) == 2, f"attachments: {self.attachments}")
        for attachment in self.attachments:
            self.cinder("attachment-complete", attachment)
        check(self.cinder_client.volumes.get(self.volume).status == "in-use", "the volume is not in-use")

    def copies(self):
        """openstack and cinder: snapshot, copies of snapshot and volume, a larger size, back to the snapshot"""
        source = self.openstack("volume", "create", "--size", "1", "source")["id"]
        self.wait(source, "available")
        taken = self.openstack("volume", "snapshot", "create", "--volume", "source", "taken")["id"]
        self.wait_for(self.cinder_client.volume_snapshots, taken, "available")
        listed = self.openstack("volume", "snapshot", "list")
        check([s["ID"] for s in listed] == [taken], f"snapshots: {listed}")
        for option, name in (("--snapshot", "from-snapshot"), ("--source", "from-volume")):
            made = self.openstack("volume", "create", option, "taken" if option == "--snapshot" else "source", name)["id"]
            self.wait(made, "available")
        self.cinder("revert-to-snapshot", taken)
        self.wait(source, "available")
        self.wait_for(self.cinder_client.volume_snapshots, taken, "available")
        self.openstack("volume", "set", "--size", "2", "source")
        self.wait(source, "available")
        check(self.cinder_client.volumes.get(source).size == 2, "the volume has its old size")
        self.openstack("volume", "snapshot", "delete", "taken")
        deadline = time.monotonic() + 60
        while self.cinder_client.volume_snapshots.list():
            check(time.monotonic() < deadline, "the snapshot is still there")
            time.sleep(0.05)
        self.openstack("volume", "delete", "source", "from-snapshot", "from-volume")

    def swap_driver(self):
        """swap the driver's file while calls run"""
        folder = os.path.join(self.service.state, "drivers")
        before = self.incarnation()
        stop, failures, calls = threading.Event(), [], [0]

        def loop(n):
            client = self.client()
            while not stop.is_set():
                try:
                    volume = client.volumes.create(1, name=f"loop-{n}")
                    self.wait(volume.id, "available", client)
                    attachment = client.attachments.create(volume.id, {"host": f"loop-{n}", "initiator": f"iqn.2026-01.org.example:loop-{n}", "ip": "10.0.0.1"}, None)
                    attachment = attachment if isinstance(attachment, dict) else attachment.to_dict()
                    client.attachments.delete(attachment.get("id") or attachment["attachment"]["id"])
                    self.wait(volume.id, "available", client)
                    client.volumes.delete(volume.id)
                    calls[0] += 4
                except Exception as e:  # noqa: BLE001 - any failure counts
                    failures.append(repr(e))

        threads = [threading.Thread(target=loop, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        seen = set()
        try:
            for n in range(3):
                time.sleep(1)
                replace(os.path.join(folder, "memory.wasm"), variant(f"demo {n}"))
                deadline = time.monotonic() + 30
                while self.incarnation() in seen | {before}:
                    check(time.monotonic() < deadline, "the new driver is not in service after 30 s")
                    time.sleep(0.05)
                seen.add(self.incarnation())
            time.sleep(1)
        finally:
            stop.set()
            for t in threads:
                t.join()
        print(f"    {len(seen)} swaps, {calls[0]} calls, {len(failures)} failed")
        check(not failures, "\n".join(failures[:5]))
        check(calls[0] > 0, "no call ran")

    def bad_driver(self):
        """a broken driver file leaves the good one serving"""
        before = self.incarnation()
        path = os.path.join(self.service.state, "drivers", "memory.wasm")
        good = open(path, "rb").read()
        replace(path, b"not a component")
        answer = self.service.get("/stowage/v1/drivers/reload", self.token, "POST")
        print("    " + json.dumps(answer)[:300])
        volume = self.cinder_client.volumes.create(1, name="after-a-bad-file")
        self.wait(volume.id, "available")
        check(self.incarnation() == before, "the bad file replaced the driver")
        replace(path, good)
        self.cinder_client.volumes.delete(volume.id)

    def slow_array(self):
        """a changed configuration, without a restart: from now on every create takes the array 0.2 s"""
        self.service.configure('faults = ["volumes.create=delay:200"]')
        deadline, took = time.monotonic() + 30, 0
        while took < 0.2:
            check(time.monotonic() < deadline, "the configuration is not in force after 30 s")
            at = time.monotonic()
            volume = self.cinder_client.volumes.create(1, name="how-long")
            self.wait(volume.id, "available", pause=0.005)
            took = time.monotonic() - at
            self.cinder_client.volumes.delete(volume.id)
        print(f"    a create takes {took:.2f} s")

    def kill_during_creates(self):
        """kill -9 during 50 creates, start again"""
        client = self.client()
        ids, lock = [], threading.Lock()

        def create(n):
            try:
                volume = client.volumes.create(1, name=f"kill-{n}")
                with lock:
                    ids.append(volume.id)
            except Exception:  # noqa: BLE001 - the service is being killed; a create whose answer was lost is found below
                pass

        threads = [threading.Thread(target=lambda first=k: [create(n) for n in range(first, 50, 10)]) for k in range(10)]
        for t in threads:
            t.start()
        deadline = time.monotonic() + 60
        while len(ids) < 25 and time.monotonic() < deadline:
            time.sleep(0.001)
        self.service.kill()
        at_the_kill = self.service.rows("SELECT status, COUNT(*) FROM volumes WHERE name LIKE 'kill-%' GROUP BY status")
        print(f"    at the kill: {at_the_kill}")
        check(at_the_kill.get("creating"), "the kill hit no create in flight: it shows nothing")
        self.service.start()
        for t in threads:
            t.join()
        client = self.log_in()
        answered = set(ids)
        # the kill may fall between a create's commit and its answer: that volume exists as well
        ids = [v.id for v in client.volumes.list(search_opts={"all_tenants": 1}) if v.name.startswith("kill-")]
        check(answered <= set(ids), f"accepted, and gone: {answered - set(ids)}")
        accepted = len(ids)
        for n in range(50 - accepted):
            ids.append(client.volumes.create(1, name=f"kill-more-{n}").id)
        ends = {}
        for volume in ids:
            status = self.wait(volume, ("available", "error"), client)
            ends[status] = ends.get(status, 0) + 1
            if status == "error":
                messages = [m for m in client.messages.list() if m.resource_uuid == volume]
                check(messages, f"{volume} is in error without a reason")
        print(f"    accepted: {accepted}, {accepted - len(answered)} of them unanswered; in the end: {ends}")
        stuck = [v for v in client.volumes.list(search_opts={"all_tenants": 1}) if v.status not in ("available", "error", "in-use")]
        check(not stuck, f"stuck: {[(v.id, v.status) for v in stuck]}")
        self.cinder_client, self.made = client, ids

    def detach_and_delete(self):
        """detach, delete, nothing is left"""
        for attachment in self.attachments:
            self.cinder("attachment-delete", attachment)
        self.wait(self.volume, "available")
        self.openstack("volume", "delete", "both")
        for volume in self.made:
            self.cinder_client.volumes.delete(volume)
        deadline = time.monotonic() + 60
        while left := self.cinder_client.volumes.list(search_opts={"all_tenants": 1}):
            check(time.monotonic() < deadline, f"left: {[(v.name, v.status) for v in left]}")
            time.sleep(0.1)
        self.openstack("volume", "type", "delete", "shared")

    def quota_check_and_start(self):
        """stop in order; the quota check finds no drift with the volumes there; start again"""
        self.quota_check()
        self.service.start()
        self.cinder_client = self.log_in()

    def quota_check_at_the_end(self):
        """stop in order; the quota check finds no drift with everything gone"""
        self.quota_check()

    def nothing_is_left(self):
        """nothing is left: no process, no temporary file, nothing new in the clone"""
        processes = [line for line in command_lines() if self.service.home in line]
        check(not processes, "still running:\n" + "\n".join(processes))
        files = [os.path.join(folder, name) for folder, _, names in os.walk(self.service.temporary) for name in names]
        check(not files, "temporary files:\n" + "\n".join(files))
        strange = set(os.listdir(self.service.home)) - {"state", "stowage.toml", "stowage.log", "tmp", ".cache", ".config", "node", "node.log"}
        check(not strange, f"in the home folder: {strange}")
        check(clone_status() == self.clone, f"the clone has changed:\n{clone_status()}")

    def quota_check(self):
        status = self.service.stop()
        check(status == 0, f"the service ended with {status}")
        done = subprocess.run([STOWAGE, "--config", self.service.config, "manage", "quota", "check"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        print("    " + (done.stdout + done.stderr).strip().replace("\n", "\n    "))
        check(done.returncode == 0, "there is drift")

    # ---------------------------------------------------------------- helpers

    def wait(self, volume, statuses, client=None, pause=0.05):
        statuses = (statuses,) if isinstance(statuses, str) else statuses
        client = client or self.cinder_client
        deadline = time.monotonic() + 60
        while (status := client.volumes.get(volume).status) not in statuses:
            check(not status.startswith("error"), f"volume {volume} is {status}")
            check(time.monotonic() < deadline, f"volume {volume} is still {status}")
            time.sleep(pause)
        return status

    def wait_for(self, manager, one, status):
        deadline = time.monotonic() + 60
        while (now := manager.get(one).status) != status:
            check(not now.startswith("error"), f"{one} is {now}")
            check(time.monotonic() < deadline, f"{one} is still {now}")
            time.sleep(0.05)

    def incarnation(self):
        for driver in self.service.get("/stowage/v1/drivers", self.token)["drivers"]:
            if driver["name"] == "memory":
                return driver.get("active_hash") or driver.get("sha256") or driver.get("hash")
        raise Failed("no driver memory")


SHOWN = {"create", "show", "list"}


def variant(text):
    """The memory driver with one more custom section: other bytes, so another driver to the service."""
    name, data = b"demo", text.encode()
    payload = bytes([len(name)]) + name + data
    with open(os.path.join(DRIVERS, "memory.wasm"), "rb") as f:
        return f.read() + b"\x00" + bytes([len(payload)]) + payload


def command_lines():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                yield pid + " " + f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            pass  # it has ended


def clone_status():
    """What git says of the clone; nothing where this is none."""
    clone = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return subprocess.run(["git", "-C", clone, "status", "--porcelain"], capture_output=True, text=True).stdout if shutil.which("git") else ""


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    home = tempfile.mkdtemp(prefix="stowage-demo-")
    demo = Demo(home)
    steps = [demo.start, demo.multi_attach_volume, demo.attach_twice, demo.copies, demo.swap_driver, demo.bad_driver, demo.slow_array, demo.kill_during_creates,
             demo.quota_check_and_start, demo.detach_and_delete]
    disk = Bytes(demo, STOWAGE, DRIVERS, os.environ.get("STOWAGE_QEMU_IO", ""))
    if disk.left_out:
        print(f"left out: bytes on a disk, over iSCSI: {disk.left_out}")
    else:
        steps += disk.steps()
    steps += [demo.quota_check_at_the_end, demo.nothing_is_left]
    begun, passed = time.monotonic(), 0
    try:
        for n, step in enumerate(steps, 1):
            print(f"{n}. {step.__doc__}", flush=True)
            at = time.monotonic()
            step()
            print(f"   done in {time.monotonic() - at:.1f} s", flush=True)
            passed += 1
    except Failed as e:
        print(f"   FAILED: {e}")
        demo.service.log.flush()
        with open(os.path.join(home, "stowage.log"), errors="replace") as f:
            print("   --- the service's last words\n" + "".join(line[:300].rstrip() + "\n" for line in f.readlines()[-25:]))
    finally:
        disk.end()
        demo.service.stop()
        demo.service.log.close()
        shutil.rmtree(home, ignore_errors=True)
    print(f"the whole demo: {time.monotonic() - begun:.1f} s")
    print(f"{passed} passed, {len(steps) - passed} failed")
    return 0 if passed == len(steps) else 1


if __name__ == "__main__":
    sys.exit(main())
