# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What was read from a node: named files and values, uninterpreted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

SNAPSHOT_API_VERSION = "tunectl.io/v1alpha1"


@dataclass(frozen=True)
class Snapshot:
    """Files of one node as text, keyed by absolute path as the node knows them (never with its root prefix).

    Shape: a path is in exactly one of `files`, `links` (symbolic link -> target), `listings`
    (directory -> sorted names) and `unreadable` (path -> reason, for instance `permission denied`);
    a path asked for and not there is in `absent`. `facts` are values that no file holds
    (`uname`: sysname, release, version, machine; `python`; `uid`; `taken_at` as ISO 8601 UTC).
    Text is decoded as UTF-8 with replacement, trailing newline kept.
    """

    node: str
    files: Mapping[str, str]
    links: Mapping[str, str] = field(default_factory=dict)
    listings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    facts: Mapping[str, Any] = field(default_factory=dict)
    simulated: bool = False

    @cached_property
    def proc_files(self) -> tuple[str, ...]:
        """The files below /proc, in order; most others are about hardware."""
        return tuple(path for path in self.files if path.startswith("/proc/"))

    def text(self, path: str) -> str | None:
        """Return the stripped text of a file, or None when it was not read."""
        raw = self.files.get(path)
        return None if raw is None else raw.strip()

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the entries of a directory, empty when it was not listed."""
        return tuple(self.listings.get(directory, ()))

    def why_missing(self, path: str) -> str:
        """Return why a path has no text: the read error, `absent`, or `not asked for`."""
        if path in self.unreadable:
            return self.unreadable[path]
        return "absent" if path in self.absent else "not in the snapshot"

    def to_json(self) -> dict[str, Any]:
        """Return the published form (schema `snapshot`)."""
        return {
            "apiVersion": SNAPSHOT_API_VERSION,
            "kind": "Snapshot",
            "node": self.node,
            "simulated": self.simulated,
            "facts": dict(self.facts),
            "files": dict(self.files),
            "links": dict(self.links),
            "listings": {path: list(names) for path, names in self.listings.items()},
            "unreadable": dict(self.unreadable),
            "absent": sorted(self.absent),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Snapshot:
        """Return the snapshot of the published form; raises `ValueError` naming the key that is missing or wrong."""
        if data.get("apiVersion") != SNAPSHOT_API_VERSION or data.get("kind") != "Snapshot":
            raise ValueError(f"not a snapshot: expected apiVersion {SNAPSHOT_API_VERSION} and kind Snapshot")
        for key, kind in (("node", str), ("files", dict), ("facts", dict)):
            if not isinstance(data.get(key), kind):
                raise ValueError(f"snapshot key {key!r} is missing or not a {kind.__name__}")
        _check_texts(data)
        return cls(
            node=data["node"],
            files=data["files"],
            links=data.get("links", {}),
            listings={path: tuple(names) for path, names in data.get("listings", {}).items()},
            unreadable=data.get("unreadable", {}),
            absent=frozenset(data.get("absent", ())),
            facts=data["facts"],
            simulated=bool(data.get("simulated", False)),
        )


def _check_texts(data: Mapping[str, Any]) -> None:
    for key in ("files", "links", "unreadable"):
        texts = data.get(key, {})
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise ValueError(f"snapshot key {key!r} is not an object of texts")
    listings = data.get("listings", {})
    if not isinstance(listings, dict) or not all(_is_text_list(names) for names in listings.values()):
        raise ValueError("snapshot key 'listings' is not an object of lists of names")
    if not _is_text_list(data.get("absent", [])):
        raise ValueError("snapshot key 'absent' is not a list of paths")


def _is_text_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)
