# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The settings that files of an earlier generation hold, and those of them that nobody wants any more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from .boot_arguments import read_list
from .cmdline import format_cmdline, parse_cmdline
from .desired import Area, DesiredState, Impact
from .plan import Change, ChangeKind
from .plan_files import FilesNow, areas_of

_SYSCTL = re.compile(r"^-?([^#;=\s][^=\s]*) = (.*)$", re.MULTILINE)
_TMPFILES = re.compile(r"^w (\S+) - - - - (.*)$", re.MULTILINE)
_GRUB = re.compile(r'^GRUB_CMDLINE_LINUX="\$GRUB_CMDLINE_LINUX ([^"]*)"$', re.MULTILINE)
_MODPROBE = re.compile(r"^options (\S+) (.*)$", re.MULTILINE)
_KUBELET = re.compile(r"^([A-Za-z][A-Za-z0-9]*):(?: (.*))?$", re.MULTILINE)
_NO_SETTINGS = ("apiVersion", "kind")
_PAIR = ("hugepagesz", "hugepages")

# Taking away what a checkpoint rests on costs what setting it costs.
_DRAINS = frozenset(
    (
        "cpuManagerPolicy",
        "cpuManagerPolicyOptions",
        "reservedSystemCPUs",
        "memoryManagerPolicy",
        "reservedMemory",
        "topologyManagerPolicy",
        "systemReserved",
        "kubeReserved",
    )
)


def settings_in(path: str, text: str) -> dict[str, str]:
    """Return setting id -> value for a file as tunectl writes it; empty for a file of another form."""
    return {f"{area.value}.{key}": value for area, key, value in _READERS[areas_of(path)[0]](text)}


def removed_settings(desired: DesiredState, now: FilesNow) -> tuple[Change, ...]:
    """Return one removal for each setting that an owned file holds and the desired state does not name.

    Shape: in the order of paths and lines; `now` is the value in the file.
    """
    wanted = {setting.id for setting in desired.settings}
    return tuple(
        Change(
            setting=setting,
            kind=ChangeKind.REMOVE,
            now=value,
            wanted=None,
            impact=_price(setting),
            why="The tier does not ask for it any more; what was there before comes back.",
        )
        for path in sorted(set(now.owned) & set(now.texts))
        for setting, value in settings_in(path, now.texts[path]).items()
        if setting not in wanted
    )


def _price(setting: str) -> Impact:
    area, _dot, name = setting.partition(".")
    if area in (Area.CMDLINE.value, Area.MODULE.value):
        return Impact.REBOOT
    if area == Area.KUBELET.value:
        return Impact.DRAIN if name in _DRAINS else Impact.RESTART
    return Impact.LIVE


Found = Iterator[tuple[Area, str, str]]


def _sysctl(text: str) -> Found:
    return ((Area.SYSCTL, name, value.strip()) for name, value in _SYSCTL.findall(text))


def _tmpfiles(text: str) -> Found:
    return ((Area.RUNTIME, path, value) for path, value in _TMPFILES.findall(text))


def _modprobe(text: str) -> Found:
    for module, options in _MODPROBE.findall(text):
        for option in options.split():
            name, _equals, value = option.partition("=")
            yield Area.MODULE, f"{module}.{name}", value


def _kubelet(text: str) -> Found:
    return ((Area.KUBELET, name, value) for name, value in _KUBELET.findall(text) if name not in _NO_SETTINGS)


def _grub(text: str) -> Found:
    seen: dict[str, int] = {}
    size = ""
    lines = _GRUB.findall(text) or [format_cmdline(read_list(text))]
    for arguments in lines:
        for argument in parse_cmdline(arguments):
            size = argument.value or "" if argument.name == "hugepagesz" else size
            key = f"{argument.name}.{size}" if argument.name in _PAIR and size else argument.name
            seen[key] = seen.get(key, 0) + 1
            yield Area.CMDLINE, key if seen[key] == 1 else f"{key}#{seen[key]}", argument.value or ""


def _nothing(_text: str) -> Found:
    return iter(())


_READERS: Mapping[Area, Callable[[str], Found]] = {
    Area.SYSCTL: _sysctl,
    Area.RUNTIME: _tmpfiles,
    Area.MODULE: _modprobe,
    Area.KUBELET: _kubelet,
    Area.CMDLINE: _grub,
    Area.SERVICE: _nothing,
}
