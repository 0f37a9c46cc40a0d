# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kernel arguments of a partitioned node, in the order and with the content of the node tuning operator.

Nodes that the operator tunes and nodes that tunectl tunes itself then boot the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .cmdline import page_size_kib
from .cpuset import CpuSet
from .desired import Partition
from .tier import HugepageRequest, HugepagesSpec, Tier, WorkloadHints

INTEL, AMD, ARM, OTHER = "intel", "amd", "arm", "other"
_VENDORS = {"GenuineIntel": INTEL, "AuthenticAMD": AMD, INTEL: INTEL, AMD: AMD, ARM: ARM}
# The operator lets intel_pstate control frequencies on processors newer than these only.
_OLD_PMU = frozenset(("", "sandybridge", "ivybridge", "haswell", "broadwell", "skylake"))
_KIB_2M, _KIB_1G = 2 << 10, 1 << 20


@dataclass(frozen=True)
class BootFacts:
    """What the arguments depend on besides the tier.

    Shape: `online` are the CPUs that run while the arguments are computed; `vendor` is one of intel, amd, arm and
    other; `pmu_name` is the text of /sys/devices/cpu/caps/pmu_name, empty where there is none.
    """

    vendor: str
    online: CpuSet
    pmu_name: str = ""


def cpu_vendor(arch: str, vendor: str) -> str:
    """Return intel, amd, arm or other for an architecture (`uname -m`) and the vendor text of the processor."""
    if arch == "aarch64":
        return ARM
    return _VENDORS.get(vendor, OTHER)


def operator_args(tier: Tier, partition: Partition, facts: BootFacts) -> tuple[str, ...]:
    """Return the kernel arguments that the operator's TuneD profile gives such a tier, repeated ones kept.

    Shape: `name` or `name=value`, in order; hugepage pairs adjacent; the tier's own arguments last. CPUs that are
    shared, offlined or in no set count as not isolated. On a vendor the operator has no profile for, the arguments
    are those without any vendor's part (the operator itself would set none at all).
    Source: openshift/cluster-node-tuning-operator performance profile and TuneD cpu-partitioning, TuneD 2.24.
    """
    hints = tier.workload_hints or WorkloadHints()
    isolated = partition.isolated | partition.ovs_dpdk
    x86 = facts.vendor in (INTEL, AMD)
    return (
        *("skew_tick=1", "tsc=reliable", "rcupdate.rcu_normal_after_boot=1"),
        *_housekeeping(isolated, facts.online),
        *{INTEL: ("intel_iommu=on", "iommu=pt"), AMD: ("iommu=pt",)}.get(facts.vendor, ()),
        # The pstate argument of AMD stands with its platform arguments, the one of Intel after the idle states.
        *(_pstate(tier, hints, facts) if facts.vendor == AMD else ()),
        *(("tsc=reliable", "nmi_watchdog=0", "mce=off") if x86 and hints.real_time else ()),
        *(_idle_states(hints, facts.vendor) if x86 and hints.high_power_consumption else ()),
        *(_pstate(tier, hints, facts) if facts.vendor == INTEL else ()),
        *(f"nohz_full={isolated}", "skew_tick=1"),
        f"isolcpus={'' if tier.cpu.balance_isolated else 'domain,'}managed_irq,{isolated}",
        *(("nosoftlockup", "rcutree.kthread_prio=11") if hints.real_time else ()),
        *hugepage_args(tier.hugepages),
        *_irq_affinity(partition),
        *own_args(tier),
    )


def own_args(tier: Tier) -> tuple[str, ...]:
    """Return the arguments that the tier asks for itself: `nosmt` where SMT is off, then `kernel.args`."""
    wants_nosmt = tier.cpu.disable_smt and "nosmt" not in tier.kernel.args
    return (*(("nosmt",) if wants_nosmt else ()), *tier.kernel.args)


def hugepage_args(spec: HugepagesSpec) -> tuple[str, ...]:
    """Return `default_hugepagesz=` and one `hugepagesz=`, `hugepages=` pair for each request without a NUMA node.

    Shape: requests of a node are made when the system is up; 2M pages asked for only there, beside a default of 1G,
    get a pair with count 0, because their directory in sysfs would be missing otherwise.
    Source: kernel `admin-guide/kernel-parameters`, hugepagesz.
    """
    pairs = [(request.size, request.count) for request in spec.pages if request.node is None]
    if _kib(spec.default_size) == _KIB_1G and _only_on_nodes(spec.pages, _KIB_2M):
        pairs.append(("2M", 0))
    return (
        *((f"default_hugepagesz={spec.default_size}",) if spec.default_size else ()),
        *(argument for size, count in pairs for argument in (f"hugepagesz={size}", f"hugepages={count}")),
    )


def _only_on_nodes(pages: Iterable[HugepageRequest], size_kib: int) -> bool:
    wanted = [request.node for request in pages if _kib(request.size) == size_kib]
    return bool(wanted) and None not in wanted


def _kib(size: str) -> int:
    try:
        return page_size_kib(size)
    except ValueError:
        return 0


def _housekeeping(isolated: CpuSet, online: CpuSet) -> Iterator[str]:
    rest = online - isolated
    yield "nohz=on"
    yield f"rcu_nocbs={isolated}"
    yield f"tuned.non_isolcpus={rest.mask()}"
    yield f"systemd.cpu_affinity={','.join(str(cpu) for cpu in rest)}"


def _idle_states(hints: WorkloadHints, vendor: str) -> Iterator[str]:
    yield "processor.max_cstate=1"
    if vendor == INTEL:
        yield "intel_idle.max_cstate=0"
    if hints.real_time:
        yield "idle=poll"


def _pstate(tier: Tier, hints: WorkloadHints, facts: BootFacts) -> tuple[str]:
    recommended = "guided" if facts.vendor == AMD else "disable" if facts.pmu_name in _OLD_PMU else "active"
    has_frequencies = bool(tier.frequency.isolated_khz and tier.frequency.reserved_khz)
    mode = "passive" if hints.per_pod_power_management else "active" if has_frequencies else recommended
    return (f"{facts.vendor}_pstate={mode}",)


def _irq_affinity(partition: Partition) -> tuple[str, ...]:
    if not partition.ovs_dpdk:
        return ()
    return (f"irqaffinity={partition.reserved | partition.isolated | partition.shared}",)
