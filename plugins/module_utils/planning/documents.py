# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The YAML files of a snapshot, decoded for the core, which knows no YAML."""

from __future__ import annotations

from typing import Any

from ..core.errors import InputError, problem
from ..core.kubelet_state import configuration_files
from ..core.snapshot import Snapshot
from .kubelet_yaml import read_config_text


def snapshot_documents(snapshot: Snapshot) -> dict[str, Any]:
    """Return the kubelet's configuration files decoded, by path; an empty file is None.

    Shape: JSON data only; callers must not change it, equal texts share one value.
    Sad paths: `InputError` TUN-1705 naming node, file and line of every file that is not YAML.
    """
    documents: dict[str, Any] = {}
    problems = []
    for path in configuration_files(snapshot):
        text = snapshot.files.get(path)
        if text is None:
            continue
        found = read_config_text(text)
        if found.fault:
            line = found.fault_place[0]
            where = f"{snapshot.node}:{path}" + (f":{line}" if line else "")
            fix = "put the file right on the node, or remove it if nothing needs it, and read the node again"
            what = "the kubelet's configuration cannot be read"
            problems.append(problem("TUN-1705", what, where=where, why=found.fault, fix=fix))
        documents[path] = found.document
    if problems:
        raise InputError(tuple(problems))
    return documents
