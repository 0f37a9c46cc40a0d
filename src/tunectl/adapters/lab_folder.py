"""The labs of a folder, kept in its `.tunectl/lab`."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import yaml

from tunectl.adapters.lab_sim import Trees
from tunectl.adapters.snapshot_files import load_snapshots
from tunectl.app.lab import USUAL_DISTRO, USUAL_MEMORY_MIB, Lab, LabNode, NodeSpec
from tunectl.core.errors import FailedError, InputError, problem
from tunectl.core.machine import topology_from_facts, topology_to_facts
from tunectl.core.sysfs import read_topology
from tunectl.lab.inventory import DESCRIPTION, lab_inventory
from tunectl.lab.machines import expand_machine, load_machine, machine_names, parse_shape
from tunectl.lab.profiles import PROFILES

_INVENTORY = "hosts.yaml"
_Result = TypeVar("_Result")
_HEADERS = {
    "sim": "# Written by tunectl lab: these nodes are simulated, each is a directory tree.\n",
    "vm": "# Written by tunectl lab: these nodes are virtual machines on this computer.\n",
}


class Builder(Protocol):
    """Makes the nodes of one kind of lab. `place` is the lab's directory, `data` its description."""

    def build(self, draft: Path, place: Path, specs: Sequence[NodeSpec]) -> dict[str, Any]:
        """Make the nodes in `draft`, which becomes `place`; return what the description says beside the nodes."""
        ...

    def start(self, place: Path, data: Mapping[str, Any]) -> None:
        """Start what is off."""
        ...

    def stop(self, place: Path, data: Mapping[str, Any]) -> None:
        """Stop what runs."""
        ...

    def cut(self, place: Path, node: Mapping[str, Any]) -> bool:
        """Take the power from a node; return whether it ran."""
        ...

    def is_running(self, place: Path, node: Mapping[str, Any]) -> bool:
        """Return whether a node runs."""
        ...

    def shell(self, place: Path, node: Mapping[str, Any]) -> Sequence[str]:
        """Return the command that opens a shell on a node; nothing for a node that is a directory."""
        ...


class FolderLabs:
    """The labs of one folder."""

    def __init__(
        self, folder: Path, *, distro: str = "", memory_mib: int = 0, say: Callable[[str], None] = lambda _text: None
    ) -> None:
        """Look at nothing yet; `distro` and `memory_mib` (of a NUMA node) are of virtual machines to be built."""
        self.directory = folder.absolute() / ".tunectl" / "lab"
        self._distro = distro or USUAL_DISTRO
        self._memory_mib = memory_mib or USUAL_MEMORY_MIB
        self._say = say

    def machine(self, name: str) -> Mapping[str, Any]:
        """Return the facts of a shipped machine."""
        return load_machine(name)

    def machines(self) -> Sequence[Mapping[str, Any]]:
        """Return name, summary and provenance of each shipped machine."""
        keys = ("name", "summary", "provenance")
        return [{key: machine[key] for key in keys} for machine in map(load_machine, machine_names())]

    def shape(self, text: str) -> Mapping[str, Any]:
        """Return the facts of a machine of a shape."""
        return parse_shape(text)

    def captured(self, path: Path) -> Sequence[Mapping[str, Any]]:
        """Return the machines of the nodes in a snapshot file."""
        return [topology_to_facts(read_topology(one), one.node) for one in load_snapshots(path)]

    def described(self, path: Path) -> Mapping[str, Any]:
        """Return the machine in a description, compact or with one row a CPU; raises `InputError` TUN-1608."""
        try:
            facts = expand_machine(json.loads(path.read_text(encoding="utf-8")))
            topology_from_facts(facts)
        except OSError as error:
            raise _no_machine(path, error.strerror or str(error)) from error
        except KeyError as error:
            raise _no_machine(path, f"it has no {error}") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise _no_machine(path, str(error)) from error
        return {"name": path.stem, **facts}

    def profiles(self) -> Sequence[str]:
        """Return the names of the software profiles."""
        return sorted(PROFILES)

    def names(self) -> Sequence[str]:
        """Return the names of the labs, ascending."""
        return sorted(path.parent.name for path in self.directory.glob(f"[!.]*/{DESCRIPTION}"))

    def get(self, name: str) -> Lab | None:
        """Return the lab of that name; raises `InputError` TUN-1609 when its description is damaged."""
        place = self.directory / name
        try:
            data = json.loads((place / DESCRIPTION).read_text(encoding="utf-8"))
            return self._lab(place, data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                (
                    problem(
                        "TUN-1609",
                        f"lab {name!r} cannot be read",
                        where=str(place / DESCRIPTION),
                        why=str(error),
                        fix=f"tunectl lab up --name {name} --force builds it anew",
                    ),
                )
            ) from error

    def create(self, name: str, kind: str, specs: Sequence[NodeSpec]) -> Lab:
        """Build a lab beside its place, move it there and start it.

        A lab whose nodes do not start is removed again, whatever stopped them. Raises `FailedError` TUN-4802 when the
        disk refuses.
        """
        place = self.directory / name
        builder = self._builder(kind)

        def build() -> dict[str, Any]:
            self.directory.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self.directory))
            try:
                draft.chmod(0o755)
                data = _described(name, kind, specs, builder.build(draft, place, specs))
                text = yaml.safe_dump(lab_inventory(place, data), sort_keys=False, width=1000)
                (draft / _INVENTORY).write_text(_HEADERS[kind] + text, encoding="utf-8")
                (draft / DESCRIPTION).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
                self._replace(place, draft)
            except BaseException:
                shutil.rmtree(draft, ignore_errors=True)
                raise
            return data

        data = _on_disk(place, build)
        try:
            builder.start(place, data)
        except BaseException:
            self.remove(name)
            raise
        return self._lab(place, data)

    def start(self, name: str) -> Lab:
        """Start the nodes of a lab that are off."""
        place, data = self.directory / name, self._data(name)
        self._builder(data["kind"]).start(place, data)
        return self._lab(place, data)

    def cut(self, name: str, node: str) -> bool:
        """Take the power from a node of a lab; return whether it ran."""
        place, data = self.directory / name, self._data(name)
        found = next(one for one in data["nodes"] if one["name"] == node)
        return self._builder(data["kind"]).cut(place, found)

    def shell(self, name: str, node: str) -> tuple[str, ...]:
        """Return the command that opens a shell on a node over SSH; empty for a node that is a directory."""
        data = self._data(name)
        found = next(one for one in data["nodes"] if one["name"] == node)
        return tuple(self._builder(data["kind"]).shell(self.directory / name, found))

    def remove(self, name: str) -> bool:
        """Stop and remove a lab; raises `FailedError` TUN-4802 when the disk refuses."""
        place = self.directory / name
        if not (place / DESCRIPTION).exists():
            return False
        _on_disk(place, lambda: self._discard(place))
        return True

    def _builder(self, kind: str) -> Builder:
        if kind == "sim":
            return Trees()
        # Simulated nodes are brought up by many commands, and need nothing of this.
        from tunectl.adapters.vm.machines import Machines  # noqa: PLC0415

        return Machines(self._distro, self._memory_mib, self._say)

    def _data(self, name: str) -> dict[str, Any]:
        return dict(json.loads((self.directory / name / DESCRIPTION).read_text(encoding="utf-8")))

    def _lab(self, place: Path, data: Mapping[str, Any]) -> Lab:
        builder = self._builder(data["kind"])
        fields = {one.name for one in dataclasses.fields(LabNode)}
        return Lab(
            name=data["name"],
            inventory=place / _INVENTORY,
            nodes=tuple(
                LabNode(
                    **{key: value for key, value in node.items() if key in fields},
                    root=place / "nodes" / node["name"],
                    is_running=builder.is_running(place, node),
                )
                for node in data["nodes"]
            ),
            kind=data["kind"],
        )

    def _replace(self, place: Path, draft: Path) -> None:
        if place.exists():
            self._discard(place)
        draft.rename(place)

    def _discard(self, place: Path) -> None:
        try:
            data = self._data(place.name)
        except (OSError, ValueError):
            data = {"kind": "", "nodes": ()}
        if data["kind"]:
            self._builder(data["kind"]).stop(place, data)
        # Renamed first, so that nobody meets half a lab.
        doomed = self.directory / f".{place.name}.old-{os.getpid()}"
        place.rename(doomed)
        shutil.rmtree(doomed)


def _described(name: str, kind: str, specs: Sequence[NodeSpec], more: Mapping[str, Any]) -> dict[str, Any]:
    own = more.get("nodes", {})
    nodes = [{**_node_data(spec), **own.get(spec.name, {})} for spec in specs]
    data = {"kind": kind, "simulated": kind == "sim", "name": name, "nodes": nodes}
    rest = {key: value for key, value in more.items() if key != "nodes"}
    return {**data, kind: rest} if rest else data


def _node_data(spec: NodeSpec) -> dict[str, Any]:
    topology = topology_from_facts(spec.machine)
    return {
        "name": spec.name,
        "pool": spec.pool,
        "machine": str(spec.machine.get("name", "")),
        "profile": spec.profile,
        "cpus": len(topology.present),
        "numa_nodes": len(topology.numa_nodes),
        "memory_kib": topology.memory_kib,
    }


def _on_disk(place: Path, work: Callable[[], _Result]) -> _Result:
    try:
        return work()
    except OSError as error:
        raise FailedError(
            (
                problem(
                    "TUN-4802",
                    "the lab cannot be written",
                    where=str(error.filename or place),
                    why=error.strerror or str(error),
                    fix="make room, or start tunectl in a folder that you may write",
                ),
            )
        ) from error


def _no_machine(path: Path, why: str) -> InputError:
    fix = "write one like those that `tunectl lab machines` names, or give a shape like --shape 2s32c2t"
    return InputError((problem("TUN-1608", "this file describes no machine", where=str(path), why=why, fix=fix),))
