"""One user of the cloud with the released clients: the commands `openstack` and `cinder`, and the libraries.

The commands run their own `main` in a forked copy of this process, with what they print kept: starting an interpreter and
importing a client costs a second of CPU, and the tour runs hundreds. `typed` starts the real one.
"""
import contextlib
import copy
import io
import logging
import os
import subprocess
import sys
import tempfile
import traceback
import uuid

import openstack
from cinderclient import client as cinder_library
from cinderclient import shell as cinder_shell
from demo_common import check
from manilaclient import client as manila_library
from openstackclient import shell as openstack_shell

from printed import Printed

def quiet():
    """A client adds handlers of its own; with none at all Python would add one that prints everything."""
    logging.basicConfig(handlers=[logging.NullHandler()], level=logging.WARNING, force=True)


quiet()
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    # loads the plugins once for all copies
    openstack_shell.OpenStackShell().run(["module", "list"])
quiet()
BIN = os.path.dirname(sys.executable)


class Person:
    def __init__(self, service, project, user, password):
        self.project, self.service = project, service
        self.auth = {"auth_url": service.identity, "username": user, "password": password, "project_name": project,
                     "user_domain_name": "Default", "project_domain_name": "Default"}
        self.env = {"OS_" + key.upper(): value for key, value in self.auth.items()}
        self.env.update(OS_REGION_NAME="RegionOne", OS_IDENTITY_API_VERSION="3", HOME=service.home, NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")
        self.sdk = openstack.connect(auth=self.auth, region_name="RegionOne", app_name="stowage-tour", load_yaml_config=False, load_envvars=False,
                                     block_storage_api_version="3", shared_file_system_api_version="2", shared_file_system_default_microversion="2.98")
        self.project_id = self.sdk.current_project_id

    def mistyped(self):
        """The same, with a wrong password."""
        one = copy.copy(self)
        one.env = self.env | {"OS_PASSWORD": "a pasword"}
        return one

    def library(self, version="3.71"):
        """python-cinderclient without its command."""
        return cinder_library.Client(version, session=self.sdk.session, region_name="RegionOne")

    def manila(self, version="2.98"):
        """python-manilaclient, which has no command of its own."""
        return manila_library.Client(version, session=self.sdk.session, region_name="RegionOne")

    def volume(self, name):
        """The id of the volume of this name, or what was given where it is an id."""
        return name if is_id(name) else self.library().volumes.find(name=name).id

    def snapshot(self, name):
        """The same for a snapshot."""
        return name if is_id(name) else self.library().volume_snapshots.find(name=name).id

    def openstack(self, *command, version="3.71", status=0):
        """What `openstack` prints."""
        command = ("--os-volume-api-version", version, *command)
        return self.within("openstack", command, status, lambda: openstack_shell.OpenStackShell().run(list(command)))

    def share(self, *command, version="2.98", status=0):
        """What `openstack share` prints."""
        command = ("--os-share-api-version", version, "share", *command)
        return self.within("openstack", command, status, lambda: openstack_shell.OpenStackShell().run(list(command)))

    def cinder(self, *command, version="3.71", status=0):
        """What `cinder` prints."""
        command = ("--os-volume-api-version", version, *command)
        return self.within("cinder", command, status, lambda: cinder_main(list(command)))

    def typed(self, *command, status=0):
        """A command as a person types it: a process of its own."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("OS_")} | self.env | {"PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": self.service.temporary}
        done = subprocess.run([os.path.join(BIN, command[0]), *command[1:]], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        return ended(Printed(" ".join(command), done.returncode, done.stdout, done.stderr), status)

    def within(self, name, command, status, main):
        """Runs a client's `main` in a copy of this process: what a client keeps in its modules is gone with it."""
        sys.stdout.flush()
        sys.stderr.flush()
        with tempfile.TemporaryFile(dir=self.service.temporary) as out, tempfile.TemporaryFile(dir=self.service.temporary) as err:
            child = os.fork()
            if child == 0:
                self.be(main, out.fileno(), err.fileno())
            _, ended_with = os.waitpid(child, 0)
            out.seek(0), err.seek(0)
            return ended(Printed(f"{name} {' '.join(command[2:])}", os.waitstatus_to_exitcode(ended_with), out.read().decode(), err.read().decode()), status)

    def be(self, main, out, err):
        found = 70
        try:
            os.dup2(out, 1)
            os.dup2(err, 2)
            for key in [key for key in os.environ if key.startswith("OS_")]:
                del os.environ[key]
            os.environ.update(self.env)
            try:
                found = main()
            except SystemExit as end:
                found = end.code
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:  # noqa: BLE001 - the copy never gets to the tour's own code
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(int(found or 0))


def is_id(name):
    try:
        uuid.UUID(name)
    except ValueError:
        return False
    return True


def cinder_main(command):
    """`cinder`'s own `main`, which takes the command line from `sys.argv`."""
    before = sys.argv
    sys.argv = ["cinder", *command]
    try:
        return cinder_shell.main()
    finally:
        sys.argv = before


def ended(printed, status):
    check(printed.status == status, f"{printed.command}: status {printed.status}\n{printed.out}{printed.err}")
    return printed
