"""Storage nodes: back ends whose volumes hold bytes, so that they can be copied from one to the other. As root."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

import service

HERE = pathlib.Path(__file__).parent


class Node:
    """`stowage node` on a file system of its own."""

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
            with service.OPENER.open(f"http://{self.address}/healthz", timeout=5) as answer:
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


def put_driver(home):
    """The nodes' driver into the plugin folder that the service will have."""
    state = home / "state"
    (state / "drivers").mkdir(parents=True)
    state.chmod(0o700)
    shutil.copy(pathlib.Path(os.environ["STOWAGE_DRIVERS"]) / "linux.wasm", state / "drivers")
