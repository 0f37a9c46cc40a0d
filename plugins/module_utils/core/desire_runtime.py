# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel parameters, values of the running kernel and swap that a tier means."""

from __future__ import annotations

from collections.abc import Iterator

from .desire_context import DesireContext, Wanted
from .desired import Area, Impact, Platform, Setting
from .findings import Finding, Severity
from .hugepage_plan import requests
from .sysctl import (
    REASONS,
    SYSCTL_DOCUMENT,
    RuntimeSetting,
    SysctlSetting,
    canonical_name,
    canonical_value,
    translate_sysctl,
)
from .sysctl_judge import judge_sysctls

_THP = "/sys/kernel/mm/transparent_hugepage"
_RPS = "net.core.rps_default_mask"


def desire_runtime(context: DesireContext) -> Wanted:
    """Return sysctls, runtime values and swap, and what was found about them."""
    sysctls = _sysctls(context)
    settings = (
        *sysctls.settings,
        *_memory(context),
        *_hugepages(context),
        *_offlined(context),
        *_interrupts(context),
        *_frequencies(context),
        *_swap(context),
    )
    return Wanted(settings, (*sysctls.findings, *judge_sysctls(context)))


def _sysctls(context: DesireContext) -> Wanted:
    asked = {canonical_name(name): (value, f"sysctl.{name}") for name, value in context.tier.sysctl.items()}
    if context.tier.irq.rps and context.is_profile and _RPS not in asked:
        asked[_RPS] = (context.partition.reserved.mask(), "irq.rps")
    settings: list[Setting] = []
    findings: list[Finding] = []
    for name, (value, path) in asked.items():
        translated = translate_sysctl(name, canonical_value(str(value)), context.environment, context.tier.name)
        if isinstance(translated, Finding):
            findings.append(_located(context, translated, path))
            continue
        settings.append(_translated(context, translated, path))
        if isinstance(translated, RuntimeSetting) and translated.note:
            findings.append(_renamed(context, translated, path))
    return Wanted(tuple(settings), tuple(findings))


def _located(context: DesireContext, finding: Finding, path: str) -> Finding:
    return context.finding(
        finding.id,
        finding.severity,
        finding.message,
        path=path,
        expected=finding.expected,
        actual=finding.actual,
        why=finding.why,
        remedy=finding.remedy,
        setting=finding.setting,
    )


def _translated(context: DesireContext, found: SysctlSetting | RuntimeSetting, path: str) -> Setting:
    if isinstance(found, SysctlSetting):
        return context.setting(
            Area.SYSCTL,
            found.name,
            found.value,
            Impact.LIVE,
            why=REASONS.get(found.name, "The tier asks for this kernel parameter."),
            source=SYSCTL_DOCUMENT,
            path=path,
        )
    return context.setting(
        Area.RUNTIME,
        found.path,
        found.value,
        Impact.LIVE,
        why=f"{REASONS.get(found.name, '')} This kernel keeps {found.name} in debugfs.".strip(),
        source="kernel kernel/sched/debug.c",
        path=path,
    )


def _renamed(context: DesireContext, found: RuntimeSetting, path: str) -> Finding:
    return context.finding(
        "sysctl.meaning",
        Severity.INFO,
        f"{found.name} is {found.path} on this kernel, with a changed meaning",
        path=path,
        expected=found.value,
        actual=found.path,
        why=found.note,
        remedy="check that the value is meant for the new scheduler",
        setting=f"runtime.{found.path}",
    )


def _file(  # noqa: PLR0913, PLR0917  the parts of one value
    context: DesireContext, path: str, value: str, tier_path: str, why: str, source: str
) -> Setting:
    return context.setting(Area.RUNTIME, path, value, Impact.LIVE, why=why, source=source, path=tier_path)


def _memory(context: DesireContext) -> Iterator[Setting]:
    memory = context.tier.memory
    document = "kernel admin-guide/mm/transhuge"
    if memory.transparent_hugepages:
        why = "It decides when the kernel backs memory by huge pages on its own, which costs compaction."
        path = "memory.transparent_hugepages"
        yield _file(context, f"{_THP}/enabled", memory.transparent_hugepages, path, why, document)
    if memory.thp_defrag:
        why = "It decides whether a page fault waits for the kernel to make room for a huge page."
        yield _file(context, f"{_THP}/defrag", memory.thp_defrag, "memory.thp_defrag", why, document)
    if memory.thp_shmem:
        why = "It decides which shared memory gets huge pages on its own; `enabled` is not about it."
        yield _file(context, f"{_THP}/shmem_enabled", memory.thp_shmem, "memory.thp_shmem", why, document)
    if memory.khugepaged_defrag is not None:
        why = "khugepaged that compacts moves pages of running tasks; `defrag` beside it is about page faults only."
        value = "1" if memory.khugepaged_defrag else "0"
        yield _file(context, f"{_THP}/khugepaged/defrag", value, "memory.khugepaged_defrag", why, document)
    if memory.ksm is not None:
        why = "Merging equal pages costs CPU time and makes writes to merged pages slow."
        value = "1" if memory.ksm else "0"
        yield _file(context, "/sys/kernel/mm/ksm/run", value, "memory.ksm", why, "kernel admin-guide/mm/ksm")


def _hugepages(context: DesireContext) -> Iterator[Setting]:
    # The kubelet counts hugepages when it starts, and a Static memory manager refuses its checkpoint when they moved.
    impact = Impact.DRAIN if context.memory_policy == "Static" else Impact.RESTART
    known = {node.id for node in context.topology.numa_nodes}
    for request, size_kib in requests(context):
        if request.node is None or request.node not in known:
            continue
        directory = f"/sys/devices/system/node/node{request.node}/hugepages/hugepages-{size_kib}kB"
        yield context.setting(
            Area.RUNTIME,
            f"{directory}/nr_hugepages",
            str(request.count),
            impact,
            why=f"NUMA node {request.node} sets aside {request.count} hugepages of {request.size}.",
            source="kernel admin-guide/mm/hugetlbpage",
            path="hugepages.pages",
        )


def _offlined(context: DesireContext) -> Iterator[Setting]:
    for cpu in context.partition.offlined:
        yield context.setting(
            Area.RUNTIME,
            f"/sys/devices/system/cpu/cpu{cpu}/online",
            "0",
            Impact.DRAIN,
            why=f"CPU {cpu} is taken offline before the kubelet counts CPUs.",
            source="kernel core-api/cpu_hotplug",
            path="cpu.offlined",
        )


def _interrupts(context: DesireContext) -> Iterator[Setting]:
    partition = context.partition
    isolated = partition.isolated | partition.ovs_dpdk
    if context.tier.irq.balance_isolated or not isolated:
        return
    rest = context.topology.online - partition.offlined - isolated
    why = "Interrupts that are set up from now on keep off the isolated CPUs."
    yield _file(
        context,
        "/proc/irq/default_smp_affinity",
        rest.mask(context.topology.present.last + 1),
        "irq.balance_isolated",
        why,
        "kernel core-api/irq/irq-affinity",
    )


def _frequencies(context: DesireContext) -> Iterator[Setting]:
    spec = context.tier.frequency
    if not (spec.isolated_khz and spec.reserved_khz):
        return
    for role, khz in (("isolated", spec.isolated_khz), ("reserved", spec.reserved_khz)):
        for cpu in getattr(context.partition, role):
            # The CPU's own link: policies may span several CPUs and are numbered otherwise.
            path = f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_max_freq"
            why = f"{role.capitalize()} CPUs run at most at {khz} kHz."
            yield _file(context, path, str(khz), f"frequency.{role}_khz", why, "kernel admin-guide/pm/cpufreq")


def _swap(context: DesireContext) -> Iterator[Setting]:
    if context.tier.memory.swap is False and context.platform is Platform.KUBEADM:
        yield context.setting(
            Area.SWAP,
            "devices",
            "off",
            Impact.LIVE,
            why="Pages of pods never go to disk, where reading them back takes milliseconds.",
            source="swapoff(8)",
            path="memory.swap",
        )
