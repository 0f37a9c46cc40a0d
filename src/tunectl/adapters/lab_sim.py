"""Labs of simulated nodes, kept in `.tunectl/lab` of a folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from tunectl.adapters.snapshot_files import load_snapshots
from tunectl.app.lab import Lab, LabNode, NodeSpec
from tunectl.core.errors import FailedError, InputError, problem
from tunectl.core.machine import topology_from_facts, topology_to_facts
from tunectl.core.sysfs import read_topology
from tunectl.lab.machines import expand_machine, load_machine, machine_names, parse_shape
from tunectl.lab.profiles import PROFILES
from tunectl.lab.tree import build_tree

_DESCRIPTION = "lab.json"
_INVENTORY = "hosts.yaml"
_Result = TypeVar("_Result")
_HEADER = "# Written by tunectl lab: these nodes are simulated, each is a directory tree.\n"


class FolderLabs:
    """The labs of one folder."""

    def __init__(self, folder: Path) -> None:
        """Look at nothing yet."""
        self.directory = folder.absolute() / ".tunectl" / "lab"

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
        return sorted(path.parent.name for path in self.directory.glob(f"[!.]*/{_DESCRIPTION}"))

    def get(self, name: str) -> Lab | None:
        """Return the lab of that name; raises `InputError` TUN-1609 when its description is damaged."""
        place = self.directory / name
        try:
            data = json.loads((place / _DESCRIPTION).read_text(encoding="utf-8"))
            return _lab(place, data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                (
                    problem(
                        "TUN-1609",
                        f"lab {name!r} cannot be read",
                        where=str(place / _DESCRIPTION),
                        why=str(error),
                        fix=f"tunectl lab up --name {name} --force builds it anew",
                    ),
                )
            ) from error

    def create(self, name: str, specs: Sequence[NodeSpec]) -> Lab:
        """Build a lab beside its place and move it there; raises `FailedError` TUN-4802 when the disk refuses."""
        place = self.directory / name

        def build() -> Lab:
            self.directory.mkdir(parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=self.directory))
            try:
                draft.chmod(0o755)
                data = _describe(name, specs)
                for spec in specs:
                    tree = draft / "nodes" / spec.name
                    tree.mkdir(parents=True)
                    build_tree(tree, spec.machine, profile=spec.profile, name=spec.name)
                (draft / _INVENTORY).write_text(_inventory(place, specs), encoding="utf-8")
                (draft / _DESCRIPTION).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
                self._replace(place, draft)
            except BaseException:
                shutil.rmtree(draft, ignore_errors=True)
                raise
            return _lab(place, data)

        return _on_disk(place, build)

    def remove(self, name: str) -> bool:
        """Remove a lab; raises `FailedError` TUN-4802 when the disk refuses."""
        place = self.directory / name
        if not (place / _DESCRIPTION).exists():
            return False
        _on_disk(place, lambda: self._discard(place))
        return True

    def _replace(self, place: Path, draft: Path) -> None:
        if place.exists():
            self._discard(place)
        draft.rename(place)

    def _discard(self, place: Path) -> None:
        # Renamed first, so that nobody meets half a lab.
        doomed = self.directory / f".{place.name}.old-{os.getpid()}"
        place.rename(doomed)
        shutil.rmtree(doomed)


def _describe(name: str, specs: Sequence[NodeSpec]) -> dict[str, Any]:
    return {"kind": "sim", "simulated": True, "name": name, "nodes": [_node_data(spec) for spec in specs]}


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


def _lab(place: Path, data: Mapping[str, Any]) -> Lab:
    return Lab(
        name=data["name"],
        inventory=place / _INVENTORY,
        nodes=tuple(LabNode(**node, root=place / "nodes" / node["name"]) for node in data["nodes"]),
        kind=data["kind"],
    )


def _inventory(place: Path, specs: Sequence[NodeSpec]) -> str:
    groups: dict[str, dict[str, Any]] = {}
    for spec in specs:
        # Ansible wants group names without dashes; a pool finds its group in either spelling.
        hosts = groups.setdefault(spec.pool.replace("-", "_"), {"hosts": {}})["hosts"]
        hosts[spec.name] = {"tunectl_root": str(place / "nodes" / spec.name)}
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "tunectl_simulated": True,
    }
    return _HEADER + yaml.safe_dump({"all": {"vars": variables, "children": groups}}, sort_keys=False)


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
