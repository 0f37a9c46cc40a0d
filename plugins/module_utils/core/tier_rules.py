# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a tier alone can get wrong across its fields, before any machine is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations

from .cpuset import CpuSet
from .tier import CpuIntent, CpuRequest, Manifest, Tier
from .tier_breach import Breach, Rule, breaches, repeated
from .tier_rules_config import CONFIG_RULES
from .tier_rules_kubelet import KUBELET_RULES
from .tier_tree import Fault

ROLES = ("reserved", "isolated", "shared", "offlined", "ovs_dpdk")

# Which hugepage sizes one machine can have: x86, arm64 with 4 KiB pages, arm64 with 64 KiB pages.
_SIZE_FAMILIES = {
    "x86_64": frozenset({"2M", "1G"}),
    "arm64 with 4k pages": frozenset({"64k", "2M", "32M", "1G"}),
    "arm64 with 64k pages": frozenset({"2M", "512M", "16G"}),
}


def broken_rules(tier: Tier, failed: AbstractSet[str]) -> list[Fault]:
    """Return the faults of a tier whose fields are right one by one; rules about a `failed` field are left out."""
    return list(breaches((*TIER_RULES, *KUBELET_RULES, *CONFIG_RULES), tier, failed))


def _named_cpus(request: CpuRequest) -> CpuSet:
    """Return the CPUs that a request names one by one."""
    if isinstance(request, CpuIntent):
        return request.include
    return request if request is not None else CpuSet()


def _overlaps(tier: Tier) -> Iterator[Breach]:
    for one, other in combinations(ROLES, 2):
        first, second = _named_cpus(getattr(tier.cpu, one)), _named_cpus(getattr(tier.cpu, other))
        both = first & second
        if both:
            yield Breach(
                f"cpu.{other}",
                f"{one} and {other} both name CPU {both}",
                f"{one} {first}, {other} {second}",
                "give every CPU one role",
            )


def _otherwise_alone(tier: Tier) -> Iterator[Breach]:
    if tier.cpu.otherwise is not None and not isinstance(tier.cpu.reserved, CpuSet):
        why = "it says what a list of reserved CPUs means on other machines, and there is no list"
        yield Breach("cpu.otherwise", "otherwise has nothing to replace", why, "move it to cpu.reserved")


def _realtime_hint(tier: Tier) -> Iterator[Breach]:
    if tier.kernel.realtime and tier.workload_hints is not None and not tier.workload_hints.real_time:
        why = "the real-time kernel without low-latency settings starves its own housekeeping"
        path = "workload_hints.real_time" if "workload_hints.real_time" in tier.origins else "workload_hints"
        yield Breach(path, "real_time is false with kernel.realtime: true", why, "real_time: true")


def _power_hints(tier: Tier) -> Iterator[Breach]:
    hints = tier.workload_hints
    if hints and hints.high_power_consumption and hints.per_pod_power_management:
        why = "the first keeps all cores awake, the second lets pods choose their power states"
        what = "high_power_consumption and per_pod_power_management exclude each other"
        yield Breach("workload_hints.per_pod_power_management", what, why, "keep one of them")


def _mixed_without_shared(tier: Tier) -> Iterator[Breach]:
    if tier.workload_hints and tier.workload_hints.mixed_cpus and tier.cpu.shared is None:
        fix = "name the CPUs that pinned containers may use together in cpu.shared"
        yield Breach("workload_hints.mixed_cpus", "mixed_cpus needs cpu.shared", "no CPU is shared", fix)


def _pages_without_default(tier: Tier) -> Iterator[Breach]:
    if tier.hugepages.pages and not tier.hugepages.default_size:
        fix = f"default_size: {tier.hugepages.pages[0].size}"
        why = "which size programs get that do not name one would depend on the machine"
        yield Breach("hugepages.pages", "hugepages need a default_size", why, fix)


def _pages_twice(tier: Tier) -> Iterator[Breach]:
    names = [
        f"{page.size} pages" + ("" if page.node is None else f" on node {page.node}") for page in tier.hugepages.pages
    ]
    for position, name in repeated(names):
        yield Breach(f"hugepages.pages.{position}", f"{name} are asked for twice", "", "add the counts up")


def _page_sizes(tier: Tier) -> Iterator[Breach]:
    sizes = {page.size for page in tier.hugepages.pages} | ({tier.hugepages.default_size} - {""})
    families = {
        name: sizes_of
        for name, sizes_of in _SIZE_FAMILIES.items()
        if not tier.kernel.page_size or ("64k" in name.split()) == (tier.kernel.page_size == "64k")
    }
    if not any(sizes <= family for family in families.values()):
        listed = "; ".join(f"{name}: {', '.join(sorted(family))}" for name, family in families.items())
        what = f"no machine has hugepages of {', '.join(sorted(sizes))} together"
        yield Breach("hugepages", what, listed, "use sizes of one kind of machine")


def _one_frequency(tier: Tier) -> Iterator[Breach]:
    frequency = tier.frequency
    if bool(frequency.isolated_khz) != bool(frequency.reserved_khz):
        given, other = ("isolated_khz", "reserved_khz") if frequency.isolated_khz else ("reserved_khz", "isolated_khz")
        yield Breach(f"frequency.{given}", f"{given} needs {other}", "frequencies are fixed for all CPUs or none")


def _large_pages_and_realtime(tier: Tier) -> Iterator[Breach]:
    if tier.kernel.page_size == "64k" and tier.kernel.realtime:
        yield Breach("kernel.page_size", "there is no real-time kernel with 64k pages", "", "page_size: 4k")


def _networking(tier: Tier) -> Iterator[Breach]:
    if tier.net.user_level_networking and tier.cpu.reserved is None:
        why = "devices get one queue for each reserved CPU, and no CPU is reserved"
        yield Breach("net.user_level_networking", "user_level_networking needs cpu.reserved", why, "set cpu.reserved")
    for position, device in enumerate(tier.net.devices):
        path = f"net.devices.{position}"
        if device.device_id and not device.vendor_id:
            why = "device ids are only unique for one vendor"
            yield Breach(path, f"device_id {device.device_id} needs vendor_id", why)
        if not (device.interface_name or device.vendor_id or device.device_id):
            yield Breach(path, "the device has no property", "it would match nothing in particular", "leave it out")


def _only_in_a_profile(tier: Tier) -> Iterator[str]:
    """Yield the paths of the settings that only a PerformanceProfile can carry."""
    yield from (f"cpu.{role}" for role in ROLES[1:] if getattr(tier.cpu, role) is not None)
    others = {
        "cpu.reserved": tier.cpu.reserved is not None and tier.cpu.enforce_isolation,
        "cpu.balance_isolated": not tier.cpu.balance_isolated,
        "workload_hints": tier.workload_hints is not None,
        "irq.balance_isolated": not tier.irq.balance_isolated,
        "irq.rps": tier.irq.rps,
        "net.user_level_networking": tier.net.user_level_networking,
        "frequency": bool(tier.frequency.isolated_khz),
        "openshift.annotations": bool(tier.openshift.annotations),
    }
    yield from (path for path, given in others.items() if given)


def _kubelet_config_too_small(tier: Tier) -> Iterator[Breach]:
    if tier.openshift.manifest is not Manifest.KUBELET_CONFIG:
        return
    for path in _only_in_a_profile(tier):
        fix = "manifest: performance-profile" + (
            ", or cpu.enforce_isolation: false" if path == "cpu.reserved" else f", or leave {path} out"
        )
        yield Breach(path, "a KubeletConfig cannot carry this", "openshift.manifest is kubelet-config", fix)


def _profile_without_cpus(tier: Tier) -> Iterator[Breach]:
    if tier.openshift.manifest is Manifest.PERFORMANCE_PROFILE and tier.cpu.reserved is None:
        why = "a PerformanceProfile must say which CPUs are reserved and which are isolated"
        yield Breach("openshift.manifest", "performance-profile needs cpu.reserved", why, "set cpu.reserved")


def _profile_selectors(tier: Tier) -> Iterator[Breach]:
    if tier.is_profile and len(tier.openshift.node_selector) > 1:
        why = f"it has {len(tier.openshift.node_selector)} labels"
        what = "the node selector of a PerformanceProfile has exactly one label"
        yield Breach("openshift.node_selector", what, why, "keep the label of the pool's role")


def _names_twice(tier: Tier) -> Iterator[Breach]:
    lists = {
        "resctrl": ("class", [one.name for one in tier.resctrl]),
        "kernel_instances": ("kernel instance", [one.name for one in tier.kernel_instances]),
        "placement.taints": ("taint", [_taint_key(taint) for taint in tier.placement.taints]),
    }
    for path, (noun, words) in lists.items():
        for position, word in repeated(words):
            yield Breach(f"{path}.{position}", f"there are two of the {noun} {word}", "", "keep one of them")


def _taint_key(taint: str) -> str:
    head, _, effect = taint.rpartition(":")
    return f"{head.partition('=')[0]}:{effect}"


def _cache_roles(tier: Tier) -> Iterator[Breach]:
    for position, one in enumerate(tier.resctrl):
        if one.cpus and getattr(tier.cpu, one.cpus) is None and not (one.cpus == "isolated" and tier.cpu.reserved):
            why = f"cpu.{one.cpus} is not set"
            yield Breach(f"resctrl.{position}.cpus", f"no CPU has the role {one.cpus}", why, f"set cpu.{one.cpus}")
    named = [one.cpus or f"({position})" for position, one in enumerate(tier.resctrl)]
    for position, role in repeated(named):
        yield Breach(f"resctrl.{position}.cpus", f"two classes want the {role} CPUs", "a CPU has one default class")


def _said_twice(tier: Tier) -> Iterator[Breach]:
    if tier.hugepages.pages and "vm.nr_hugepages" in tier.sysctl:
        what = "vm.nr_hugepages and hugepages.pages set the same pool"
        yield Breach("sysctl.vm.nr_hugepages", what, "the later of the two would win", "keep hugepages.pages")


def _unthrottled_realtime(tier: Tier) -> Iterator[Breach]:
    guarded = tier.kernel.realtime or (tier.workload_hints is not None and tier.workload_hints.real_time)
    if tier.sysctl.get("kernel.sched_rt_runtime_us") == "-1" and not guarded:
        what = "real-time threads would run without any limit"
        why = "a busy one starves the kernel's own threads: this kernel is not the real-time one and nothing guards it"
        fix = "kernel.realtime: true, or workload_hints.real_time: true (which brings stalld), or leave it out"
        yield Breach("sysctl.kernel.sched_rt_runtime_us", what, why, fix)


_PROFILE_FIELDS = ("openshift", "cpu", "workload_hints", "irq", "net", "frequency")

TIER_RULES = (
    Rule("TUN-1401", ("cpu",), _overlaps),
    Rule("TUN-1402", ("workload_hints", "kernel.realtime"), _realtime_hint),
    Rule("TUN-1403", ("workload_hints",), _power_hints),
    Rule("TUN-1404", ("workload_hints.mixed_cpus", "cpu.shared"), _mixed_without_shared),
    Rule("TUN-1405", ("hugepages",), _pages_without_default),
    Rule("TUN-1406", ("hugepages.pages",), _pages_twice),
    Rule("TUN-1407", ("hugepages", "kernel.page_size"), _page_sizes),
    Rule("TUN-1408", ("frequency",), _one_frequency),
    Rule("TUN-1409", ("kernel.page_size", "kernel.realtime"), _large_pages_and_realtime),
    Rule("TUN-1416", _PROFILE_FIELDS, _kubelet_config_too_small),
    Rule("TUN-1417", ("openshift.manifest", "cpu"), _profile_without_cpus),
    Rule("TUN-1418", ("openshift", "cpu"), _profile_selectors),
    Rule("TUN-1419", ("net", "cpu.reserved"), _networking),
    Rule("TUN-1420", ("cpu.otherwise", "cpu.reserved"), _otherwise_alone),
    Rule("TUN-1421", ("resctrl", "kernel_instances", "placement.taints"), _names_twice),
    Rule("TUN-1422", ("hugepages", "sysctl"), _said_twice),
    Rule("TUN-1423", ("sysctl", "kernel.realtime", "workload_hints"), _unthrottled_realtime),
    Rule("TUN-1426", ("resctrl", "cpu"), _cache_roles),
)
