"""Runs every examples/walk-throughs/*.sh against a service of its own, as a reader would."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "examples"))
from demo_common import free_ports  # noqa: E402

# share-networks.sh says why it needs the networks and the last back end
BACKENDS = """
[[backend]]
name = "memory"
driver = "memory"

[[backend]]
name = "shares"
driver = "memory"
kind = "share"

[network]
[[network.subnet]]
id = "walk-v4"
network_id = "walk"
cidr = "10.77.0.0/24"
[[network.subnet]]
id = "walk-v6"
network_id = "walk"
cidr = "fd77::/64"

[[backend]]
name = "tenants"
driver = "memory"
kind = "share"
[backend.options]
driver_handles_share_servers = "yes"
multiple_subnets = true
allocation_update = true
ip_versions = ["4", "6"]
"""


def ready(admin):
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{admin}/healthz", timeout=5) as answer:
            return json.load(answer)["status"] == "ok"
    except OSError:
        return False


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="stowage-walk-") as home:
        identity, block, share, admin = free_ports(4)
        config = os.path.join(home, "stowage.toml")
        with open(config, "w") as f:
            f.write(f'state_dir = "{home}/state"\n[listen]\n' + "".join(
                f'{name} = "127.0.0.1:{port}"\n' for name, port in
                (("identity", identity), ("block", block), ("share", share), ("admin", admin))) + BACKENDS)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("OS_", "XDG_"))}
        env.update(HOME=home, OS_CLIENT_CONFIG_FILE=os.path.join(home, "state", "clouds.yaml"), STOWAGE_ADMIN_URL=f"http://127.0.0.1:{admin}")
        with open(os.path.join(home, "log"), "wb") as log:
            service = subprocess.Popen([os.environ["STOWAGE_BIN"], "--config", config, "serve"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        try:
            deadline = time.monotonic() + 90
            while not ready(admin):
                if service.poll() is not None or time.monotonic() > deadline:
                    print(open(os.path.join(home, "log")).read()[-4000:])
                    sys.exit("the service is not ready")
                time.sleep(0.1)
            for walk in sorted(glob.glob(os.path.join(ROOT, "examples", "walk-throughs", "*.sh"))):
                if os.path.basename(walk) == "common.sh":
                    continue
                done = subprocess.run(["bash", walk], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
                ok = done.returncode == 0 and done.stdout.rstrip().endswith("# done")
                print(f"{'ok' if ok else 'FAILED':8} {os.path.basename(walk)}")
                if not ok:
                    print(done.stdout[-3000:], done.stderr[-2000:])
                passed, failed = passed + ok, failed + (not ok)
        finally:
            service.send_signal(signal.SIGTERM)
            try:
                service.wait(timeout=60)
            except subprocess.TimeoutExpired:
                service.kill()
                service.wait()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
