# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What boots next, told from the files of the boot loader: GRUB's menu, or the loader entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .boot_arguments import ARGUMENTS_FILE, KERNEL_OPTIONS, Arguments, entry_options, environment_of, read_list
from .cmdline import parse_cmdline
from .snapshot import Snapshot

DROP_IN_DIRECTORY = "/etc/default/grub.d"
DROP_IN = f"{DROP_IN_DIRECTORY}/99-tunectl.cfg"
MENUS = ("/boot/grub/grub.cfg", "/boot/grub2/grub.cfg")
ENVIRONMENTS = ("/boot/grub2/grubenv", "/boot/grub/grubenv")
ENTRIES = "/boot/loader/entries"

_APPENDED = re.compile(r'^GRUB_CMDLINE_LINUX="\$GRUB_CMDLINE_LINUX ([^"]*)"$', re.MULTILINE)
_ENTRY = re.compile(r"^\s*(menuentry|submenu)\s+(['\"])(.*?)\2(.*)$")
_ID = re.compile(r"(?:\$menuentry_id_option|--id)\s+(['\"]?)([^'\"\s]+)\1")
_LINUX = re.compile(r"^\s*linux(?:16|efi)?\s+(\S+)\s*(.*)$")
_DEFAULT = re.compile(r"^\s*set default=\"([^\"]*)\"", re.MULTILINE)
_RELEASE = re.compile(r"vmlinu[zx]-(\S+)\Z")


@dataclass(frozen=True)
class BootEntry:
    """One entry: its title, where it stands, the kernel's image and the arguments. Scale: `line` from 1."""

    title: str
    file: str
    line: int
    image: str
    arguments: Arguments

    @property
    def release(self) -> str:
        """The release of the kernel, as its image is named; empty where the name does not tell."""
        match = _RELEASE.search(self.image)
        return match.group(1) if match else ""


def drop_in_arguments(text: str) -> Arguments:
    """Return the arguments that our drop-in appends."""
    return tuple(argument for line in _APPENDED.findall(text) for argument in parse_cmdline(line))


def owned_arguments(snapshot: Snapshot) -> tuple[str, Arguments]:
    """Return the file that holds our arguments of the next boot, and the arguments; empty when there are none."""
    for path, read in ((DROP_IN, drop_in_arguments), (ARGUMENTS_FILE, read_list)):
        text = snapshot.files.get(path)
        if text is not None:
            return path, read(text)
    return "", ()


def next_entry(snapshot: Snapshot) -> BootEntry | None:
    """Return the entry that boots next, None when the files that were read do not tell.

    Shape: with loader entries the saved one, else the highest by version, as GRUB sorts them; else the default of
    GRUB's menu: a number, a title or an id, `saved` by GRUB's environment; titles of submenus are joined by `>`.
    Source: GNU GRUB manual (default, environment block); UAPI boot loader specification.
    """
    environment: dict[str, str] = {}
    for path in ENVIRONMENTS:
        environment.update(environment_of(snapshot.files.get(path, "")))
    entries = _loader_entries(snapshot, environment)
    if entries:
        saved = environment.get("saved_entry", "")
        return entries.get(saved) or entries[max(entries, key=_version_key)]
    for path in MENUS:
        if path in snapshot.files:
            return default_entry(snapshot.files[path], environment, path)
    return None


def _loader_entries(snapshot: Snapshot, environment: Mapping[str, str]) -> dict[str, BootEntry]:
    found: dict[str, BootEntry] = {}
    for path, text in snapshot.files.items():
        head, _slash, name = path.rpartition("/")
        if head != ENTRIES or not name.endswith(".conf") or "-0-rescue" in name:
            continue
        fields = dict(line.split(None, 1) for line in text.splitlines() if len(line.split(None, 1)) == 2)  # noqa: PLR2004
        options = entry_options(text).replace(f"${KERNEL_OPTIONS}", environment.get(KERNEL_OPTIONS, ""))
        words = " ".join(word for word in options.split(" ") if not word.startswith("$"))
        image = fields.get("linux", "").strip()
        found[name[: -len(".conf")]] = BootEntry(fields.get("title", name), path, 1, image, parse_cmdline(words))
    return found


def _version_key(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def default_entry(menu: str, environment: Mapping[str, str] | None = None, path: str = MENUS[0]) -> BootEntry | None:
    """Return the entry of GRUB's menu that boots when nobody chooses, None when there is none."""
    found = list(_menu_entries(menu, path))
    settings = _DEFAULT.findall(menu)
    wanted = settings[-1] if settings else "0"
    if "$" in wanted or not wanted:
        wanted = (environment or {}).get("saved_entry", "") or "0"
    once = (environment or {}).get("next_entry", "")
    for choice in (once, wanted):
        if choice:
            for keys, entry in found:
                if choice in keys:
                    return entry
    return found[0][1] if found and not wanted.isdigit() else None


def _menu_entries(menu: str, path: str) -> Iterator[tuple[set[str], BootEntry]]:
    """Yield each entry with the names by which it can be the default: number, title and id, with its submenus'."""
    stack: list[tuple[list[str], int]] = []
    counts = [0]
    current: tuple[list[str], str, int] | None = None
    for number, line in enumerate(menu.splitlines(), 1):
        match = _ENTRY.match(line)
        if match:
            kind, title, rest = match.group(1), match.group(3), match.group(4)
            identity = _ID.search(rest)
            names = [str(counts[-1]), title, *([identity.group(2)] if identity else [])]
            counts[-1] += 1
            if kind == "submenu":
                stack.append((names, number))
                counts.append(0)
            else:
                current = (names, title, number)
            continue
        if line.strip() == "}":
            if current is not None:
                current = None
            elif stack:
                stack.pop()
                counts.pop()
            continue
        linux = _LINUX.match(line)
        if linux and current is not None:
            names, title, _start = current
            entry = BootEntry(title, path, number, linux.group(1), parse_cmdline(linux.group(2)))
            yield _joined([*(one for one, _line in stack), names]), entry
            current = (["\0"], title, _start)


def _joined(levels: list[list[str]]) -> set[str]:
    keys = [""]
    for names in levels:
        keys = [f"{key}>{name}" if key else name for key in keys for name in names]
    return set(keys)
