# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kernel's own knobs: transparent hugepages, same-page merging, scheduler, workqueues, cgroups, lockdown."""

from __future__ import annotations

import math

from ..core.cmdline import kernel_arguments, last_value, parse_cmdline
from ..core.cpuset import CpuSet
from .boot import THP_CHOICES, Boot
from .node import SimulatedNode

THP = "/sys/kernel/mm/transparent_hugepage"
SCHED = "/sys/kernel/debug/sched"
WORKQUEUE = "/sys/devices/virtual/workqueue"
_EEVDF = (6, 6)
_CGROUP = "/sys/fs/cgroup"
_CPUIDLE = "/sys/devices/system/cpu/cpuidle"
_PSTATE = "/sys/devices/system/cpu/intel_pstate"
_GROUPS = ("", "system.slice/", "kubepods.slice/")
_CONTROLLERS = "cpuset cpu io memory hugetlb pids rdma misc"
_MOST_SCALED_CPUS = 8
_CPUINFO = (
    "processor\t: {cpu}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model_id}\nmodel name\t: {model}\n"
    "physical id\t: {socket}\nsiblings\t: {siblings}\ncore id\t\t: {core}\ncpu cores\t: {cores}\n"
    "flags\t\t: {flags}\n\n"
)
_FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx "
    "pdpe1gb rdtscp lm constant_tsc rep_good nopl nonstop_tsc cpuid ssse3 fma cx16 sse4_1 sse4_2 x2apic movbe popcnt "
    "aes xsave avx f16c rdrand lahf_lm abm fsgsbase bmi1 avx2 smep bmi2 erms invpcid"
)


def choice(options: tuple[str, ...], chosen: str, marks: str = "[]") -> str:
    """Return a choice as the kernel shows it: `always [madvise] never`."""
    return " ".join(f"{marks[0]}{word}{marks[1]}" if word == chosen else word for word in options) + "\n"


def memory_knobs(boot: Boot) -> dict[str, str]:
    """Return transparent hugepages and same-page merging after boot. Source: kernel admin-guide/mm."""
    values = {
        "khugepaged/alloc_sleep_millisecs": "60000",
        "khugepaged/defrag": "1",
        "khugepaged/max_ptes_none": "511",
        "khugepaged/max_ptes_shared": "256",
        "khugepaged/max_ptes_swap": "64",
        "khugepaged/pages_to_scan": "4096",
        "khugepaged/scan_sleep_millisecs": "10000",
        "hpage_pmd_size": "2097152",
        "use_zero_page": "1",
    }
    files = {f"{THP}/{name}": f"{value}\n" for name, value in values.items()}
    files[f"{THP}/enabled"] = choice(THP_CHOICES, boot.thp)
    files[f"{THP}/defrag"] = choice(("always", "defer", "defer+madvise", "madvise", "never"), "madvise")
    shmem = ("always", "within_size", "advise", "never", "deny", "force")
    files[f"{THP}/shmem_enabled"] = choice(shmem, "never")
    ksm = {
        "run": "0",
        "merge_across_nodes": "1",
        "pages_to_scan": "100",
        "sleep_millisecs": "20",
        "pages_shared": "0",
        "pages_sharing": "0",
        "max_page_sharing": "256",
        "use_zero_pages": "0",
    }
    files.update({f"/sys/kernel/mm/ksm/{name}": f"{value}\n" for name, value in ksm.items()})
    return files


def scheduler_knobs(online: CpuSet, kernel: tuple[int, int]) -> dict[str, str]:
    """Return the scheduler's debugfs as this kernel has it, values scaled by the number of CPUs.

    Source: kernel `kernel/sched/debug.c`, `kernel/sched/fair.c` (`get_update_sysctl_factor`).
    """
    factor = 1 + int(math.log2(min(len(online), _MOST_SCALED_CPUS)))
    values = {
        "tunable_scaling": "1",
        "migration_cost_ns": "500000",
        "nr_migrate": "32",
        "latency_warn_ms": "100",
        "latency_warn_once": "1",
        "numa_balancing/scan_delay_ms": "1000",
        "numa_balancing/scan_period_min_ms": "1000",
        "numa_balancing/scan_period_max_ms": "60000",
        "numa_balancing/scan_size_mb": "256",
    }
    if kernel >= (6, 1):
        values["numa_balancing/hot_threshold_ms"] = "1000"
    if kernel >= _EEVDF:
        values["base_slice_ns"] = str(750_000 * factor)
    else:
        values.update(
            {
                "latency_ns": str(6_000_000 * factor),
                "min_granularity_ns": str(750_000 * factor),
                "idle_min_granularity_ns": "750000",
                "wakeup_granularity_ns": str(1_000_000 * factor),
            }
        )
    if kernel < (5, 16):
        del values["idle_min_granularity_ns"]
    files = {f"{SCHED}/{name}": f"{value}\n" for name, value in values.items()}
    files[f"{SCHED}/preempt"] = choice(("none", "voluntary", "full"), "voluntary", "()")
    files[f"{SCHED}/features"] = (
        "GENTLE_FAIR_SLEEPERS START_DEBIT NO_NEXT_BUDDY CACHE_HOT_BUDDY WAKEUP_PREEMPTION NO_HRTICK TTWU_QUEUE "
        "RT_PUSH_IPI NO_RT_RUNTIME_SHARE NO_LB_MIN ATTACH_AGE_LOAD UTIL_EST\n"
    )
    return files


def other_knobs(node: SimulatedNode, boot: Boot) -> dict[str, str]:
    """Return workqueues, lockdown, idle and frequency drivers."""
    width = boot.present.last + 1
    args = tuple(kernel_arguments(parse_cmdline(boot.cmdline)))
    files = {
        f"{WORKQUEUE}/cpumask": boot.isolation.unbound_work(boot.present).mask(width),
        f"{WORKQUEUE}/writeback/cpumask": boot.present.mask(width),
        "/sys/kernel/security/lockdown": "[none] integrity confidentiality",
        f"{_CPUIDLE}/current_driver": "none" if node.is_virtual else "intel_idle",
        f"{_CPUIDLE}/current_governor": "menu",
    }
    driver = last_value(args, "intel_pstate") or "active"
    if node.topology.vendor == "GenuineIntel" and not node.is_virtual and driver != "disable":
        files[f"{_PSTATE}/status"] = "passive" if driver == "passive" else "active"
        files[f"{_PSTATE}/no_turbo"] = "0"
    if node.pmu_name:
        files["/sys/devices/cpu/caps/pmu_name"] = node.pmu_name
    return {path: f"{text}\n" for path, text in files.items()}


def cgroup_files(online: CpuSet) -> dict[str, str]:
    """Return the cgroup tree, version 2, with the CPUs that its groups may use."""
    files = {f"{_CGROUP}/{group}cpuset.cpus.effective": online.format() for group in _GROUPS}
    files.update({f"{_CGROUP}/{group}cgroup.controllers": _CONTROLLERS for group in _GROUPS})
    files[f"{_CGROUP}/cgroup.subtree_control"] = _CONTROLLERS
    return {path: f"{text}\n" for path, text in files.items()}


def identity_files(node: SimulatedNode, boot: Boot, online: CpuSet) -> dict[str, str]:
    """Return what tells kernel and processor: command line, version, cpuinfo."""
    topology = node.topology
    package = {socket: cpus & online for socket, cpus in topology.sockets.items()}
    cores = {socket: len({topology.by_id[cpu].siblings for cpu in cpus}) for socket, cpus in package.items()}
    rows = [
        _CPUINFO.format(
            cpu=cpu.id,
            vendor=topology.vendor,
            family=node.facts.get("cpu_family") or "6",
            model_id=node.facts.get("cpu_model") or "85",
            model=topology.model,
            socket=cpu.socket,
            siblings=len(package[cpu.socket]),
            core=cpu.core,
            cores=cores[cpu.socket],
            flags=_FLAGS,
        )
        for cpu in topology.cpus
        if cpu.id in online
    ]
    profile = node.profile
    return {
        "/proc/cmdline": f"{boot.cmdline}\n",
        "/proc/cpuinfo": "".join(rows),
        "/proc/version": f"Linux version {profile.kernel_release} (simulated) (gcc) {profile.build}\n",
    }
