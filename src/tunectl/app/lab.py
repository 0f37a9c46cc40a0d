"""Labs: simulated nodes and virtual machines that belong to a folder. Bring up, list, take down."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tunectl.core.errors import InputError, RefusedError, problem

DEFAULT_NAME = "default"
DEFAULT_POOL = "hpc-massive"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}\Z")
_POOL = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_MOST_NODES = 1000
KINDS = ("sim", "vm")
USUAL_DISTRO = "debian12"
USUAL_MEMORY_MIB = 1024
_USUAL_SHAPE = "2s2c2t"
_LEAST_MEMORY_MIB, _MOST_MEMORY_MIB = 256, 1 << 20


@dataclass(frozen=True)
class NodeSpec:
    """One node to build: `machine` are facts of the described-machine format, `profile` names its software."""

    name: str
    pool: str
    machine: Mapping[str, Any]
    profile: str


@dataclass(frozen=True)
class LabNode:
    """One node of a lab.

    Scale: `memory_kib` kibibytes; `ssh_port` on this computer, 0 for simulated nodes, which are always running.
    """

    name: str
    pool: str
    machine: str
    profile: str
    cpus: int
    numa_nodes: int
    memory_kib: int
    root: Path
    ssh_port: int = 0
    is_running: bool = True


@dataclass(frozen=True)
class Lab:
    """A lab that is up. `inventory` is an Ansible inventory with one group a pool."""

    name: str
    inventory: Path
    nodes: tuple[LabNode, ...]
    kind: str = "sim"

    @property
    def is_simulated(self) -> bool:
        """Whether its nodes are directory trees."""
        return self.kind == "sim"


@dataclass(frozen=True)
class LabRequest:
    """What `lab up` was asked for; without machines, shapes, snapshots and topologies it is the default cluster.

    Scale: `memory_mib` mebibytes for each NUMA node of a virtual machine, 0 for the usual amount.
    """

    name: str = DEFAULT_NAME
    kind: str = "sim"
    count: int | None = None
    pool: str = ""
    profile: str = ""
    machines: Sequence[str] = ()
    shapes: Sequence[str] = ()
    snapshots: Sequence[Path] = ()
    topologies: Sequence[Path] = ()
    distro: str = ""
    memory_mib: int = 0
    force: bool = False

    @property
    def is_default(self) -> bool:
        """Whether nothing but the name was said."""
        machines = (*self.machines, *self.shapes, *self.snapshots, *self.topologies)
        return self.kind == "sim" and not any((self.count, self.pool, self.profile, *machines))


class LabStore(Protocol):
    """The labs of a folder, and the machines they can be built of."""

    def machine(self, name: str) -> Mapping[str, Any]:
        """Return the facts of a shipped machine; raises `InputError` for an unknown name."""
        ...

    def shape(self, text: str) -> Mapping[str, Any]:
        """Return the facts of a machine of a shape; raises `InputError` for what is none."""
        ...

    def captured(self, path: Path) -> Sequence[Mapping[str, Any]]:
        """Return the machines in a snapshot file; raises `InputError`."""
        ...

    def described(self, path: Path) -> Mapping[str, Any]:
        """Return the machine in a description file; raises `InputError`."""
        ...

    def profiles(self) -> Sequence[str]:
        """Return the names of the software profiles."""
        ...

    def get(self, name: str) -> Lab | None:
        """Return the lab of that name, None when there is none; raises `InputError` when it cannot be read."""
        ...

    def names(self) -> Sequence[str]:
        """Return the names of the labs of the folder, ascending."""
        ...

    def create(self, name: str, kind: str, specs: Sequence[NodeSpec]) -> Lab:
        """Build and start a lab, whole or not at all, in place of one of that name."""
        ...

    def start(self, name: str) -> Lab:
        """Start the nodes of a lab that are off."""
        ...

    def cut(self, name: str, node: str) -> bool:
        """Take the power from a node; return whether it ran."""
        ...

    def remove(self, name: str) -> bool:
        """Remove a lab with its nodes; return whether there was one."""
        ...


@dataclass(frozen=True)
class LabUp:
    """What `lab up` did: `created` is false when the lab was there already, `started` are the nodes that were off."""

    lab: Lab
    created: bool = True
    started: tuple[str, ...] = ()


# The machine of the OpenShift report, and three that were captured: whole pools of equal nodes, and single ones.
_DEFAULT_CLUSTER = (
    ("massive-1", "hpc-massive", "xeon-8358-2s32c2t", "debian12"),
    ("massive-2", "hpc-massive", "xeon-8358-2s32c2t", "debian12"),
    ("standard-1", "hpc-standard", "xeon-6230-2s20c2t", "ubuntu2404"),
    ("standard-2", "hpc-standard", "xeon-6230-2s20c2t", "ubuntu2404"),
    ("latency-1", "latency-sensitive", "xeon-6130-2s16c1t", "debian13"),
    ("batch-1", "batch", "icelake-1s12c1t", "ubuntu2204"),
)
_USUAL_PROFILE = "debian12"


def ensure_default_lab(store: LabStore) -> tuple[Lab, bool]:
    """Return the folder's default lab and whether it was brought up just now."""
    found = store.get(DEFAULT_NAME)
    if found is not None:
        return found, False
    return store.create(DEFAULT_NAME, "sim", node_specs(store, LabRequest())), True


def bring_up(store: LabStore, request: LabRequest) -> LabUp:
    """Return the lab that was asked for, built unless it is up already.

    Sad paths: `InputError` for names, machines and kinds that do not exist; `RefusedError` TUN-3601 when a lab of
    that name is up and other nodes are asked for.
    """
    _check(store, request)
    found = None if request.force else store.get(request.name)
    if found is not None:
        if _names_nodes(request):
            _refuse_other_nodes(found, request, node_specs(store, request))
        off = tuple(node.name for node in found.nodes if not node.is_running)
        return LabUp(store.start(request.name) if off else found, created=False, started=off)
    return LabUp(store.create(request.name, request.kind, node_specs(store, request)))


def node_specs(store: LabStore, request: LabRequest) -> tuple[NodeSpec, ...]:
    """Return the nodes of a request: the default cluster, or `count` nodes that take the machines in turn."""
    if request.is_default:
        return tuple(
            NodeSpec(name, pool, store.machine(machine), profile) for name, pool, machine, profile in _DEFAULT_CLUSTER
        )
    machines = [store.machine(name) for name in request.machines]
    machines += [store.shape(text) for text in _separate(request.shapes)]
    machines += [machine for path in request.snapshots for machine in store.captured(path)]
    machines += [store.described(path) for path in request.topologies]
    if not machines:
        is_vm = request.kind == "vm"
        machines = [store.shape(_USUAL_SHAPE) if is_vm else store.machine(_DEFAULT_CLUSTER[0][2])]
    count = request.count or len(machines)
    pool = request.pool or DEFAULT_POOL
    profile = request.profile or request.distro or (USUAL_DISTRO if request.kind == "vm" else _USUAL_PROFILE)
    return tuple(
        NodeSpec(f"lab-{number + 1}", pool, machines[number % len(machines)], profile) for number in range(count)
    )


def list_labs(store: LabStore) -> tuple[Lab, ...]:
    """Return the labs of the folder by name."""
    return tuple(lab for lab in (store.get(name) for name in store.names()) if lab is not None)


def take_down(store: LabStore, name: str) -> Lab:
    """Remove a lab and return what it was; raises `InputError` TUN-1606 when there is none."""
    lab = store.get(name)
    if lab is None:
        raise _no_lab(store, name)
    store.remove(name)
    return lab


def find_node(store: LabStore, lab_name: str, node: str) -> LabNode:
    """Return a node of a lab; raises `InputError` TUN-1606 or TUN-1607."""
    lab = store.get(lab_name)
    if lab is None:
        raise _no_lab(store, lab_name)
    for one in lab.nodes:
        if one.name == node:
            return one
    names = ", ".join(one.name for one in lab.nodes)
    raise InputError(
        (
            problem(
                "TUN-1607",
                f"the lab has no node {node!r}",
                where=f"lab {lab.name}",
                why=f"its nodes are {names}",
                fix=f"tunectl lab shell {lab.nodes[0].name}",
            ),
        )
    )


def cut_power(store: LabStore, lab_name: str, node: str) -> tuple[LabNode, bool]:
    """Take the power from a node and return it with whether it ran.

    Sad paths: `InputError` TUN-1606, TUN-1607; TUN-1622 for a simulated node, which has no power.
    """
    found = find_node(store, lab_name, node)
    lab = store.get(lab_name)
    if lab is None or lab.is_simulated:
        why = "it is a directory tree"
        fix = "tunectl lab up --kind vm brings up machines that can lose their power"
        what = "a simulated node has no power to cut"
        raise InputError((problem("TUN-1622", what, where=f"lab power-cut {node}", why=why, fix=fix),))
    return found, store.cut(lab_name, node)


def _names_nodes(request: LabRequest) -> bool:
    machines = (*request.machines, *request.shapes, *request.snapshots, *request.topologies)
    return any((request.count, request.pool, request.profile, request.distro, *machines))


def _separate(shapes: Sequence[str]) -> list[str]:
    return [part.strip() for text in shapes for part in text.split(",")]


def _check(store: LabStore, request: LabRequest) -> None:
    _check_kind(request)
    for flag, text, pattern in (("--name", request.name, _NAME), ("--pool", request.pool, _POOL)):
        if text and not pattern.match(text):
            why = "a name has small letters, digits and dashes, 40 at most, and begins with a letter or digit"
            raise InputError((problem("TUN-1604", f"{text!r} is not a name", where=flag, why=why),))
    if request.profile and request.profile not in store.profiles():
        why = f"the lab has {', '.join(store.profiles())}"
        what = f"there is no software profile {request.profile!r}"
        raise InputError((problem("TUN-1602", what, where="--profile", why=why),))
    if request.count is not None and not 1 <= request.count <= _MOST_NODES:
        why = f"a lab has 1 to {_MOST_NODES} nodes"
        raise InputError((problem("TUN-1604", f"{request.count} nodes cannot be built", where="--count", why=why),))


def _check_kind(request: LabRequest) -> None:
    only_sim = {"--profile": request.profile} if request.kind != "sim" else {}
    only_vm = {"--distro": request.distro, "--memory": request.memory_mib} if request.kind == "sim" else {}
    for flag, value in {**only_sim, **only_vm}.items():
        if value:
            other = "sim" if flag in only_sim else "vm"
            what = f"{flag} is for labs of kind {other}"
            why = f"this one is of kind {request.kind}"
            raise InputError((problem("TUN-1605", what, where=flag, why=why, fix=f"add --kind {other}"),))
    if request.memory_mib and not _LEAST_MEMORY_MIB <= request.memory_mib <= _MOST_MEMORY_MIB:
        why = f"a NUMA node of a lab machine has {_LEAST_MEMORY_MIB} to {_MOST_MEMORY_MIB} MiB"
        what = f"{request.memory_mib} MiB is no memory for a NUMA node"
        raise InputError((problem("TUN-1604", what, where="--memory", why=why),))


def _refuse_other_nodes(found: Lab, request: LabRequest, specs: Sequence[NodeSpec]) -> None:
    there = [(node.name, node.pool, node.machine, node.profile) for node in found.nodes]
    asked = [(spec.name, spec.pool, str(spec.machine.get("name", "")), spec.profile) for spec in specs]
    if there != asked or found.kind != request.kind:
        raise RefusedError(
            (
                problem(
                    "TUN-3601",
                    f"lab {found.name!r} is up with other nodes than those asked for",
                    where=str(found.inventory),
                    why=f"it has {_counted(node.machine for node in found.nodes)}",
                    fix=f"add --force to build lab {found.name!r} anew, or --name NAME for a second lab",
                ),
            )
        )


def _counted(machines: Any) -> str:
    names = list(machines)
    return ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))


def _no_lab(store: LabStore, name: str) -> InputError:
    names = ", ".join(store.names())
    why = f"the labs of this folder are {names}" if names else "this folder has no lab"
    return InputError((problem("TUN-1606", f"there is no lab {name!r}", why=why, fix="tunectl lab up"),))
