"""Starts the service with two back ends, makes the types that the suite expects, runs it, compares with the checked-in list.

The back ends are fake arrays; as root, storage nodes, whose volumes can be copied from one to the other."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import nothing  # noqa: E402

SUITES = {"block": r"^tempest\.api\.volume|^cinder_tempest_plugin\.api"}
TIMES = {"signal": signal.SIGTERM, "stop": 60}
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Node:
    """`stowage node` on a file system of its own: a back end whose volumes hold bytes."""

    def __init__(self, home, name):
        self.name, self.dir = name, home / "nodes" / name
        self.dir.parent.mkdir(exist_ok=True)
        self.address, portal = (f"127.0.0.1:{free_port()}" for _ in range(2))
        command = [os.environ["STOWAGE_BIN"], "node", "--dir", str(self.dir), "--listen", self.address, "--portal", portal, "--loop-size", "20G"]
        self.log = home / f"{name}.log"
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log.open("wb"))
        deadline = time.monotonic() + 60
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"a node did not start:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)

    def _ready(self):
        try:
            with OPENER.open(f"http://{self.address}/healthz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def section(self):
        return f"""
[[backend]]
name = "{self.name}"
driver = "linux"
[backend.grants]
http = ["{self.address}"]
[backend.secrets]
token = {{ file = "{self.dir / "token"}" }}
[backend.options]
nodes = ["here=http://{self.address}"]
"""

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def qemu_img():
    """The program that copies volumes, as tests/datapath/install.sh unpacks it; none where there are no nodes."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "../../target"))
    program = target.resolve() / "datapath/qemu/bin/qemu-img"
    return program if os.geteuid() == 0 and program.exists() and shutil.which("tgtd", path="/usr/sbin:/sbin:/usr/bin") else None


class Service:
    """`stowage serve` on free ports, in a folder of its own. The back ends `one` and `two` are nodes or memory."""

    def __init__(self, home, elsewhere, nodes):
        self.home, self.state = home, home / "state"
        self.log = home / "stowage.log"
        backends = "".join(node.section() for node in nodes) + "".join(f"""
[[backend]]
name = "{name}"
driver = "memory"
""" for name in (("three",) if nodes else ("one", "two")))
        copy = f'[copy]\nprogram = "{qemu_img()}"' if nodes else ""
        if nodes:
            drivers = self.state / "drivers"
            drivers.mkdir(parents=True)
            self.state.chmod(0o700)
            shutil.copy(pathlib.Path(os.environ["STOWAGE_DRIVERS"]) / "linux.wasm", drivers)
        (home / "stowage.toml").write_text(f"""state_dir = "{self.state}"
[listen]
identity = "127.0.0.1:0"
block = "127.0.0.1:0"
share = ""
admin = "127.0.0.1:0"
[block]
backend_name_field = false
[database]
durability = "process"
[identity.argon2]
memory_kib = 64
iterations = 1
[scheduler]
report_interval = "1s"
{copy}
[[identity.service]]
type = "network"
name = "nothing"
url = "{elsewhere}"
[[identity.service]]
type = "image"
name = "nothing"
url = "{elsewhere}"
{backends}""")
        env = {k: v for k, v in os.environ.items() if not k.startswith(("STOWAGE_", "OS_"))}
        self.process = subprocess.Popen([os.environ["STOWAGE_BIN"], "--config", str(home / "stowage.toml"), "serve"], env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log.open("ab"))
        self.password, self.auth_url = self._clouds()

    def _clouds(self):
        deadline = time.monotonic() + 60
        clouds = self.state / "clouds.yaml"
        while not (clouds.exists() and "password" in clouds.read_text()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the service did not start:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)
        text = clouds.read_text()
        value = lambda key: re.search(rf"{key}: *[\"']?([^\"'\n]+)", text).group(1)
        return value("password"), value("auth_url")

    def stop(self):
        self.process.send_signal(TIMES["signal"])
        try:
            return self.process.wait(TIMES["stop"])
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Client:
    """Just enough of the API to prepare it."""

    def __init__(self, service):
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": {
            "name": "admin", "domain": {"name": "Default"}, "password": service.password}}},
            "scope": {"project": {"name": "admin", "domain": {"name": "Default"}}}}}
        request = urllib.request.Request(f"{service.auth_url.rstrip('/')}/auth/tokens", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with OPENER.open(request, timeout=30) as answer:
            self.token = answer.headers["X-Subject-Token"]
            catalog = json.load(answer)["token"]["catalog"]
        service = next(s for s in catalog if s["type"] == "block-storage")
        self.url = next(e["url"] for e in service["endpoints"] if e["interface"] == "public")

    def ask(self, path, body=None):
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json", "X-Auth-Token": self.token})
        with OPENER.open(request, timeout=30) as answer:
            return json.load(answer)

    def first_pool(self):
        """What a pool says of itself, once both back ends have reported."""
        deadline = time.monotonic() + 30
        while True:
            pools = self.ask("/scheduler-stats/get_pools?detail=true")["pools"]
            if len(pools) >= 2:
                return pools[0]["capabilities"]
            if time.monotonic() > deadline:
                raise SystemExit(f"two back ends did not report: {pools}")
            time.sleep(0.1)


def lines(path):
    """Names, before what may stand behind a colon; # begins a comment."""
    text = path.read_text() if path.exists() else ""
    return [line.split(": ")[0] for line in text.splitlines() if line.strip() and not line.startswith("#")]


def results(stestr, home):
    """Test -> success, fail, skip, from the last run."""
    stream = subprocess.run([stestr, "last", "--subunit"], cwd=home, capture_output=True, check=False).stdout
    out = subprocess.run([str(pathlib.Path(stestr).parent / "subunit2csv"), "--no-passthrough"], input=stream, capture_output=True, check=False).stdout.decode()
    found = {}
    for line in out.splitlines()[1:]:
        fields = line.split(",")
        name = re.sub(r"\[.*\]$", "", line[:line.rfind("]") + 1] if "[" in fields[0] else fields[0]).strip('"')
        status = next((s for s in ("success", "fail", "skip", "exists", "xfail") if f",{s}," in line), "fail")
        found[name] = status
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--regex", help="only tests that match; the expected ones among them must pass")
    parser.add_argument("--concurrency", default="4")
    parser.add_argument("--keep", help="keep logs and results in this folder")
    ask = parser.parse_args()
    home = pathlib.Path(tempfile.mkdtemp(prefix="stowage-tempest-"))
    service, nodes = None, []
    try:
        if qemu_img():
            for name in ("one", "two"):
                nodes.append(Node(home, name))
        service = Service(home, nothing.serve(), nodes)
        client = Client(service)
        client.ask("/types", {"volume_type": {"name": "plain"}})
        client.ask("/types", {"volume_type": {"name": "shared", "extra_specs": {"multiattach": "<is> True"}}})
        pool = {key: client.first_pool()[key] for key in ("vendor_name", "storage_protocol")}
        template = (HERE / "tempest.conf.template").read_text()
        (home / "locks").mkdir()
        (home / "tempest.conf").write_text(template.format(home=home, password=service.password, auth_url=service.auth_url, **pool))
        return run(ask, home, bool(nodes))
    finally:
        status = service.stop() if service else 0
        for node in nodes:
            if node.stop() != 0:
                print(f"tempest: a node ended badly:\n{node.log.read_text()[-2000:]}")
        if ask.keep:
            shutil.copytree(home, ask.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("nodes"))
        shutil.rmtree(home, ignore_errors=True)
        if status != 0:
            print(f"tempest: the service ended with status {status}")


def run(ask, home, nodes):
    tempest, stestr = str(ask.bin / "tempest"), str(ask.bin / "stestr")
    env = {**os.environ, "PATH": f"{ask.bin}:{os.environ['PATH']}", "PYTHONWARNINGS": "ignore", "HOME": str(home), "NO_PROXY": "127.0.0.1",
           "no_proxy": "127.0.0.1", "TEMPEST_CONFIG_DIR": str(home), "TEMPEST_CONFIG": "tempest.conf"}
    subprocess.run([tempest, "init", str(home / "workspace")], env=env, capture_output=True, check=True)
    shutil.copy(home / "workspace" / ".stestr.conf", home)
    subprocess.run([stestr, "init"], cwd=home, env=env, capture_output=True, check=True)
    command = [tempest, "run", "--config-file", str(home / "tempest.conf"), "--regex", ask.regex or SUITES[ask.suite], "--concurrency", ask.concurrency]
    with (home / "run.log").open("wb") as log:
        subprocess.run(command, cwd=home, env=env, stdout=log, stderr=subprocess.STDOUT, check=False)
    text = (home / "run.log").read_text(errors="replace")
    found = results(stestr, home)
    expected = set(lines(HERE / f"expected-{ask.suite}.txt"))
    if nodes:
        expected |= set(lines(HERE / f"expected-{ask.suite}-nodes.txt"))
    else:
        print("left out: tests that need volumes with bytes in them (root, and tests/datapath/install.sh)")
    if ask.regex:
        expected = {name for name in expected if re.search(ask.regex, name)}
    passed = {name for name, status in found.items() if status == "success"}
    for name in sorted(expected - passed):
        print(f"LOST {name}: {found.get(name, 'did not run')}")
    for name in sorted(passed - expected):
        print(f"NEW {name}")
    known = set(lines(HERE / f"not-yet-{ask.suite}.txt"))
    for name, status in sorted(found.items()):
        if status == "fail" and name not in expected:
            print(f"{'WAITS' if name in known else 'FAILS'} {name}")
    totals = text[text.rfind("Totals"):] if "Totals" in text else text[-3000:]
    print(totals)
    print(f"{len(expected & passed)} passed, {len(expected - passed)} failed")
    return 1 if expected - passed or not expected else 0


if __name__ == "__main__":
    sys.exit(main())
