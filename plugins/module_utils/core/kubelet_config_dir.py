# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a kubelet that reads no drop-ins can be made to, by a drop-in of its unit that is ours alone.

kubeadm's packages start the kubelet with `$KUBELET_CONFIG_ARGS`, which names the configuration file and no directory.
A later drop-in of the unit may set the variable anew; kubeadm and its upgrades leave that file alone.
Source: the unit of the kubelet's packages; kubelet `--config-dir`, alpha in 1.28 behind a variable, beta in 1.30.
"""

from __future__ import annotations

import re

from .kubelet_command import KubeletCommand, kubelet_unit
from .snapshot import Snapshot

DEFAULT_KUBELET_DIR = "/etc/kubernetes/kubelet.conf.d"
OWN_UNIT_FILE = "/etc/systemd/system/kubelet.service.d/20-tunectl-config-dir.conf"
SINCE, WITHOUT_VARIABLE_SINCE = (1, 28), (1, 30)

_VARIABLE = "KUBELET_CONFIG_ARGS"
_FLAG = f"--config-dir={DEFAULT_KUBELET_DIR}"
_OWN = re.compile(rf'^Environment="{_VARIABLE}=([^"]*) {re.escape(_FLAG)}"$', re.MULTILINE)
# What stands in the variable is written into a unit again: nothing that needs quoting there.
_PLAIN = re.compile(r"[A-Za-z0-9_./:=, -]+\Z")


def arguments_to_extend(snapshot: Snapshot, command: KubeletCommand, version: tuple[int, int]) -> str:
    """Return what `KUBELET_CONFIG_ARGS` is without our directory, where it is, or can be, extended by it; "" elsewhere.

    Shape: not for a kubelet that has a directory already, whose version is unknown or older than 1.28, or whose unit
    is not the packages'.
    """
    own = _OWN.search(snapshot.files.get(OWN_UNIT_FILE, ""))
    if own:
        return own.group(1)
    unit = kubelet_unit(snapshot)
    value = unit.environment.get(_VARIABLE, "").strip()
    fits = command.flag("config") and not command.flag("config-dir") and version >= SINCE
    is_packaged = f"${_VARIABLE}" in unit.command.split() and value.startswith("--config=") and _PLAIN.match(value)
    return value if fits and is_packaged else ""


def extended(arguments: str) -> str:
    """Return the value of `KUBELET_CONFIG_ARGS` with our directory."""
    return f"{arguments} {_FLAG}"
