# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files of tunectl on a node: which settings they carry, and what is there now."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from .desired import Area
from .plan import NodeFile
from .snapshot import Snapshot

GENERATIONS = "/var/lib/tunectl/generations"
UNIT_DIRECTORY = "/etc/systemd/system/"


@dataclass(frozen=True)
class FilesNow:
    """The files of a node that matter to tunectl.

    Shape: `texts` is path -> content of what was read; `absent` are paths that were asked for and are not there;
    `owned` is path -> SHA-256 of what the current generation wrote, which counts where a file was not read.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    owned: Mapping[str, str] = field(default_factory=dict)

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file, None when there is none."""
        if path in self.texts:
            return text_digest(self.texts[path])
        return None if path in self.absent else self.owned.get(path)

    def differs(self, item: NodeFile) -> bool:
        """Return whether a file is not there with exactly the wanted content."""
        if item.path in self.texts:
            return self.texts[item.path] != item.content
        return self.digest(item.path) != text_digest(item.content)

    def gone(self, wanted: Iterable[str]) -> tuple[str, ...]:
        """Return the owned paths that are there and not wanted any more, sorted."""
        return tuple(path for path in sorted(set(self.owned) - set(wanted)) if self.digest(path) is not None)


def files_now(snapshot: Snapshot) -> FilesNow:
    """Return the files of a node as its snapshot and the record of its current generation tell them."""
    numbers = sorted((name for name in snapshot.names(GENERATIONS) if name.isdecimal()), key=int, reverse=True)
    for number in numbers:
        text = snapshot.files.get(f"{GENERATIONS}/{number}/manifest.json")
        owned = None if text is None else _owned(text)
        if owned is not None:
            return FilesNow(snapshot.files, snapshot.absent, owned)
    return FilesNow(snapshot.files, snapshot.absent)


@lru_cache(maxsize=4096)
def _owned(manifest: str) -> Mapping[str, str] | None:
    """Return path -> SHA-256 of a committed generation's record, None for one that was undone or cannot be read."""
    try:
        data = json.loads(manifest)
        if data["state"] != "committed":
            return None
        return {str(item["path"]): str(item["sha256"]) for item in data["files"]}
    except (ValueError, KeyError, TypeError):
        return None


@lru_cache(maxsize=4096)
def text_digest(text: str) -> str:
    """Return the SHA-256 of a text as it stands in a file, as hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def areas_of(path: str) -> tuple[Area, ...]:
    """Return which settings a file of tunectl carries; units carry what no other file can."""
    if path.startswith(UNIT_DIRECTORY):
        return (Area.SERVICE, Area.RUNTIME, Area.SWAP)
    return (_AREA_OF.get(posixpath.dirname(path), Area.KUBELET),)


_AREA_OF = {
    "/etc/sysctl.d": Area.SYSCTL,
    "/etc/default/grub.d": Area.CMDLINE,
    "/etc/tunectl": Area.CMDLINE,
    "/etc/tmpfiles.d": Area.RUNTIME,
    "/etc/modprobe.d": Area.MODULE,
}


def changed_paths(files: Iterable[NodeFile], now: FilesNow) -> tuple[str, ...]:
    """Return the paths of files that are written, then of those that are removed."""
    items = tuple(files)
    return (*(item.path for item in items if now.differs(item)), *now.gone(item.path for item in items))
