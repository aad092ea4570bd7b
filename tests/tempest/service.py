"""`stowage serve` in a folder of its own, and just enough of its API to prepare it."""
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

STOP = 60
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
CONFIG = """state_dir = "{state}"
[listen]
identity = "127.0.0.1:0"
block = "{block}"
share = "{share}"
admin = "127.0.0.1:0"
[database]
durability = "process"
[identity.argon2]
memory_kib = 64
iterations = 1
[scheduler]
report_interval = "1s"
"""


class Service:
    def __init__(self, home, api, more):
        """Serves one API, `block` or `share`, with `more` in its configuration, on free ports."""
        self.home, self.state = home, home / "state"
        self.log = home / "stowage.log"
        listen = {"block": "", "share": "", api: "127.0.0.1:0"}
        (home / "stowage.toml").write_text(CONFIG.format(state=self.state, **listen) + more)
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
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Client:
    """An administrator of the API of type `kind`."""

    def __init__(self, service, kind, headers=()):
        body = {"auth": {"identity": {"methods": ["password"], "password": {"user": {
            "name": "admin", "domain": {"name": "Default"}, "password": service.password}}},
            "scope": {"project": {"name": "admin", "domain": {"name": "Default"}}}}}
        request = urllib.request.Request(f"{service.auth_url.rstrip('/')}/auth/tokens", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with OPENER.open(request, timeout=30) as answer:
            token = answer.headers["X-Subject-Token"]
            catalog = json.load(answer)["token"]["catalog"]
        entry = next(s for s in catalog if s["type"] == kind)
        self.url = next(e["url"] for e in entry["endpoints"] if e["interface"] == "public")
        self.headers = {"Content-Type": "application/json", "X-Auth-Token": token, **dict(headers)}

    def ask(self, path, body=None):
        data = json.dumps(body).encode() if body else None
        with OPENER.open(urllib.request.Request(self.url + path, data, self.headers), timeout=30) as answer:
            return json.load(answer)

    def first_pool(self, path):
        """What a pool says of itself, once both back ends have reported."""
        deadline = time.monotonic() + 30
        while True:
            pools = self.ask(path)["pools"]
            if len(pools) >= 2:
                return pools[0]["capabilities"]
            if time.monotonic() > deadline:
                raise SystemExit(f"two back ends did not report: {pools}")
            time.sleep(0.1)
