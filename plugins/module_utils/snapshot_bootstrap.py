# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads what a bootstrap needs to know of a machine beside its usual snapshot; interprets nothing, changes nothing.

Of credentials only the presence is noted. It looks names up and asks programs for their version, which ordinary
snapshots never do, so that those stay as quick as they are.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence

from .core.bootstrap.places import (
    CA_FILE,
    CONTAINERD_CONFIG,
    FIREWALLS,
    JOURNAL,
    LISTENING_FILES,
    PROGRAMS,
    ROOM_PATHS,
    TRACES,
    UUID_FILE,
)
from .rooted_files import RootedFiles

_ASK = {
    "kubeadm": ("version", "-o", "short"),
    "kubelet": ("--version",),
    "kubectl": ("version", "--client"),
    "containerd": ("--version",),
    "crictl": ("--version",),
    "runc": ("--version",),
}
_PATHS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"
_FILES = (CONTAINERD_CONFIG, CA_FILE, JOURNAL, UUID_FILE, "/etc/crictl.yaml", "/proc/sys/net/ipv4/ip_forward")
_MODULES = ("overlay", "br_netfilter")
_ASK_LIMIT_S = 20
_SAID = 400


def read_bootstrap(files: RootedFiles, names: Sequence[str] = ()) -> dict[str, object]:
    """Add the files of a bootstrap to those read and return its facts; never raises for a file or program.

    Shape: `names` are looked up by the machine's own resolver. Below another root than `/` nothing is run or looked up,
    and what only a running machine can tell is not among the facts.
    """
    for path in _FILES:
        files.read(path)
    for path in LISTENING_FILES:
        text = files.peek(path)
        if text is not None:
            files.files[path] = "".join(line for line in text.splitlines(keepends=True) if " 0A " in line)
    found: dict[str, object] = {
        "present": sorted(path for path in TRACES if files.exists(path)),
        "macs": _addresses(files),
        "modules": _modules(files),
        "hostname": (files.peek("/proc/sys/kernel/hostname") or files.peek("/etc/hostname") or "").strip(),
    }
    if files.base:
        return found
    return {
        **found,
        "programs": {name: _program(name) for name in PROGRAMS},
        "room": _room(),
        "names": {name: _addresses_of(name) for name in names},
        "firewalls": _firewalls(),
        # last, so that the controller's two readings of its own clock lie close around it
        "epoch": time.time(),
    }


def _addresses(files: RootedFiles) -> dict[str, str]:
    """Return the MAC address of every interface with a device: bridges and tunnels may have any."""
    found = {}
    for path in files.glob("/sys/class/net/*/address"):
        interface = path.split("/")[4]
        address = (files.peek(path) or "").strip()
        if files.exists(f"/sys/class/net/{interface}/device") and address.strip("0:"):
            found[interface] = address
    return found


def _modules(files: RootedFiles) -> dict[str, str]:
    """Return for each module how the kernel has it: loaded, built in or loadable; "" where it does not."""
    release = (files.peek("/proc/sys/kernel/osrelease") or "").strip()
    loaded = files.peek("/proc/modules") or ""
    found = {}
    for name in _MODULES:
        how = "loaded" if any(line.startswith(f"{name} ") for line in loaded.splitlines()) else ""
        if not how and (files.exists(f"/sys/module/{name}") or _works(files, name)):
            how = "built in"
        for kind, file in (("built in", "modules.builtin"), ("loadable", "modules.dep")):
            text = files.peek(f"/lib/modules/{release}/{file}") if release and not how else None
            if text and any(f"/{name}.ko" in line.partition(":")[0] for line in text.splitlines()):
                how = kind
        found[name] = how
    return found


def _works(files: RootedFiles, name: str) -> bool:
    """Whether the kernel shows what the module brings: one that is built in need not be below /sys/module."""
    if name == "br_netfilter":
        return files.exists("/proc/sys/net/bridge")
    return "\toverlay\n" in (files.peek("/proc/filesystems") or "")


def _program(name: str) -> dict[str, str]:
    path = shutil.which(name, path=_PATHS) or ""
    asked = _ASK.get(name)
    if not path or asked is None:
        return {"path": path}
    return {"path": path, "said": _answer((path, *asked))}


def _answer(command: Sequence[str]) -> str:
    environment = {"PATH": _PATHS, "LC_ALL": "C", "HOME": "/nonexistent"}
    try:
        done = subprocess.run(  # noqa: S603  a program of the node's own, no shell
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ASK_LIMIT_S,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it did not answer: {error}"[:_SAID]
    return " ".join(done.stdout.decode("utf-8", "replace").split())[:_SAID]


def _room() -> dict[str, int]:
    found = {}
    for path in ROOM_PATHS:
        try:
            state = os.statvfs(path)
        except OSError:
            continue
        found[path] = state.f_bavail * state.f_frsize
    return found


def _addresses_of(name: str) -> object:
    try:
        answers = socket.getaddrinfo(name, None, proto=socket.IPPROTO_TCP)
    except OSError as error:
        return str(error)
    return sorted({str(answer[4][0]) for answer in answers})


def _firewalls() -> dict[str, str] | None:
    program = shutil.which("systemctl", path=_PATHS)
    if program is None:
        return None
    states = _answer((program, "is-active", *FIREWALLS)).split()
    return {FIREWALLS[at]: state for at, state in enumerate(states)} if len(states) == len(FIREWALLS) else None
