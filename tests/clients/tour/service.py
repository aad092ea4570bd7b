"""A `stowage serve` of the tour's own: back ends of the memory driver for both APIs, nothing outside one temporary folder."""
import json
import os
import signal
import subprocess
import time
import urllib.request

from demo_common import Failed, check, free_ports

# one back end without share servers; two with them, of which one refuses to give a live server another subnet
SHARES = """
[share]
enabled_share_protocols = ["NFS", "CIFS", "CEPHFS"]
unused_share_server_cleanup_interval = "1h"
[network]
[[network.subnet]]
id = "tour-v4"
network_id = "tour"
cidr = "10.77.0.0/24"
vlan = 120
[[network.subnet]]
id = "tour-v6"
network_id = "tour"
cidr = "fd77::/64"
[[network.subnet]]
id = "tour-small"
network_id = "tour"
cidr = "10.78.0.0/24"
ranges = ["10.78.0.9"]
[[network.subnet]]
id = "tour-lab"
network_id = "tour"
cidr = "10.79.0.0/24"
[[backend]]
name = "files"
driver = "memory"
kind = "share"
[backend.options]
pools = ["silver:100:thin,disk=ssd"]
share_protocols = ["nfs", "cifs", "cephfs"]
admin_export_address = "192.0.2.99"
[[backend]]
name = "tenants"
driver = "memory"
kind = "share"
[backend.options]
pools = ["room:100"]
driver_handles_share_servers = "yes"
multiple_subnets = true
allocation_update = true
ip_versions = ["4", "6"]
[[backend]]
name = "walls"
driver = "memory"
kind = "share"
[backend.options]
pools = ["cell:100"]
driver_handles_share_servers = "yes"
multiple_subnets = true
allocation_update = true
allocation_update_refusal = "the ports of this array are full"
"""


class Service:
    def __init__(self, home):
        self.home = home
        self.clouds = os.path.join(home, "state", "clouds.yaml")
        identity, block, share, self.admin = free_ports(4)
        self.identity = f"http://127.0.0.1:{identity}/v3"
        self.config = os.path.join(home, "stowage.toml")
        with open(self.config, "w") as f:
            f.write(f"""state_dir = "{home}/state"
[listen]
identity = "127.0.0.1:{identity}"
block = "127.0.0.1:{block}"
share = "127.0.0.1:{share}"
admin = "127.0.0.1:{self.admin}"
[identity.argon2]
memory_kib = 64
iterations = 1
[scheduler]
report_interval = "1s"
[block.resource_filters]
volume = ["name~", "status", "metadata", "bootable", "size"]
snapshot = ["name~", "status", "volume_id", "metadata", "availability_zone", "consumes_quota"]
[[backend]]
name = "memory1"
driver = "memory"
[backend.options]
pools = ["gold:100:thin,disk=ssd"]
[[backend]]
name = "memory2"
driver = "memory"
[backend.options]
pools = ["iron:60:multiattach=no"]
multiattach = false
replication_targets = ["east", "west"]
""" + SHARES)
        # whatever it or a client may leave behind would be found here
        self.temporary = os.path.join(home, "tmp")
        os.mkdir(self.temporary)
        self.log = open(os.path.join(home, "log"), "ab")
        self.process = None

    def start(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("STOWAGE_", "OS_", "XDG_"))}
        env.update(HOME=self.home, TMPDIR=self.temporary)
        self.process = subprocess.Popen([os.environ["STOWAGE_BIN"], "--config", self.config, "serve"], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, env=env)
        deadline = time.monotonic() + 90
        while not self.healthy():
            check(self.process.poll() is None, f"the service ended with {self.process.returncode}")
            check(time.monotonic() < deadline, "the service is not ready after 90 s")
            time.sleep(0.05)

    def healthy(self):
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{self.admin}/healthz", timeout=5) as answer:
                return json.load(answer)["status"] == "ok"
        except OSError:
            return False

    def stop(self):
        """Ends it, and says what is not as it should be then."""
        if not self.process:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process = None
        self.log.close()
        left = [os.path.join(folder, name) for folder, _, names in os.walk(self.temporary) for name in names]
        if status or left:
            raise Failed(f"the service ended with {status} and left {left}")

    def last_words(self):
        with open(os.path.join(self.home, "log"), errors="replace") as f:
            return "".join(line[:300].rstrip() + "\n" for line in f.readlines()[-25:])
