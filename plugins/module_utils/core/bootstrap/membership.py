# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a machine is bare, a member of this cluster, on its way into it, or somebody else's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..snapshot import Snapshot
from .ca_hash import ca_hash
from .machine_facts import exists
from .places import CA_FILE, JOURNAL, KUBELET_CONF, TRACES


class Standing(Enum):
    """What a machine is to the cluster."""

    NONE = "bare"
    PARTIAL = "unfinished"
    MEMBER = "member"
    FOREIGN = "foreign"


@dataclass(frozen=True)
class Membership:
    """Where a machine stands, why, and which files show it. Shape: `ca` is the hash of its cluster's authority."""

    standing: Standing
    why: str
    traces: tuple[str, ...] = ()
    ca: str = ""


def read_membership(snapshot: Snapshot) -> Membership:
    """Return where a machine stands, from its files and the journal of an earlier bootstrap.

    Shape: the journal is written before kubeadm runs and only on a machine without traces, so that traces beside an
    unfinished journal are ours.
    """
    traces = tuple(path for path in TRACES if exists(snapshot, path))
    journal = read_journal(snapshot.files.get(JOURNAL))
    found = _authority(snapshot)
    if journal is None:
        if JOURNAL in snapshot.files or JOURNAL in snapshot.unreadable:
            return Membership(Standing.FOREIGN, f"{JOURNAL} cannot be read", traces, found)
        if traces:
            return Membership(Standing.FOREIGN, "files of a cluster that tunectl did not make", traces, found)
        return Membership(Standing.NONE, "no file of a cluster")
    if not traces:
        return Membership(Standing.NONE, "reset since an earlier bootstrap")
    noted = str(journal.get("cluster_ca") or "")
    if noted and found and noted != found:
        return Membership(Standing.FOREIGN, "its certificate authority is not the one of our bootstrap", traces, found)
    if journal["state"] != "done":
        return Membership(Standing.PARTIAL, f"kubeadm {journal['role']} began and did not end", traces, found or noted)
    if KUBELET_CONF not in traces:
        return Membership(Standing.FOREIGN, f"our bootstrap ended, and {KUBELET_CONF} is gone", traces, found)
    return Membership(Standing.MEMBER, "our bootstrap brought it in", traces, found or noted)


def read_journal(text: str | None) -> Mapping[str, Any] | None:
    """Return the journal of a machine, None where there is none that can be read."""
    try:
        data = json.loads(text or "")
    except ValueError:
        return None
    known = isinstance(data, dict) and data.get("format") == 1
    return data if known and data.get("role") in ("init", "join") and data.get("state") in ("started", "done") else None


def _authority(snapshot: Snapshot) -> str:
    try:
        return ca_hash(snapshot.files.get(CA_FILE, ""))
    except ValueError:
        return ""
