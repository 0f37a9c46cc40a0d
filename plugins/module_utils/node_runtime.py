# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Prepares a machine for containers: kernel modules, forwarding, containerd and crictl, services that start at boot."""

from __future__ import annotations

from dataclasses import dataclass, field

from .bootstrap_files import place, read_text, write_whole
from .bootstrap_programs import must, run
from .core.bootstrap.places import CONTAINERD_CONFIG
from .core.errors import FailedError, problem

_MODULES = ("overlay", "br_netfilter")
_MODULES_FILE = "/etc/modules-load.d/tunectl-kubernetes.conf"
_SYSCTL_FILE = "/etc/sysctl.d/90-tunectl-kubernetes.conf"
_SYSCTLS = {
    "net.ipv4.ip_forward": "1",
    "net.bridge.bridge-nf-call-iptables": "1",
    "net.bridge.bridge-nf-call-ip6tables": "1",
}
_CRICTL_FILE = "/etc/crictl.yaml"


@dataclass(frozen=True)
class RuntimeState:
    """What a machine's runtime is. Shape: `version` is the daemon's answer, `config` its file, None where absent."""

    version: str
    config: str | None


@dataclass(frozen=True)
class Prepared:
    """What was changed. Shape: `changed` names files and services; `dump` is the daemon's effective configuration."""

    changed: tuple[str, ...]
    dump: str = ""
    diffs: tuple[tuple[str, str, str], ...] = field(default=())


def look(root: str) -> RuntimeState:
    """Return what containerd says of itself and what its configuration file holds; raises TUN-4740 without one."""
    done = must(["containerd", "--version"], "TUN-4740", "containerd does not answer")
    return RuntimeState(" ".join(done.out.split()), read_text(root, CONTAINERD_CONFIG))


def prepare(root: str, config: str | None, socket: str, *, dry: bool = False) -> Prepared:
    """Make the machine ready for a kubelet and return what was changed; a machine that is ready stays as it is.

    Shape: `config` is the text of config.toml, None to leave it. Files of others are kept before they are replaced.
    Sad paths: `FailedError` TUN-4740 with the step that failed.
    """
    wanted = {
        _MODULES_FILE: "".join(f"{name}\n" for name in _MODULES),
        _SYSCTL_FILE: "".join(f"{name} = {value}\n" for name, value in _SYSCTLS.items()),
        _CRICTL_FILE: f"runtime-endpoint: {socket}\nimage-endpoint: {socket}\n",
        **({CONTAINERD_CONFIG: config} if config is not None else {}),
    }
    before = {path: read_text(root, path) for path in wanted}
    differing = [path for path, text in wanted.items() if before[path] != text]
    diffs = tuple((path, before[path] or "", wanted[path]) for path in differing)
    if dry:
        return Prepared(tuple(differing), diffs=diffs)
    for path in differing:
        write_whole(root, path, wanted[path], keep=True)
    changed = [*differing, *_modules(root), *_sysctls(root)]
    changed += _services(restart=CONTAINERD_CONFIG in differing)
    dump = must(["containerd", "config", "dump"], "TUN-4740", "containerd does not tell its configuration")
    return Prepared(tuple(changed), dump.out, diffs)


def _modules(root: str) -> list[str]:
    missing = [name for name in _MODULES if not _is_there(root, name)]
    for name in missing:
        must(["modprobe", name], "TUN-4740", f"the kernel does not load the module {name}")
    return [f"module {name}" for name in missing]


def _is_there(root: str, name: str) -> bool:
    """Whether the kernel has a module, loaded or built in: what it brings is there then."""
    if place(root, f"/sys/module/{name}").exists():
        return True
    if name == "br_netfilter":
        return place(root, "/proc/sys/net/bridge").exists()
    return "\toverlay\n" in (read_text(root, "/proc/filesystems") or "")


def _sysctls(root: str) -> list[str]:
    changed = []
    for name, value in _SYSCTLS.items():
        path = place(root, "/proc/sys/" + name.replace(".", "/"))
        if path.exists() and path.read_text(encoding="ascii").strip() == value:
            continue
        try:
            path.write_text(value, encoding="ascii")
        except OSError as error:
            why = error.strerror or str(error)
            raise FailedError(
                (problem("TUN-4740", f"{name} cannot be set", where=str(path), why=why, fix="see dmesg"),),
                "The files are written; they take effect at the next boot.",
            ) from error
        changed.append(name)
    return changed


def _services(*, restart: bool) -> list[str]:
    changed = []
    for unit in ("containerd.service", "kubelet.service"):
        if run(["systemctl", "is-enabled", "--quiet", unit]).code:
            must(["systemctl", "enable", unit], "TUN-4740", f"{unit} cannot be made to start at boot")
            changed.append(f"{unit} enabled")
    if restart or run(["systemctl", "is-active", "--quiet", "containerd.service"]).code:
        must(["systemctl", "restart", "containerd.service"], "TUN-4740", "containerd does not start")
        changed.append("containerd.service restarted")
    return changed
