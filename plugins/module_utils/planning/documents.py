# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The YAML files of a snapshot, decoded for the core, which knows no YAML."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import yaml

from ..core.errors import InputError, problem
from ..core.kubelet_state import configuration_files
from ..core.snapshot import Snapshot

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        document, fault, line = _decode(text)
        if fault:
            where = f"{snapshot.node}:{path}" + (f":{line}" if line else "")
            fix = "put the file right on the node, or remove it if nothing needs it, and read the node again"
            what = "the kubelet's configuration cannot be read"
            problems.append(problem("TUN-1705", what, where=where, why=fault, fix=fix))
        documents[path] = document
    if problems:
        raise InputError(tuple(problems))
    return documents


@lru_cache(maxsize=512)
def _decode(text: str) -> tuple[Any, str, int]:
    """Return (document, what is wrong, line); the nodes of a pool mostly have equal files."""
    try:
        documents = list(yaml.load_all(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        return None, error.problem or "it is not YAML", mark.line + 1 if mark else 0
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, f"it is not YAML: {str(error).splitlines()[0]}", 0
    # As the kubelet, which reads the first document.
    return (documents[0] if documents else None), "", 0
