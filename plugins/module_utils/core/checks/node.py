# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""All checks of one node, in the order in which they are reported."""

from __future__ import annotations

from ..desired import DesiredState
from ..findings import Finding
from ..observed import ObservedState
from .boot import check_next_boot, check_pending_boot
from .cpus import check_online
from .files import check_foreign_files
from .interrupts import check_interrupts
from .isolation import check_isolation
from .kubelet import check_cpu_checkpoint, check_memory_checkpoint
from .settings import check_settings
from .sysctl_files import check_overrides, check_persistence
from .tuners import check_tuners


def verify_node(desired: DesiredState, observed: ObservedState) -> tuple[Finding, ...]:
    """Return one finding for each setting of the desired state, then those about the node as a whole.

    Shape: ids are unique within the result; a setting's finding has the setting's id. A check that could not look is
    `UNKNOWN` with the reason, never `PASS`.
    """
    return (
        *check_settings(desired, observed),
        *check_online(desired, observed),
        *check_cpu_checkpoint(desired, observed),
        *check_memory_checkpoint(desired, observed),
        *check_isolation(desired, observed),
        *check_interrupts(desired, observed),
        *check_pending_boot(desired, observed),
        *check_next_boot(desired, observed),
        *check_overrides(desired, observed),
        *check_persistence(desired, observed),
        *check_tuners(desired, observed),
        *check_foreign_files(desired, observed),
    )
