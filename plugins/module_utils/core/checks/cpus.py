# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are the CPUs of the partition there."""

from __future__ import annotations

from collections.abc import Iterator

from ..cpuset import CpuSet
from ..desired import DesiredState
from ..findings import Evidence, Finding, Verdict
from ..observed import ObservedState
from .statement import Statement, finding, verdict_of

ONLINE = "/sys/devices/system/cpu/online"


def check_online(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether every CPU that the partition gives work to is online; nothing without a partition."""
    check = "cpu.online.partition"
    partition = desired.partition
    wanted = partition.reserved | partition.isolated | partition.shared | partition.ovs_dpdk
    if not wanted:
        return
    online = online_cpus(observed)
    if online is None:
        why = observed.snapshot.why_missing(ONLINE)
        yield finding(check, Verdict.UNKNOWN, observed, Statement(f"{ONLINE} could not be read: {why}", str(wanted)))
        return
    missing = wanted - online
    message = f"CPUs {missing} of the partition are not online" if missing else "all CPUs of the partition are online"
    yield finding(
        check,
        verdict_of(not missing),
        observed,
        Statement(message, wanted.format(), online.format(), evidence=(Evidence(ONLINE, online.format()),)),
    )


def online_cpus(observed: ObservedState) -> CpuSet | None:
    """Return the online CPUs, None when the node does not say."""
    text = observed.snapshot.files.get(ONLINE)
    try:
        return None if text is None else CpuSet.parse(text)
    except ValueError:
        return None
