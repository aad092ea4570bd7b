"""What the demo's files share."""
import os
import random
import socket


class Failed(Exception):
    pass


def check(fact, otherwise):
    if not fact:
        raise Failed(otherwise)


def free_ports(count):
    """Ports below the kernel's range for outgoing connections: the service comes back on them after the kill."""
    found = []
    while len(found) < count:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def replace(path, data):
    """As an operator's tool should: the file is whole at every moment."""
    partial = path + ".partial"
    with open(partial, "wb") as f:
        f.write(data)
    os.rename(partial, path)
