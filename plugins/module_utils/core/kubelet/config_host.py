# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What of a host decides whether a kubelet starts on a configuration, beside its CPUs and its memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# Source: kubelet container manager, setupKernelTunables.
KERNEL_DEFAULTS: Mapping[str, str] = {
    "vm.overcommit_memory": "1",
    "vm.panic_on_oom": "0",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "kernel.keys.root_maxkeys": "1000000",
    "kernel.keys.root_maxbytes": "25000000",
}


@dataclass(frozen=True)
class HostFacts:
    """Facts about a host; the defaults are those of a host that nothing is known of.

    Shape: `sysctls` are the kernel parameters that were read.
    """

    cgroup_version: int = 2
    swap_on: bool = False
    sysctls: Mapping[str, str] = field(default_factory=dict)
