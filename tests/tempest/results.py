"""What a run of stestr found, and how that compares with the checked-in lists."""
import collections
import pathlib
import re
import subprocess


def lines(path):
    """Names, and what stands behind a colon; # begins a comment."""
    text = path.read_text() if path.exists() else ""
    kept = (line.partition(": ") for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return {name: rest for name, _, rest in kept}


def read(stestr, home):
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


class Lists:
    """expected-SUITE.txt: every test that must pass, and after a colon in which runs of the suite if not in all.
    expected-SUITE-nodes.txt: those that must pass beside them where the back ends are storage nodes.
    not-yet-SUITE.txt: tests, or with a * at the end many, and what they wait for."""

    def __init__(self, folder, suite, runs):
        self.expected = {name: set(rest.split(", ")) if rest else set(runs) for name, rest in lines(folder / f"expected-{suite}.txt").items()}
        self.of_nodes = set(lines(folder / f"expected-{suite}-nodes.txt"))
        self.waits = lines(folder / f"not-yet-{suite}.txt")

    def must(self, run, regex, nodes):
        names = {name for name, runs in self.expected.items() if run in runs} | (self.of_nodes if nodes else set())
        return {name for name in names if not regex or re.search(regex, name)}

    def reason(self, name):
        """What a test waits for: the longest entry that names it."""
        inner = re.sub(r"^\w+ \((.*)\)$", r"\1", name)
        fits = [key for key in self.waits if key in (name, inner) or (key.endswith("*") and inner.startswith(key[:-1]))]
        return self.waits[max(fits, key=len)] if fits else None

    def left_out(self):
        """Tests that need not be run, as a regular expression."""
        return "|".join("^" + re.escape(key[:-1]) for key in self.waits if key.endswith(".*"))


def compare(lists, run, regex, found, nodes):
    """Names what is lost, new, and failing; returns how many of the expected passed and how many did not."""
    label = f" in {run}" if run else ""
    if lists.of_nodes and not nodes:
        print("left out: tests that need volumes with bytes in them (root, and tests/datapath/install.sh)")
    expected = lists.must(run, regex, nodes)
    passed = {name for name, status in found.items() if status == "success"}
    for name in sorted(expected - passed):
        print(f"LOST {name}{label}: {found.get(name, 'did not run')}")
    for name in sorted(passed - expected):
        print(f"NEW {name}{label}")
    waiting = collections.Counter()
    for name, status in sorted(found.items()):
        if status == "fail" and name not in expected:
            reason = lists.reason(name)
            if reason:
                waiting[reason] += 1
            else:
                print(f"FAILS {name}{label}")
    for reason, count in sorted(waiting.items()):
        print(f"WAITS {count} for {reason}{label}")
    return len(expected & passed), len(expected - passed)
