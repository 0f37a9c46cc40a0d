# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What differs between what a node shall be and what was read from it: settings, and the files that carry them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from .actual import Actual
from .boot_arguments import ARGUMENTS_FILE
from .boot_menu import DROP_IN_DIRECTORY
from .comparison import holds, wanted_text
from .desired import Area, DesiredState, Impact, Setting, highest
from .plan import Change, ChangeKind, NodeFile
from .plan_files import UNIT_DIRECTORY, FilesNow, areas_of, text_digest

FILE_ID = "file."
_SHOWN_DIGEST = 12


@dataclass(frozen=True)
class Difference:
    """How the settings of a node stand.

    Shape: `changes` are those that are not as wanted, in the order of the settings; `matching` is how many are;
    `unknown` are those that nobody could look at, for which the file that carries them decides; `observed` is
    setting id -> text that was read (None when not set), without the unknown ones.
    """

    changes: tuple[Change, ...] = ()
    matching: int = 0
    unknown: tuple[Setting, ...] = ()
    observed: Mapping[str, str | None] = field(default_factory=dict)


def setting_changes(desired: DesiredState, look: Callable[[Setting], Actual]) -> Difference:
    """Return how each setting stands, by what `look` reads for it."""
    changes: list[Change] = []
    unknown: list[Setting] = []
    observed: dict[str, str | None] = {}
    for setting in desired.settings:
        actual = look(setting)
        if actual.unknown:
            unknown.append(setting)
            continue
        observed[setting.id] = actual.value
        if not holds(setting, actual):
            changes.append(_change(setting, actual.value))
    matching = len(desired.settings) - len(changes) - len(unknown)
    return Difference(tuple(changes), matching, tuple(unknown), observed)


def _change(setting: Setting, now: str | None) -> Change:
    return Change(
        setting=setting.id,
        kind=ChangeKind.ADD if now is None else ChangeKind.CHANGE,
        now=_plain(setting, now),
        wanted=_plain(setting, wanted_text(setting)),
        impact=setting.impact,
        why=setting.why,
        asked_in=setting.asked_in,
    )


def _plain(setting: Setting, text: str | None) -> str | None:
    """Return a value for people: a text of the kubelet's configuration without the quotes of JSON."""
    if setting.area is Area.KUBELET and text is not None and text.startswith('"'):
        return str(json.loads(text))
    return text


def file_changes(files: Iterable[NodeFile], now: FilesNow, difference: Difference) -> tuple[Change, ...]:
    """Return the changes of files that no change of a setting explains, and the files that go.

    Shape: a wanted file that carries a changed setting is not listed again. One whose settings nobody could look at
    costs what these cost; one whose settings are right costs nothing but the writing. A file that the current
    generation wrote and nobody wants any more is removed, at the price of its area.
    """
    wanted = {item.path: item for item in files}
    explained = {change.setting.partition(".")[0] for change in difference.changes}
    unknown: dict[Area, list[Impact]] = {}
    for setting in difference.unknown:
        unknown.setdefault(setting.area, []).append(setting.impact)
    written = tuple(
        _written(item, now.digest(path), [cost for area in areas_of(path) for cost in unknown.get(area, ())])
        for path, item in wanted.items()
        if now.differs(item) and not any(area.value in explained for area in areas_of(path))
    )
    return written + tuple(_removed(path, now.digest(path)) for path in now.gone(wanted))


def _written(item: NodeFile, now: str | None, unknown: list[Impact]) -> Change:
    return Change(
        setting=f"{FILE_ID}{item.path}",
        kind=ChangeKind.ADD if now is None else ChangeKind.CHANGE,
        now=_shown(now),
        wanted=_shown(text_digest(item.content)),
        impact=highest([Impact.LIVE, *unknown]),
        why=item.why,
    )


def _removed(path: str, now: str | None) -> Change:
    return Change(
        setting=f"{FILE_ID}{path}",
        kind=ChangeKind.REMOVE,
        now=_shown(now),
        wanted=None,
        impact=_PRICE_OF_REMOVAL.get(areas_of(path)[0], Impact.LIVE),
        why="No setting of the tier needs the file any more; what it changed is put back.",
    )


def _shown(digest: str | None) -> str | None:
    return None if digest is None else f"sha256 {digest[:_SHOWN_DIGEST]}"


_PRICE_OF_REMOVAL = {Area.KUBELET: Impact.DRAIN, Area.CMDLINE: Impact.REBOOT, Area.MODULE: Impact.REBOOT}


def without_kubelet(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes as they cost on a node that has no kubelet: there is none to drain or to restart."""
    return tuple(
        replace(change, impact=Impact.LIVE) if change.impact in (Impact.RESTART, Impact.DRAIN) else change
        for change in changes
    )


def needed_actions(changes: Iterable[Change], paths: Iterable[str], desired: DesiredState) -> tuple[str, ...]:
    """Return what makes exactly these changes effective, in order.

    Shape: of daemon-reload, units, update-grub, boot-arguments, kubelet-checkpoints, kubelet-restart, reboot. The
    checkpoints go where the kubelet would refuse them: its policies, reservations, CPUs or hugepages changed.
    """
    changed = tuple(changes)
    impacts = {change.impact for change in changed}
    paths = tuple(paths)
    areas = {areas_of(path)[0] for path in paths}
    kubelet_moves = any(_touches_checkpoint(change, desired) for change in changed)
    named = {
        "daemon-reload": Area.SERVICE in areas,
        "units": any(path.startswith(UNIT_DIRECTORY) and path.endswith(".service") for path in paths),
        "update-grub": any(path.startswith(f"{DROP_IN_DIRECTORY}/") for path in paths),
        "boot-arguments": ARGUMENTS_FILE in paths,
        "kubelet-checkpoints": kubelet_moves,
        "kubelet-restart": kubelet_moves or bool(impacts & {Impact.RESTART, Impact.DRAIN}),
        "reboot": Impact.REBOOT in impacts,
    }
    return tuple(action for action, is_needed in named.items() if is_needed)


def _touches_checkpoint(change: Change, desired: DesiredState) -> bool:
    if change.impact is not Impact.DRAIN:
        return False
    setting = desired.get(change.setting)
    # A tightened topology policy drains because it may throw out pods; the checkpoints stay valid.
    return setting is None or setting.name != "topologyManagerPolicy"
