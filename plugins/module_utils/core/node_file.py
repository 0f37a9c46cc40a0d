# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is written on a node: files and values of the running kernel. Alone, because nodes are sent only this."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeFile:
    """A file that tunectl owns on a node. `path` is absolute on the node; `content` ends with a newline."""

    path: str
    content: str
    mode: int = 0o644
    why: str = ""


@dataclass(frozen=True)
class RuntimeValue:
    """A value written to the running kernel: `path` below /proc/sys, /sys or /proc, `value` without newline.

    `optional` values are skipped with a note where the running kernel has no such file.
    """

    path: str
    value: str
    optional: bool = False
