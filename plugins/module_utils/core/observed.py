# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a node runs, told from its snapshot; and where each kind of setting is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .actual import Actual
from .cmdline import Argument, parse_cmdline
from .comparison import shown
from .cpuset import CpuSet
from .desired import Area, DesiredState, Setting
from .findings import Evidence
from .jsonform import canonical
from .kubelet_command import process_files
from .kubelet_state import KubeletState, kubelet_state
from .node_software import is_partial
from .observed_cmdline import actual_argument
from .snapshot import Snapshot
from .sysctl import canonical_value, sysctl_path

CMDLINE_FILE = "/proc/cmdline"
SWAPS_FILE = "/proc/swaps"

_CHOICE = re.compile(r"\[([^\]\s]+)\]")
_CPU_ONLINE = re.compile(r"/sys/devices/system/cpu/cpu([0-9]+)/online\Z")
_ONLINE_LIST = "/sys/devices/system/cpu/online"
_OPTIONS_LINE = re.compile(r"^[ \t]*options[ \t]+([^\s#]+)[ \t]+(.*)$", re.MULTILINE)
_MODPROBE = "/etc/modprobe.d"
# Of these directories a snapshot lists only the CPUs and the nodes.
_PARTLY_LISTED = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_TUNERS = ("tuned", "irqbalance", "saptune", "numad", "ksmtuned", "thermald", "power-profiles-")


@dataclass(frozen=True)
class ObservedState:
    """What a node runs.

    Shape: `cmdline` is None when /proc/cmdline was not read; `modules` is `module.option` -> (value, file) from
    modprobe.d; `swaps` are the active swap devices, None when nobody could look; `processes` are those that a
    snapshot looks for: tuning programs and the kubelet, each name with the files that say it.
    """

    snapshot: Snapshot
    cmdline: tuple[Argument, ...] | None = None
    kubelet: KubeletState = KubeletState()
    modules: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    swaps: tuple[str, ...] | None = None
    processes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def tuners(self) -> tuple[str, ...]:
        """The names of running programs that tune a node by themselves."""
        return tuple(name for name in _TUNERS if name in self.processes)

    @property
    def node(self) -> str:
        """The node's name."""
        return self.snapshot.node

    @property
    def simulated(self) -> bool:
        """Whether the node is a directory tree."""
        return self.snapshot.simulated


def observe(snapshot: Snapshot, documents: Mapping[str, Any]) -> ObservedState:
    """Return the observed state; `documents` are the kubelet's YAML files decoded, by path."""
    text = snapshot.files.get(CMDLINE_FILE)
    processes = process_files(snapshot)
    swaps = snapshot.files.get(SWAPS_FILE)
    return ObservedState(
        snapshot=snapshot,
        cmdline=None if text is None else parse_cmdline(text),
        kubelet=kubelet_state(snapshot, documents),
        modules=_module_options(snapshot),
        swaps=None if swaps is None else tuple(line.split()[0] for line in swaps.splitlines()[1:] if line.split()),
        processes=processes,
    )


def actual_of(observed: ObservedState, setting: Setting, desired: DesiredState | None = None) -> Actual:
    """Return what a node has where a setting belongs, in the form of `comparison.wanted_text`.

    Shape: `desired` tells how often a kernel argument shall stand on the command line; without it, once.
    Source: one rule per area, see `_LOOKS`; labels and taints are the API's, not the node's.
    """
    if setting.area is Area.CMDLINE:
        return _cmdline(observed, setting, desired)
    look = _LOOKS.get(setting.area)
    return look(observed, setting) if look else Actual(unknown="only the API of the cluster can tell")


def _cmdline(observed: ObservedState, setting: Setting, desired: DesiredState | None) -> Actual:
    if observed.cmdline is None:
        return Actual(unknown=f"{CMDLINE_FILE}: {observed.snapshot.why_missing(CMDLINE_FILE)}")
    wanted: Sequence[Setting] = tuple(desired.of(Area.CMDLINE)) if desired else (setting,)
    return actual_argument(observed.cmdline, setting, [one for one in wanted if one.name == setting.name])


def _kubelet(observed: ObservedState, setting: Setting) -> Actual:
    state = observed.kubelet
    if not state.present or state.trouble:
        return Actual(unknown=state.trouble or "the node has no kubelet")
    source = state.sources.get(setting.name, "")
    if setting.name not in state.config:
        return Actual(None, (Evidence(state.main_file, f"{setting.name} is not set"),))
    value = canonical(shown(state.config[setting.name], setting.value))
    text = f"{setting.name}: {value}" if source else f"{setting.name} is not set; the kubelet's default is {value}"
    return Actual(value, (Evidence(source or state.main_file, text),))


def _sysctl(observed: ObservedState, setting: Setting) -> Actual:
    if is_partial(observed.snapshot):
        return Actual(unknown="/proc/sys was not read")
    return _file(observed, sysctl_path(setting.name))


def _runtime(observed: ObservedState, setting: Setting) -> Actual:
    online = _CPU_ONLINE.match(setting.name)
    if online and setting.name not in observed.snapshot.files:
        return _is_online(observed, int(online.group(1)), setting.name)
    return _file(observed, setting.name)


def _is_online(observed: ObservedState, cpu: int, path: str) -> Actual:
    text = observed.snapshot.files.get(_ONLINE_LIST)
    if text is None:
        return Actual(unknown=f"{path}: {observed.snapshot.why_missing(path)}")
    try:
        online = CpuSet.parse(text)
    except ValueError as error:
        return Actual(unknown=f"{_ONLINE_LIST}: {error}")
    return Actual("1" if cpu in online else "0", (Evidence(_ONLINE_LIST, text.strip()),))


def _file(observed: ObservedState, path: str) -> Actual:
    """Return a file's value: the word in brackets where the kernel shows a choice, blanks in normal form."""
    text = observed.snapshot.files.get(path)
    if text is None:
        return _missing(observed, path)
    chosen = _CHOICE.search(text)
    return Actual(chosen.group(1) if chosen else canonical_value(text), (Evidence(path, text.strip()),))


def _missing(observed: ObservedState, path: str) -> Actual:
    """Return that a file is not there, or that nobody could look: what is known of its nearest directory counts."""
    place = path
    while place:
        if place in observed.snapshot.absent:
            return Actual(None, (Evidence(path, "absent"),))
        if place in observed.snapshot.unreadable:
            return Actual(unknown=f"{place}: {observed.snapshot.unreadable[place]}")
        if place in observed.snapshot.listings:
            child = path[len(place) + 1 :].partition("/")[0]
            whole = place not in _PARTLY_LISTED
            if whole and child not in observed.snapshot.names(place):
                return Actual(None, (Evidence(path, f"{place} has no {child}"),))
            break
        place = place.rpartition("/")[0]
    return Actual(unknown=f"{path}: {observed.snapshot.why_missing(path)}")


def _module(observed: ObservedState, setting: Setting) -> Actual:
    """Return the option of a loaded module, else what modprobe.d asks for: it counts when the module is loaded."""
    module, _dot, option = setting.name.partition(".")
    live = f"/sys/module/{module.replace('-', '_')}/parameters/{option}"
    if live in observed.snapshot.files:
        return _file(observed, live)
    found = observed.modules.get(f"{module.replace('-', '_')}.{option}")
    if found:
        return Actual(found[0], (Evidence(found[1], f"options {module} {option}={found[0]}"),))
    if _MODPROBE in observed.snapshot.unreadable:
        return Actual(unknown=f"{_MODPROBE}: {observed.snapshot.unreadable[_MODPROBE]}")
    return Actual(None, (Evidence(_MODPROBE, f"no file sets {setting.name}"),))


def _service(observed: ObservedState, setting: Setting) -> Actual:
    """Return running or stopped: whether a process of the service's name is there."""
    if "/proc" in observed.snapshot.unreadable:
        return Actual(unknown=f"/proc: {observed.snapshot.unreadable['/proc']}")
    # The kernel cuts the names of processes.
    name = setting.name.removesuffix(".service")[:15]
    if name not in (*_TUNERS, "kubelet"):
        return Actual(unknown=f"snapshots do not look for processes called {name}")
    running = observed.processes.get(name, ())
    return Actual("running" if running else "stopped", tuple(Evidence(path, name) for path in running))


def _swap(observed: ObservedState, _setting: Setting) -> Actual:
    if observed.swaps is None:
        return Actual(unknown=f"{SWAPS_FILE}: {observed.snapshot.why_missing(SWAPS_FILE)}")
    text = ", ".join(observed.swaps) or "no swap is active"
    return Actual("on" if observed.swaps else "off", (Evidence(SWAPS_FILE, text),))


_LOOKS = {
    Area.KUBELET: _kubelet,
    Area.SYSCTL: _sysctl,
    Area.RUNTIME: _runtime,
    Area.MODULE: _module,
    Area.SERVICE: _service,
    Area.SWAP: _swap,
}


def _module_options(snapshot: Snapshot) -> dict[str, tuple[str, str]]:
    """Return the options that modprobe.d sets, files in the order in which they count. Source: modprobe.d(5)."""
    options: dict[str, tuple[str, str]] = {}
    for name in sorted(snapshot.names(_MODPROBE)):
        path = f"{_MODPROBE}/{name}"
        for module, line in _OPTIONS_LINE.findall(snapshot.files.get(path, "")):
            for word in line.split():
                option, equals, value = word.partition("=")
                options[f"{module.replace('-', '_')}.{option}"] = (value if equals else "", path)
    return options
