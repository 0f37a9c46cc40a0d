"""QEMU's command line for a machine with sockets, SMT and NUMA nodes, and its processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tunectl.adapters.vm.debian_root import last_lines
from tunectl.core.errors import FailedError, problem

QEMU = "qemu-system-x86_64"
# Of the models that emulation knows, this one tells the guest about threads and cores.
_EMULATED_CPU = "Skylake-Server-v4"
_HARDWARE_CPU = "host"
_LOCAL_DISTANCE, _REMOTE_DISTANCE = 10, 21
_LAN_GROUP = "230.77.0.1"


@dataclass(frozen=True)
class Hardware:
    """What a lab machine is made of.

    Scale: `memory_mib` of each NUMA node; `cores` and `nodes` of each socket, `threads` of each core.
    """

    sockets: int
    cores: int
    threads: int
    nodes: int = 1
    memory_mib: int = 1024

    @property
    def cpus(self) -> int:
        """How many logical CPUs."""
        return self.sockets * self.cores * self.threads

    @property
    def numa_nodes(self) -> int:
        """How many NUMA nodes."""
        return self.sockets * self.nodes


@dataclass(frozen=True)
class Wiring:
    """Where a machine's parts are: disks, console log, and its ports on this computer."""

    disk: Path
    identity: Path
    console: Path
    pidfile: Path
    ssh_port: int
    lan_port: int = 0
    mac: str = "52:54:00:00:00:01"


def machine_arguments(hardware: Hardware, wiring: Wiring, *, accelerator: str) -> list[str]:
    """Return the command line of a machine that runs in the background."""
    cpu = _EMULATED_CPU if accelerator.startswith("tcg") else _HARDWARE_CPU
    return [
        *_base(hardware, accelerator, cpu),
        *_numa(hardware),
        *("-drive", f"file={_quoted(wiring.disk)},if=virtio,format=qcow2,cache=writeback,discard=unmap"),
        *("-drive", f"file={_quoted(wiring.identity)},if=virtio,format=raw,readonly=on"),
        *("-netdev", f"user,id=nat,hostfwd=tcp:127.0.0.1:{wiring.ssh_port}-:22"),
        *("-device", "virtio-net-pci,netdev=nat,mac=52:54:00:00:00:fe"),
        *_lan(wiring),
        *("-device", "virtio-rng-pci"),
        *("-serial", f"file:{_quoted(wiring.console)}"),
        *("-daemonize", "-pidfile", str(wiring.pidfile)),
    ]


@dataclass(frozen=True)
class BuildMedia:
    """What a disk is booted with for the first time: a kernel from outside, since it has no boot loader yet."""

    disk: Path
    identity: Path
    kernel: Path
    initrd: Path
    console: Path


def build_arguments(media: BuildMedia, *, accelerator: str) -> list[str]:
    """Return the command line that boots a fresh disk once, to install its boot loader."""
    cpu = _EMULATED_CPU if accelerator.startswith("tcg") else _HARDWARE_CPU
    kernel = ("-kernel", str(media.kernel), "-initrd", str(media.initrd))
    return [
        *_base(Hardware(1, 2, 1), accelerator, cpu),
        *("-drive", f"file={_quoted(media.disk)},if=virtio,format=raw,cache=unsafe,discard=unmap"),
        *("-drive", f"file={_quoted(media.identity)},if=virtio,format=raw,readonly=on"),
        *(*kernel, "-append", "root=/dev/vda1 rw console=ttyS0 panic=-1"),
        *("-serial", f"file:{_quoted(media.console)}", "-no-reboot"),
    ]


def probe_arguments(kernel: Path, initrd: Path, console: Path) -> list[str]:
    """Return the command line of a short boot under hardware acceleration, that ends by itself when it works."""
    hardware = Hardware(1, 1, 1, memory_mib=512)
    return [
        *_base(hardware, "kvm", _HARDWARE_CPU),
        *("-kernel", str(kernel), "-initrd", str(initrd), "-append", "console=ttyS0 panic=-1 init=/nowhere"),
        *("-serial", f"file:{_quoted(console)}", "-no-reboot"),
    ]


def _base(hardware: Hardware, accelerator: str, cpu: str) -> list[str]:
    smp = f"{hardware.cpus},sockets={hardware.sockets},cores={hardware.cores},threads={hardware.threads}"
    return [
        *(QEMU, "-machine", "q35", "-accel", accelerator, "-cpu", cpu, "-smp", smp),
        *("-m", str(hardware.memory_mib * hardware.numa_nodes)),
        *("-nodefaults", "-no-user-config", "-display", "none"),
    ]


def _numa(hardware: Hardware) -> list[str]:
    if hardware.numa_nodes == 1:
        return []
    per_node = hardware.cpus // hardware.numa_nodes
    arguments: list[str] = []
    for node in range(hardware.numa_nodes):
        first = node * per_node
        arguments += ["-object", f"memory-backend-ram,id=mem{node},size={hardware.memory_mib}M"]
        arguments += ["-numa", f"node,nodeid={node},cpus={first}-{first + per_node - 1},memdev=mem{node}"]
    for one in range(hardware.numa_nodes):
        for other in range(hardware.numa_nodes):
            distance = _LOCAL_DISTANCE if one == other else _REMOTE_DISTANCE
            arguments += ["-numa", f"dist,src={one},dst={other},val={distance}"]
    return arguments


def _lan(wiring: Wiring) -> list[str]:
    if not wiring.lan_port:
        return []
    return [
        *("-netdev", f"socket,id=lan,mcast={_LAN_GROUP}:{wiring.lan_port},localaddr=127.0.0.1"),
        *("-device", f"virtio-net-pci,netdev=lan,mac={wiring.mac}"),
    ]


def _quoted(path: Path) -> str:
    # In QEMU's options a comma is written twice.
    return str(path).replace(",", ",,")


def run_for(arguments: Sequence[str], seconds: float) -> None:
    """Run a machine in the foreground until it ends, or for so many seconds; its console tells how it went."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(arguments, capture_output=True, check=False, timeout=seconds, stdin=subprocess.DEVNULL)  # noqa: S603


def start(arguments: Sequence[str], name: str, console: Path) -> None:
    """Start a machine in the background; raises `FailedError` (TUN-4822) with what QEMU says."""
    done = subprocess.run(arguments, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").splitlines()
        # Emulation names every feature of the model that it leaves out.
        real = "\n".join(line for line in said if "TCG doesn't support" not in line)
        raise not_up(name, last_lines(real) or f"QEMU ended with {done.returncode}", console)


def not_up(name: str, why: str, console: Path) -> FailedError:
    """Return the error of a machine that does not run, with the last words of its console."""
    said = last_lines(console.read_text(encoding="utf-8", errors="replace"), 8) if console.is_file() else ""
    tail = f"\nThe last lines of its console:\n{said}" if said else ""
    fix = "give it more time with --timeout, or more memory with --memory"
    return FailedError((problem("TUN-4822", f"lab machine {name} is not up", where=name, why=why + tail, fix=fix),))


def running_pid(pidfile: Path, disk: Path) -> int:
    """Return the process of a machine, 0 when it is off: the number alone may belong to somebody else by now."""
    try:
        pid = int(pidfile.read_text(encoding="ascii").strip())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return 0
    return pid if pid > 0 and os.fsencode(_quoted(disk)) in command else 0


def cut_power(pidfile: Path, disk: Path, *, patience_s: float = 10.0) -> bool:
    """End a machine at once, as a cut of its power would; return whether it ran."""
    pid = running_pid(pidfile, disk)
    if not pid:
        return False
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + patience_s
    while running_pid(pidfile, disk) and time.monotonic() < deadline:
        time.sleep(0.05)
    pidfile.unlink(missing_ok=True)
    return True
