"""Starts the service as a suite wants it, runs the suite, compares with the checked-in lists; once for each run of the suite."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import results  # noqa: E402
import service  # noqa: E402
import suites  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("suite", choices=suites.SUITES)
    parser.add_argument("--run", help="only this run of the suite")
    parser.add_argument("--regex", help="only tests that match; the expected ones among them must pass")
    parser.add_argument("--all", action="store_true", help="also the tests that are known to wait for something")
    parser.add_argument("--concurrency", default="4")
    parser.add_argument("--keep", help="keep logs and results in this folder")
    ask = parser.parse_args()
    suite = suites.SUITES[ask.suite]
    lists = results.Lists(HERE, ask.suite, suite.runs)
    passed = failed = 0
    for name, run in suite.runs.items():
        if ask.run in (None, name):
            found, nodes = one(ask, lists, suite.regex, name, run)
            good, bad = results.compare(lists, name, ask.regex, found, nodes)
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def one(ask, lists, regex, name, run):
    """Test -> status, of one run, and whether it had storage nodes."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="stowage-tempest-"))
    running, nodes = None, []
    try:
        running = service.Service(home, run.api, run.config(home, nodes))
        values = run.prepare(running)
        (home / "locks").mkdir()
        template = (HERE / f"{run.template}.conf.template").read_text()
        (home / "tempest.conf").write_text(template.format(home=home, password=running.password, auth_url=running.auth_url, **values))
        return tempest(ask, lists, regex, name, home), bool(nodes)
    finally:
        status = running.stop() if running else 0
        for node in nodes:
            if node.stop() != 0:
                print(f"tempest: a node ended badly:\n{node.log.read_text()[-2000:]}")
        if ask.keep:
            shutil.copytree(home, pathlib.Path(ask.keep) / name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("nodes"))
        shutil.rmtree(home, ignore_errors=True)
        if status != 0:
            print(f"tempest: the service ended with status {status}")


def tempest(ask, lists, regex, name, home):
    program, stestr = str(ask.bin / "tempest"), str(ask.bin / "stestr")
    env = {**os.environ, "PATH": f"{ask.bin}:{os.environ['PATH']}", "PYTHONWARNINGS": "ignore", "HOME": str(home), "NO_PROXY": "127.0.0.1",
           "no_proxy": "127.0.0.1", "TEMPEST_CONFIG_DIR": str(home), "TEMPEST_CONFIG": "tempest.conf"}
    subprocess.run([program, "init", str(home / "workspace")], env=env, capture_output=True, check=True)
    shutil.copy(home / "workspace" / ".stestr.conf", home)
    subprocess.run([stestr, "init"], cwd=home, env=env, capture_output=True, check=True)
    command = [program, "run", "--config-file", str(home / "tempest.conf"), "--regex", ask.regex or regex, "--concurrency", ask.concurrency]
    if lists.left_out() and not ask.all:
        command += ["--exclude-regex", lists.left_out()]
    with (home / "run.log").open("wb") as log:
        subprocess.run(command, cwd=home, env=env, stdout=log, stderr=subprocess.STDOUT, check=False)
    text = (home / "run.log").read_text(errors="replace")
    print(f"== {name}" if name else "", text[text.rfind("Totals"):] if "Totals" in text else text[-3000:], sep="\n", flush=True)
    return results.read(stestr, home)


if __name__ == "__main__":
    sys.exit(main())
