# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The rules that bring pods to their tier and keep them apart there: written as edits, and as a patch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .context import AuditTier
from .edits import Edit, edited
from .expectation import Expectation
from .paths import Path, as_map, as_text, at
from .placement import missing_labels, missing_tolerations, toleration_of
from .spread import REQUIRED, SERVICES, keeps_copies_apart, repulsion, rivals_of, spread_of
from .subject import Subject


def placement_edits(index: int, pairs: Sequence[tuple[Subject, Expectation]], tier: AuditTier) -> tuple[Edit, ...]:
    """Return what one of several objects lacks to run on the nodes of a tier: nothing for one that has it all.

    Shape: selector of the tier's labels, tolerations of its taints, spread of copies over zones and nodes, required
    anti-affinity against the other heavy applications among the objects.
    """
    subject, _ = pairs[index]
    spread = spread_of(subject) if _is_to_spread(subject) else []
    rivals = rivals_of(index, pairs)
    term = repulsion(subject, rivals) if rivals else None
    where = subject.in_spec("affinity", "podAntiAffinity", REQUIRED)
    return (
        *(Edit(subject.in_spec("nodeSelector", key), value) for key, value in missing_labels(subject, tier).items()),
        *(_appended(subject.in_spec("tolerations"), map(toleration_of, missing_tolerations(subject, tier)))),
        *(_appended(subject.in_spec("topologySpreadConstraints"), spread)),
        *(_appended(where, [term] if term else [])),
    )


def _is_to_spread(subject: Subject) -> bool:
    return subject.kind in SERVICES and subject.makes_copies and not keeps_copies_apart(subject)


def _appended(path: Path, values: Iterable[Any]) -> Iterator[Edit]:
    return (Edit(path, value, append=True) for value in values)


def placement_patch(subject: Subject, edits: Sequence[Edit]) -> dict[str, Any]:
    """Return the edits as a strategic-merge patch of the object.

    Lists that such a patch replaces as a whole (tolerations, anti-affinity terms) are complete; constraints of topology
    spread are merged by their key, so only new ones are there. Source: Kubernetes API, patchStrategy of PodSpec.
    """
    document = dict(subject.document)
    wanted: Any = document
    for edit in edits:
        wanted = edited(wanted, edit)
    metadata = as_map(document.get("metadata"))
    patch: Any = {
        **{key: document[key] for key in ("apiVersion", "kind") if key in document},
        "metadata": {key: metadata[key] for key in ("name", "namespace") if as_text(metadata.get(key))},
    }
    for path in dict.fromkeys(edit.path for edit in edits):
        merges = path[-1] == "topologySpreadConstraints"
        value = [edit.value for edit in edits if edit.path == path] if merges else at(wanted, path)
        patch = edited(patch, Edit(path, value))
    return dict(patch)
