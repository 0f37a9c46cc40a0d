# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which form each field of a tier has: the one table that decoder, schema, reference and writer read."""

from __future__ import annotations

from dataclasses import replace

from . import tier
from . import tier_grammar as grammar
from . import tier_names as names
from .kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    CPU_MANAGER_POLICIES,
    EVICTION_SIGNALS,
    MANAGED_FIELDS,
    MEMORY_MANAGER_POLICIES,
    OTHER_FIELDS,
    RESERVABLE_RESOURCES,
    SWAP_BEHAVIORS,
    TOPOLOGY_MANAGER_OPTIONS,
    TOPOLOGY_MANAGER_POLICIES,
    TOPOLOGY_MANAGER_SCOPES,
    PolicyOption,
)
from .tier_forms import (
    Choices,
    Cpus,
    Form,
    Json,
    Record,
    Scalar,
    Sequence,
    Table,
    choice,
    plain_name,
    truth,
    whole_number,
)

_ANY_COUNT = 2**31 - 1
# The kernel's MAX_NUMNODES.
_LAST_NODE = 1023
_FULL_PERCENT = 100

_HUGEPAGE_HINTS = dict.fromkeys(
    ("hugepages-2Mi", "hugepages-1Gi", "hugepages"),
    "the kubelet cannot reserve huge pages; take them off the pages given to pods",
)

_FLAG = truth()
_LABELS = Table(names.LABEL_KEY, names.LABEL_VALUE)
_NODE = whole_number(0, _LAST_NODE)


def _enum(noun: str, of: type[tier.Spread | tier.Manifest]) -> Scalar:
    words = choice(noun, tuple(member.value for member in of))
    return replace(words, parse=lambda text: of(words.parse(text)), write=lambda member: member.value)


def _options(noun: str, options: tuple[PolicyOption, ...]) -> Choices:
    forms: dict[str, Form] = {
        option.name: grammar.policy_option(option.name, option.minimum, is_number=option.is_number)
        for option in options
    }
    return Choices(noun, "TUN-1211", forms)


INTENT = Record(
    tier.CpuIntent,
    {
        "count": grammar.CPU_COUNT,
        "spread": _enum("a spread", tier.Spread),
        "near": names.DEVICE_NAME,
        "include": grammar.CPU_LIST,
    },
    required=("count",),
)
_CPUS = Cpus(grammar.CPU_LIST, INTENT)

_CPU = Record(
    tier.CpuSpec,
    {
        "reserved": _CPUS,
        "isolated": Cpus(grammar.CPU_LIST, INTENT, may_be_rest=True),
        "shared": _CPUS,
        "offlined": _CPUS,
        "ovs_dpdk": _CPUS,
        "otherwise": _CPUS,
        "balance_isolated": _FLAG,
        "allow_split_cores": _FLAG,
        "reserve_cpu0": _FLAG,
        "disable_smt": _FLAG,
        "enforce_isolation": _FLAG,
    },
)


def _amounts(noun: str, known: tuple[str, ...], form: Form) -> Choices:
    hints = _HUGEPAGE_HINTS if known == RESERVABLE_RESOURCES else {}
    return Choices(noun, "TUN-1104", dict.fromkeys(known, form), hints)


_RESERVED_MEMORY = Record(
    tier.ReservedMemory,
    {
        "numa_node": _NODE,
        "limits": Choices("a memory resource", "TUN-1104", {"memory": grammar.POSITIVE_QUANTITY}, _HUGEPAGE_HINTS),
    },
    required=("numa_node", "limits"),
)

_KUBELET = Record(
    tier.KubeletSpec,
    {
        "cpu_manager_policy": choice("a CPU manager policy", CPU_MANAGER_POLICIES),
        "cpu_manager_policy_options": _options("an option of the CPU manager", CPU_MANAGER_OPTIONS),
        "cpu_manager_reconcile_period": grammar.DURATION,
        "topology_manager_policy": choice("a topology manager policy", TOPOLOGY_MANAGER_POLICIES),
        "topology_manager_scope": choice("a topology manager scope", TOPOLOGY_MANAGER_SCOPES),
        "topology_manager_policy_options": _options("an option of the topology manager", TOPOLOGY_MANAGER_OPTIONS),
        "memory_manager_policy": choice("a memory manager policy", MEMORY_MANAGER_POLICIES),
        "reserved_memory": Sequence(_RESERVED_MEMORY),
        "system_reserved": _amounts("a resource that can be reserved", RESERVABLE_RESOURCES, grammar.QUANTITY),
        "kube_reserved": _amounts("a resource that can be reserved", RESERVABLE_RESOURCES, grammar.QUANTITY),
        "eviction_hard": _amounts("an eviction signal", EVICTION_SIGNALS, grammar.THRESHOLD),
        "eviction_soft": _amounts("an eviction signal", EVICTION_SIGNALS, grammar.THRESHOLD),
        "eviction_soft_grace_period": _amounts("an eviction signal", EVICTION_SIGNALS, grammar.DURATION),
        "max_pods": whole_number(0, _ANY_COUNT),
        "memory_qos": _FLAG,
        "memory_throttling_factor": grammar.FACTOR,
        "swap_behavior": choice("a swap behavior", SWAP_BEHAVIORS),
        "config": Json(
            "a field of KubeletConfiguration",
            "TUN-1213",
            OTHER_FIELDS,
            {
                name: f"the tier has a key of its own for it: {key}" if key else "tunectl writes it itself"
                for name, key in MANAGED_FIELDS.items()
            },
        ),
    },
)

_HINTS = Record(
    tier.WorkloadHints,
    {
        "real_time": _FLAG,
        "high_power_consumption": _FLAG,
        "per_pod_power_management": _FLAG,
        "mixed_cpus": _FLAG,
    },
)

_KERNEL = Record(
    tier.KernelSpec,
    {
        "realtime": _FLAG,
        "page_size": choice("a kernel page size", ("4k", "64k")),
        "args": Sequence(names.KERNEL_ARGUMENT),
        "modules": Table(names.MODULE_NAME, Table(names.OPTION_NAME, names.MODULE_VALUE)),
    },
)

_HUGEPAGES = Record(
    tier.HugepagesSpec,
    {
        "default_size": grammar.HUGEPAGE_SIZE,
        "pages": Sequence(
            Record(
                tier.HugepageRequest,
                {"size": grammar.HUGEPAGE_SIZE, "count": whole_number(0, _ANY_COUNT), "node": _NODE},
                required=("size", "count"),
            )
        ),
    },
)

_NET = Record(
    tier.NetSpec,
    {
        "user_level_networking": _FLAG,
        "devices": Sequence(
            Record(
                tier.NetDevice,
                {"interface_name": names.INTERFACE, "vendor_id": names.HEX_ID, "device_id": names.HEX_ID},
            )
        ),
    },
)

_PERCENT = whole_number(1, _FULL_PERCENT, "a percentage")
_KILOHERTZ = whole_number(1, _ANY_COUNT, "a number of kHz")

TIER = Record(
    tier.Tier,
    {
        "name": names.TIER_NAME,
        "summary": names.ONE_LINE,
        "pool": names.POOL_NAME,
        "cpu": _CPU,
        "kubelet": _KUBELET,
        "workload_hints": _HINTS,
        "kernel": _KERNEL,
        "hugepages": _HUGEPAGES,
        "irq": Record(tier.IrqSpec, {"balance_isolated": _FLAG, "rps": _FLAG}),
        "net": _NET,
        "frequency": Record(tier.FrequencySpec, {"isolated_khz": _KILOHERTZ, "reserved_khz": _KILOHERTZ}),
        "memory": Record(
            tier.MemorySpec,
            {
                "transparent_hugepages": choice("a THP mode", ("always", "madvise", "never")),
                "thp_defrag": choice("a defrag mode", ("always", "defer", "defer+madvise", "madvise", "never")),
                "thp_shmem": choice("a shared-memory THP mode", ("always", "within_size", "advise", "never", "deny")),
                "khugepaged_defrag": _FLAG,
                "ksm": _FLAG,
                "swap": _FLAG,
            },
        ),
        "sysctl": Table(names.SYSCTL_NAME, names.SYSCTL_VALUE, names.check_sysctl_pair),
        "resctrl": Sequence(
            Record(
                tier.ResctrlClass,
                {
                    "name": names.CLASS_NAME,
                    "l3_ways_percent": _PERCENT,
                    "memory_bandwidth_percent": _PERCENT,
                    "cpus": choice("a partition role", ("reserved", "isolated", "shared", "ovs_dpdk")),
                },
                required=("name",),
            )
        ),
        "kernel_instances": Sequence(
            Record(
                tier.KernelInstance,
                {
                    "name": names.CLASS_NAME,
                    "cpus": whole_number(1, _ANY_COUNT),
                    "memory": grammar.POSITIVE_QUANTITY,
                    "numa_node": _NODE,
                },
                required=("name", "cpus", "memory"),
            )
        ),
        "placement": Record(tier.PlacementSpec, {"labels": _LABELS, "taints": Sequence(names.TAINT)}),
        "openshift": Record(
            tier.OpenShiftSpec,
            {
                "manifest": _enum("a manifest", tier.Manifest),
                "name": names.OBJECT_NAME,
                "pool_labels": _LABELS,
                "node_selector": _LABELS,
                "max_unavailable": grammar.MAX_UNAVAILABLE,
                "annotations": Table(names.LABEL_KEY, names.ONE_LINE),
            },
        ),
    },
    required=("name",),
)

# What the same things are called elsewhere: PerformanceProfile, kubelet flags, habits.
_ALIASES = {
    "reserved_cpus": "cpu.reserved",
    "isolated_cpus": "cpu.isolated",
    "topology_policy": "kubelet.topology_manager_policy",
    "real_time_kernel": "kernel.realtime",
    "additional_kernel_args": "kernel.args",
    "cmdline": "kernel.args",
    "globally_disable_irq_load_balancing": "irq.balance_isolated",
    "hardware_tuning": "frequency",
    "kernel_page_size": "kernel.page_size",
    "default_hugepages_size": "hugepages.default_size",
    "labels": "placement.labels",
    "taints": "placement.taints",
    "node_selector": "openshift.node_selector",
    "thp": "memory.transparent_hugepages",
    "sysctls": "sysctl",
    **{name: path for name, path in MANAGED_FIELDS.items() if path},
}


def key_elsewhere(key: str, section: str) -> str:
    """Return the hint for a key that is unknown in `section` and has its home elsewhere, "" when it has none.

    Shape: exact names only, whatever their case, dashes and underscores; a key that is nearly one of the section's
    own is better explained by that.
    """
    homes = {plain_name(alias): path for alias, path in _ALIASES.items()}
    for name, form in TIER.fields.items():
        if isinstance(form, Record):
            homes.update({plain_name(field): f"{name}.{field}" for field in form.fields})
    home = homes.get(plain_name(key), "")
    if not home or home.rpartition(".")[0] == section:
        return f"did you mean {home.rpartition('.')[2]!r}?" if home else ""
    return f"it belongs there: {home}"
