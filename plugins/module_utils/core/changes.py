# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The changes between what a node shall be and what it is, in order, each with its price."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from .actual import Actual
from .boot_arguments import contains
from .boot_menu import next_entry, owned_arguments
from .desired import DesiredState, Impact
from .difference import Difference, file_changes, needed_actions, setting_changes, without_kubelet
from .observed import ObservedState, actual_of
from .owned_settings import removed_settings
from .plan import Change, ChangeKind, NodeFile
from .plan_files import FilesNow, changed_paths, files_now


@dataclass(frozen=True)
class Changes:
    """All that a node needs.

    Shape: `changes` in order; `actions` make exactly them effective; `matching` settings are right already;
    `observed` is what this rests on (see `NodePlan.observed`).
    """

    changes: tuple[Change, ...] = ()
    actions: tuple[str, ...] = ()
    matching: int = 0
    observed: Mapping[str, str | None] = field(default_factory=dict)


def plan_changes(desired: DesiredState, observed: ObservedState, files: Iterable[NodeFile] = ()) -> tuple[Change, ...]:
    """Return the changes that make a node what is desired; empty when it is.

    Shape: settings that differ, in the order of the desired state; then settings that files of an earlier generation
    hold and nobody wants any more; then `files` whose bytes differ though their settings are right, and files that go.
    Values compare by meaning. A file is named `file.` and its path.
    """
    return all_changes(desired, observed, files).changes


def all_changes(desired: DesiredState, observed: ObservedState, files: Iterable[NodeFile] = ()) -> Changes:
    """Return the changes with what is needed to carry them out and to tell later whether they still hold."""
    return ChangePlanner(desired, tuple(files)).changes_of(observed)


@dataclass
class ChangePlanner:
    """Plans the changes of nodes that shall be alike; nodes on which the same was found share one answer."""

    desired: DesiredState
    files: tuple[NodeFile, ...] = ()
    _known: dict[Hashable, Changes] = field(default_factory=dict)

    def changes_of(self, observed: ObservedState) -> Changes:
        """Return the changes of one node."""
        now = files_now(observed.snapshot)
        actual = {one.id: actual_of(observed, one, self.desired) for one in self.desired.settings}
        texts = {path: now.texts[path] for path in self._paths(now) if path in now.texts}
        found = tuple((one.value, bool(one.unknown)) for one in actual.values())
        owned = tuple(sorted(now.owned.items()))
        has_kubelet = observed.kubelet.present
        behind = boot_behind(self.files, observed)
        key = (found, tuple(sorted(texts.items())), owned, now.absent & set(now.owned), has_kubelet, behind)
        if key not in self._known:
            self._known[key] = self._compute(now, actual, has_kubelet=has_kubelet, behind=behind)
        return self._known[key]

    def _paths(self, now: FilesNow) -> set[str]:
        return {item.path for item in self.files} | set(now.owned)

    def _compute(self, now: FilesNow, actual: Mapping[str, Actual], *, has_kubelet: bool, behind: str) -> Changes:
        difference = setting_changes(self.desired, lambda setting: actual[setting.id])
        removed = removed_settings(self.desired, now)
        changes = (*difference.changes, *removed, *_files(self.files, now, difference, removed))
        changes = changes if has_kubelet else without_kubelet(changes)
        paths = changed_paths(self.files, now)
        if behind and behind not in paths:
            changes, paths = (*changes, _NEXT_BOOT), (*paths, behind)
        return Changes(
            changes=changes,
            actions=needed_actions(changes, paths, self.desired),
            matching=difference.matching,
            observed={**difference.observed, **file_basis(self.files, now)},
        )


_NEXT_BOOT = Change(
    setting="boot.next",
    kind=ChangeKind.CHANGE,
    now="without them",
    wanted="with the tier's arguments",
    impact=Impact.LIVE,
    why="The entry that boots next lacks kernel arguments that are written for it.",
)


def boot_behind(files: Iterable[NodeFile], observed: ObservedState) -> str:
    """Return the file whose arguments the entry that boots next lacks, though they are written; "" when none does."""
    path, wanted = owned_arguments(observed.snapshot)
    content = next((item.content for item in files if item.path == path), None)
    if not wanted or content is None or observed.snapshot.files[path] != content:
        return ""
    entry = next_entry(observed.snapshot)
    return path if entry is not None and not contains(entry.arguments, wanted) else ""


def _files(
    items: tuple[NodeFile, ...], now: FilesNow, difference: Difference, removed: tuple[Change, ...]
) -> tuple[Change, ...]:
    # A removed setting explains the change of its file as a changed one does.
    explained = Difference((*difference.changes, *removed), unknown=difference.unknown)
    return file_changes(items, now, explained)


def file_basis(items: Iterable[NodeFile], now: FilesNow) -> dict[str, str | None]:
    """Return `file.` and path -> SHA-256 of what is there, for all wanted and all owned files."""
    paths = sorted({item.path for item in items} | set(now.owned))
    return {f"file.{path}": now.digest(path) for path in paths}
