"""Machines that are named or described instead of read: shipped ones, shapes, JSON files."""

from __future__ import annotations

import json
from pathlib import Path

from tunectl.core.errors import InputError, problem
from tunectl.core.machine import topology_from_facts
from tunectl.core.topology import Topology
from tunectl.lab.machines import expand_machine, load_machine, machine_names, parse_shape


def load_topology(reference: str) -> Topology:
    """Return the topology of a shipped machine, a shape like `2s32c2t`, or a file that describes a machine.

    Sad paths: `InputError` TUN-1805 for a file that cannot be read or describes no machine, those of `parse_shape`.
    """
    if reference in machine_names():
        return topology_from_facts(load_machine(reference))
    path = Path(reference)
    if not path.exists() and path.suffix != ".json":
        return topology_from_facts(parse_shape(reference))
    try:
        return topology_from_facts(expand_machine(json.loads(path.read_text(encoding="utf-8"))))
    except OSError as error:
        raise _bad_file(reference, error.strerror or str(error)) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _bad_file(reference, str(error) or type(error).__name__) from error


def _bad_file(reference: str, why: str) -> InputError:
    fix = f"name a shipped machine ({', '.join(machine_names())}), a shape like 2s32c2t, or a JSON description"
    return InputError((problem("TUN-1805", "there is no such machine", where=reference, why=why, fix=fix),))
