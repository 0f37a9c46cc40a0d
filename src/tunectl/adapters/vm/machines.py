"""The lab machines of one lab: made, started, found again, cut off."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tunectl.adapters.vm.acceleration import accelerator_for
from tunectl.adapters.vm.debian_root import program
from tunectl.adapters.vm.disk import run
from tunectl.adapters.vm.identity import (
    KNOWN_HOSTS,
    Neighbour,
    known_hosts_line,
    make_key,
    ssh_arguments,
    ssh_command,
    write_identity,
)
from tunectl.adapters.vm.image import Say, image_for, images_directory
from tunectl.adapters.vm.qemu import Hardware, Wiring, cut_power, machine_arguments, not_up, running_pid, start
from tunectl.app.lab import NodeSpec
from tunectl.core.errors import InputError, RefusedError, problem
from tunectl.core.machine import topology_from_facts
from tunectl.lab.inventory import SSH_KEY

_BOOT_S = 900.0
_MOST_CPUS = 64
# QEMU's own needs beside the memory of the guest.
_OVERHEAD_MIB = 150


class Machines:
    """Builds and runs virtual machines; `say` tells the user what takes long."""

    def __init__(self, distro: str, memory_mib: int, say: Say) -> None:
        """Look at nothing yet. Scale: `memory_mib` of each NUMA node."""
        self._distro = distro
        self._memory_mib = memory_mib
        self._say = say

    def build(self, draft: Path, place: Path, specs: Sequence[NodeSpec]) -> dict[str, Any]:
        """Make keys and disks in `draft`, which becomes `place`, and return what the description says about them.

        Raises `InputError` (TUN-1621) for a machine that QEMU cannot stand for, `RefusedError` (TUN-3622) for more
        memory than there is, and what `image_for` raises.
        """
        hardware = {spec.name: hardware_of(spec.machine, self._memory_mib) for spec in specs}
        _need_memory(hardware.values())
        image = image_for(self._distro, self._say)
        user_key = make_key(draft, SSH_KEY)
        everyone = [Neighbour(spec.name, index) for index, spec in enumerate(specs, 1)]
        nodes: dict[str, dict[str, Any]] = {}
        ports = free_ports(len(specs) + 1)
        for me, port in zip(everyone, ports, strict=False):
            directory = draft / "nodes" / me.name
            directory.mkdir(parents=True)
            public = write_identity(directory / "identity", me, everyone, user_key)
            alias = f"{place.name}-{me.name}"
            with (draft / KNOWN_HOSTS).open("a", encoding="ascii") as known:
                known.write(known_hosts_line(alias, public))
            overlay = str(directory / "disk.qcow2")
            backing = ["-b", str(image.disk), "-F", "qcow2"]
            run([program("qemu-img"), "create", "-q", "-f", "qcow2", *backing, overlay], "make a disk")
            machine = hardware[me.name]
            nodes[me.name] = {
                "ssh_port": port,
                "ssh_alias": alias,
                "ssh_args": ssh_arguments(place, alias),
                "lan_address": me.address,
                "mac": me.mac,
                "hardware": vars(machine),
                "memory_kib": machine.memory_mib * machine.numa_nodes << 10,
            }
        accelerator = accelerator_for(image, images_directory())
        return {"distro": self._distro, "accelerator": accelerator, "lan_port": ports[-1], "nodes": nodes}

    def start(self, place: Path, data: Mapping[str, Any]) -> None:
        """Start the machines that are off, all at once, and wait until each answers on SSH.

        Raises `FailedError` (TUN-4822) with the end of the console of the one that does not.
        """
        off = [node for node in data["nodes"] if not self.is_running(place, node)]
        for node in off:
            wiring = _wiring(place, node, data["vm"]["lan_port"])
            arguments = machine_arguments(Hardware(**node["hardware"]), wiring, accelerator=data["vm"]["accelerator"])
            start(arguments, node["name"], wiring.console)
        if off:
            how = "emulated, which takes its time" if data["vm"]["accelerator"].startswith("tcg") else "accelerated"
            self._say(f"booting {', '.join(node['name'] for node in off)} ({how})")
        deadline = time.monotonic() + _BOOT_S
        for node in off:
            self._wait(place, node, deadline)

    def stop(self, place: Path, data: Mapping[str, Any]) -> None:
        """Cut the power of every machine that runs."""
        for node in data["nodes"]:
            self.cut(place, node)

    def cut(self, place: Path, node: Mapping[str, Any]) -> bool:
        """Cut the power of one machine; return whether it ran."""
        directory = place / "nodes" / node["name"]
        return cut_power(directory / "pid", directory / "disk.qcow2")

    def is_running(self, place: Path, node: Mapping[str, Any]) -> bool:
        """Return whether the process of a machine is there."""
        directory = place / "nodes" / node["name"]
        return running_pid(directory / "pid", directory / "disk.qcow2") > 0

    def shell(self, place: Path, node: Mapping[str, Any]) -> Sequence[str]:
        """Return the command that opens a session on a machine."""
        return ssh_command(place, node["ssh_alias"], node["ssh_port"])

    def _wait(self, place: Path, node: Mapping[str, Any], deadline: float) -> None:
        console = place / "nodes" / node["name"] / "console.log"
        command = [*ssh_command(place, node["ssh_alias"], node["ssh_port"], quick=True), "true"]
        while True:
            done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
            if done.returncode == 0:
                return
            if not self.is_running(place, node):
                raise not_up(node["name"], "its process has ended", console)
            if time.monotonic() > deadline:
                said = done.stderr.decode("utf-8", "replace").strip()
                raise not_up(node["name"], f"it did not answer on SSH within {_BOOT_S:g} s: {said}", console)
            time.sleep(1)


def hardware_of(machine: Mapping[str, Any], memory_mib: int) -> Hardware:
    """Return the machine that QEMU shall build for described facts; raises `InputError` (TUN-1621).

    QEMU builds equal sockets of equal cores, with NUMA nodes of equal size.
    """
    topology = topology_from_facts(machine)
    sockets = len({cpu.socket for cpu in topology.cpus})
    cores = len(topology.cores)
    cpus = len(topology.cpus)
    nodes = len(topology.numa_nodes)
    name = str(machine.get("name", "machine"))
    if cpus > _MOST_CPUS:
        raise _not_buildable(name, f"it has {cpus} CPUs, a lab machine {_MOST_CPUS} at most")
    if cores % sockets or cpus % cores or nodes % sockets or (cpus // sockets) % (nodes // sockets):
        raise _not_buildable(name, "its sockets, cores or NUMA nodes are not all alike")
    return Hardware(sockets, cores // sockets, cpus // cores, nodes // sockets, memory_mib)


def _not_buildable(name: str, why: str) -> InputError:
    fix = "give a shape like --shape 2s2c2t, or simulate the machine with --kind sim"
    return InputError((problem("TUN-1621", "there is no lab machine like this one", where=name, why=why, fix=fix),))


def _wiring(place: Path, node: Mapping[str, Any], lan_port: int) -> Wiring:
    directory = place / "nodes" / node["name"]
    return Wiring(
        disk=directory / "disk.qcow2",
        identity=directory / "identity",
        console=directory / "console.log",
        pidfile=directory / "pid",
        ssh_port=node["ssh_port"],
        lan_port=lan_port,
        mac=node["mac"],
    )


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that nobody listens on just now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _need_memory(machines: Iterable[Hardware]) -> None:
    need = sum(one.memory_mib * one.numa_nodes + _OVERHEAD_MIB for one in machines)
    free = available_mib(Path("/proc/meminfo").read_text(encoding="ascii"))
    if free is not None and need > free:
        raise RefusedError(
            (
                problem(
                    "TUN-3622",
                    "this computer has too little memory for the lab",
                    where="--memory",
                    why=f"the machines need {need} MiB, {free} MiB are available",
                    fix="fewer machines with --count, or less memory for each NUMA node with --memory",
                ),
            ),
            "Nothing was changed.",
        )


def available_mib(meminfo: str) -> int | None:
    """Return the memory that programs can still get, None when the kernel does not tell."""
    for line in meminfo.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 10
    return None
