# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A tier: a purpose with settings, the user's intent. Each field carries its own documentation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Union

from .cpuset import CpuSet
from .findings import Origin

TIER_API_VERSION = "tunectl.io/v1alpha1"


def doc(text: str, *, unit: str = "", source: str = "", since: str = "") -> dict[str, Any]:
    """Return field metadata: what the field means, its unit, the document it follows, the version it needs."""
    return {"doc": text, "unit": unit, "source": source, "since": since}


class Spread(Enum):
    """How counted CPUs are laid over a machine."""

    NUMA = "numa"
    PACKED = "packed"


class Manifest(Enum):
    """Which OpenShift object carries the tier; never both on one pool."""

    PERFORMANCE_PROFILE = "performance-profile"
    KUBELET_CONFIG = "kubelet-config"


@dataclass(frozen=True)
class CpuIntent:
    """A number of CPUs instead of a list. `count` is in logical CPUs; with `percent` set it is a share of the online CPUs, rounded up to whole cores."""

    count: int = field(default=0, metadata=doc("How many logical CPUs.", unit="CPUs"))
    percent: int = field(
        default=0, metadata=doc("Instead of count: share of the online CPUs, rounded up to whole cores.", unit="%")
    )
    spread: Spread = field(
        default=Spread.NUMA,
        metadata=doc("numa: evenly over the NUMA nodes that have CPUs; packed: fill NUMA nodes from the lowest id."),
    )
    near: str = field(default="", metadata=doc("Name or PCI address of a device whose NUMA node is served first."))
    include: CpuSet = field(default_factory=CpuSet, metadata=doc("CPUs that must be among the chosen ones."))


CpuRequest = Union[CpuSet, CpuIntent, None]


@dataclass(frozen=True)
class CpuSpec:
    """Which CPUs do what. Lists are honoured exactly and judged; intents are computed from the machine."""

    reserved: CpuRequest = field(
        default=None,
        metadata=doc(
            "CPUs for the operating system, the kubelet and interrupts.",
            source="PerformanceProfile v2 spec.cpu.reserved",
        ),
    )
    isolated: CpuRequest = field(
        default=None,
        metadata=doc(
            "CPUs for workloads; absent means all that is left.", source="PerformanceProfile v2 spec.cpu.isolated"
        ),
    )
    shared: CpuRequest = field(
        default=None,
        metadata=doc(
            "CPUs that pinned containers may use together (needs the mixed_cpus hint).",
            source="PerformanceProfile v2 spec.cpu.shared",
        ),
    )
    offlined: CpuRequest = field(
        default=None,
        metadata=doc("CPUs taken offline before the kubelet starts.", source="PerformanceProfile v2 spec.cpu.offlined"),
    )
    ovs_dpdk: CpuRequest = field(
        default=None,
        metadata=doc(
            "CPUs for OVS-DPDK poll threads: isolated and hidden from the kubelet.",
            source="PerformanceProfile v2 spec.cpu.ovsDpdk",
        ),
    )
    otherwise: CpuRequest = field(
        default=None,
        metadata=doc(
            "What reserved means on machines that the lists were not written for (their CPUs are not exactly the machine's)."
        ),
    )
    balance_isolated: bool = field(
        default=True,
        metadata=doc(
            "Whether the scheduler balances load over isolated CPUs; false adds `domain` to isolcpus.",
            source="PerformanceProfile v2 spec.cpu.balanceIsolated",
        ),
    )
    allow_split_cores: bool = field(default=False, metadata=doc("Whether threads of one core may get different roles."))
    reserve_cpu0: bool = field(
        default=True, metadata=doc("Whether CPU 0, which timers and firmware like, is always reserved.")
    )
    disable_smt: bool = field(
        default=False, metadata=doc("Boot with nosmt and use only the first thread of each core.")
    )
    enforce_isolation: bool = field(
        default=True,
        metadata=doc(
            "Whether isolated CPUs are isolated by kernel arguments (isolcpus, nohz_full, rcu_nocbs); false leaves that to the kubelet alone."
        ),
    )


@dataclass(frozen=True)
class ReservedMemory:
    """Memory of one NUMA node that the Static memory manager keeps back; `limits` in Kubernetes quantities by resource."""

    numa_node: int = field(default=0, metadata=doc("NUMA node id."))
    limits: Mapping[str, str] = field(
        default_factory=dict, metadata=doc("How much of each resource.", unit="Kubernetes quantity")
    )


@dataclass(frozen=True)
class KubeletSpec:
    """Kubelet settings; absent fields leave the kubelet's own."""

    cpu_manager_policy: str = field(
        default="",
        metadata=doc(
            "Who owns CPUs: nobody (none), or each Guaranteed container that asks for whole CPUs (static).",
            source="KubeletConfiguration v1beta1 cpuManagerPolicy",
        ),
    )
    cpu_manager_policy_options: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Options of the static CPU manager, values true or false.",
            source="KubeletConfiguration v1beta1 cpuManagerPolicyOptions",
        ),
    )
    cpu_manager_reconcile_period: str = field(
        default="",
        metadata=doc(
            "How often container CPU sets are rewritten, as a Go duration.",
            source="KubeletConfiguration v1beta1 cpuManagerReconcilePeriod",
        ),
    )
    topology_manager_policy: str = field(
        default="",
        metadata=doc(
            "How strictly CPUs, memory and devices of a pod must come from the same NUMA nodes.",
            source="KubeletConfiguration v1beta1 topologyManagerPolicy",
        ),
    )
    topology_manager_scope: str = field(
        default="",
        metadata=doc(
            "Whether each container is aligned by itself, or the pod as a whole.",
            source="KubeletConfiguration v1beta1 topologyManagerScope",
        ),
    )
    topology_manager_policy_options: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Options of the topology manager.",
            source="KubeletConfiguration v1beta1 topologyManagerPolicyOptions",
        ),
    )
    memory_manager_policy: str = field(
        default="",
        metadata=doc(
            "Whether memory of Guaranteed pods is bound to NUMA nodes (Static) or not (None).",
            source="KubeletConfiguration v1beta1 memoryManagerPolicy",
        ),
    )
    reserved_memory: tuple[ReservedMemory, ...] = field(
        default=(),
        metadata=doc(
            "Per NUMA node, for the Static memory manager; absent means computed so that the sum is exact.",
            source="KubeletConfiguration v1beta1 reservedMemory",
        ),
    )
    system_reserved: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Resources kept for the operating system.",
            unit="Kubernetes quantity",
            source="KubeletConfiguration v1beta1 systemReserved",
        ),
    )
    kube_reserved: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Resources kept for the kubelet and the container runtime.",
            unit="Kubernetes quantity",
            source="KubeletConfiguration v1beta1 kubeReserved",
        ),
    )
    eviction_hard: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Hard eviction thresholds. Where tunectl writes the kubelet's files, signals not named keep the kubelet's defaults; a KubeletConfig says exactly what is written here.",
            source="KubeletConfiguration v1beta1 evictionHard",
        ),
    )
    eviction_soft: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc("Soft eviction thresholds.", source="KubeletConfiguration v1beta1 evictionSoft"),
    )
    eviction_soft_grace_period: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Grace period of each soft threshold, as a Go duration.",
            source="KubeletConfiguration v1beta1 evictionSoftGracePeriod",
        ),
    )
    max_pods: int = field(
        default=0,
        metadata=doc("Most pods on a node; 0 leaves the kubelet's own.", source="KubeletConfiguration v1beta1 maxPods"),
    )
    memory_qos: bool = field(
        default=False,
        metadata=doc(
            "Set memory.high and memory.min from requests and limits (feature gate MemoryQoS, cgroup v2).",
            source="KubeletConfiguration v1beta1 featureGates",
        ),
    )
    memory_throttling_factor: str = field(
        default="",
        metadata=doc(
            "Where memory.high sits between request and limit, 0 to 1.",
            source="KubeletConfiguration v1beta1 memoryThrottlingFactor",
        ),
    )
    swap_behavior: str = field(
        default="",
        metadata=doc("Whether containers may use swap.", source="KubeletConfiguration v1beta1 memorySwap.swapBehavior"),
    )
    config: Mapping[str, Any] = field(
        default_factory=dict,
        metadata=doc(
            "Any further KubeletConfiguration fields, in their own spelling; managed fields are refused here."
        ),
    )


@dataclass(frozen=True)
class WorkloadHints:
    """Workload hints of PerformanceProfile v2."""

    real_time: bool = field(
        default=True,
        metadata=doc(
            "Low-latency kernel settings and stalld.", source="PerformanceProfile v2 spec.workloadHints.realTime"
        ),
    )
    high_power_consumption: bool = field(
        default=False,
        metadata=doc("Shallow C-states only.", source="PerformanceProfile v2 spec.workloadHints.highPowerConsumption"),
    )
    per_pod_power_management: bool = field(
        default=False,
        metadata=doc(
            "CPU frequency governor per pod.", source="PerformanceProfile v2 spec.workloadHints.perPodPowerManagement"
        ),
    )
    mixed_cpus: bool = field(
        default=False,
        metadata=doc(
            "Let pinned containers use the shared CPUs too.",
            source="PerformanceProfile v2 spec.workloadHints.mixedCpus",
        ),
    )


@dataclass(frozen=True)
class HugepageRequest:
    """Hugepages of one size; with `node` on that NUMA node only."""

    size: str = field(default="", metadata=doc("Page size: 2M, 1G, on arm64 also 64k, 32M, 512M, 16G."))
    count: int = field(default=0, metadata=doc("How many pages.", unit="pages"))
    node: int | None = field(default=None, metadata=doc("NUMA node id; absent lets the kernel spread them at boot."))


@dataclass(frozen=True)
class HugepagesSpec:
    """Hugepages to set aside."""

    default_size: str = field(
        default="", metadata=doc("Default hugepage size.", source="kernel-parameters default_hugepagesz")
    )
    pages: tuple[HugepageRequest, ...] = field(
        default=(), metadata=doc("Requests by size and node.", source="PerformanceProfile v2 spec.hugepages.pages")
    )


@dataclass(frozen=True)
class KernelSpec:
    """The kernel and its command line."""

    realtime: bool = field(
        default=False,
        metadata=doc("Run the real-time kernel.", source="PerformanceProfile v2 spec.realTimeKernel.enabled"),
    )
    page_size: str = field(
        default="", metadata=doc("4k, or 64k on arm64.", source="PerformanceProfile v2 spec.kernelPageSize")
    )
    args: tuple[str, ...] = field(
        default=(),
        metadata=doc(
            "Further arguments, in order, appended last.", source="PerformanceProfile v2 spec.additionalKernelArgs"
        ),
    )
    modules: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict, metadata=doc("Module options, by module (modprobe.d).")
    )


@dataclass(frozen=True)
class IrqSpec:
    """Where device interrupts go."""

    balance_isolated: bool = field(
        default=True,
        metadata=doc(
            "Whether interrupts may run on isolated CPUs until a pod asks otherwise; false bans them for good.",
            source="PerformanceProfile v2 spec.globallyDisableIrqLoadBalancing (negated)",
        ),
    )
    rps: bool = field(
        default=False,
        metadata=doc(
            "Receive packet steering of virtual devices onto the reserved CPUs.",
            source="annotation performance.openshift.io/enable-rps",
        ),
    )


@dataclass(frozen=True)
class NetDevice:
    """Selects network devices; empty fields match all."""

    interface_name: str = field(
        default="",
        metadata=doc(
            "Name, with * for anything and a leading ! for all others.", source="PerformanceProfile v2 spec.net"
        ),
    )
    vendor_id: str = field(default="", metadata=doc("PCI vendor id.", source="PerformanceProfile v2 spec.net"))
    device_id: str = field(
        default="", metadata=doc("PCI device id; needs the vendor id.", source="PerformanceProfile v2 spec.net")
    )


@dataclass(frozen=True)
class NetSpec:
    """User-level networking."""

    user_level_networking: bool = field(
        default=False,
        metadata=doc(
            "One queue per reserved CPU on the devices.", source="PerformanceProfile v2 spec.net.userLevelNetworking"
        ),
    )
    devices: tuple[NetDevice, ...] = field(
        default=(), metadata=doc("Which devices; absent means all.", source="PerformanceProfile v2 spec.net.devices")
    )


@dataclass(frozen=True)
class FrequencySpec:
    """Fixed frequencies; both or none. Scale: kHz."""

    isolated_khz: int = field(
        default=0,
        metadata=doc(
            "Highest frequency of isolated CPUs.",
            unit="kHz",
            source="PerformanceProfile v2 spec.hardwareTuning.isolatedCpuFreq",
        ),
    )
    reserved_khz: int = field(
        default=0,
        metadata=doc(
            "Highest frequency of reserved CPUs.",
            unit="kHz",
            source="PerformanceProfile v2 spec.hardwareTuning.reservedCpuFreq",
        ),
    )


@dataclass(frozen=True)
class MemorySpec:
    """Memory management of the running kernel."""

    transparent_hugepages: str = field(
        default="",
        metadata=doc(
            "Which memory may get huge pages by itself: all, what asks for it, or none.",
            source="kernel admin-guide/mm/transhuge",
        ),
    )
    thp_defrag: str = field(
        default="",
        metadata=doc(
            "Whether a page fault waits for compaction to get a huge page.", source="kernel admin-guide/mm/transhuge"
        ),
    )
    thp_shmem: str = field(
        default="",
        metadata=doc(
            "Which shared memory (shmem, memfd, tmpfs of the kernel's own mount) may get huge pages by itself.",
            source="kernel admin-guide/mm/transhuge shmem_enabled",
        ),
    )
    khugepaged_defrag: bool | None = field(
        default=None,
        metadata=doc(
            "Whether khugepaged compacts memory to find a huge page; absent leaves it.",
            source="kernel admin-guide/mm/transhuge khugepaged/defrag",
        ),
    )
    ksm: bool | None = field(
        default=None,
        metadata=doc("Whether same-page merging runs; absent leaves it.", source="kernel admin-guide/mm/ksm"),
    )
    swap: bool | None = field(default=None, metadata=doc("Whether swap may be on; absent leaves it."))


@dataclass(frozen=True)
class ResctrlClass:
    """One class of service of resctrl; `cpus` names a partition role or is empty for task-assigned classes."""

    name: str = field(default="", metadata=doc("Name of the class.", source="kernel arch/x86/resctrl"))
    l3_ways_percent: int = field(
        default=100, metadata=doc("Share of the last-level cache ways.", unit="%", source="kernel arch/x86/resctrl")
    )
    memory_bandwidth_percent: int = field(
        default=100, metadata=doc("Memory bandwidth limit.", unit="%", source="kernel arch/x86/resctrl")
    )
    cpus: str = field(
        default="",
        metadata=doc("Partition role whose CPUs default to this class: reserved, isolated, shared or ovs_dpdk."),
    )


@dataclass(frozen=True)
class KernelInstance:
    """A second kernel on part of the machine."""

    name: str = field(default="", metadata=doc("Name of the instance."))
    cpus: int = field(default=0, metadata=doc("Whole CPUs for the instance.", unit="CPUs"))
    memory: str = field(default="", metadata=doc("Memory for the instance.", unit="Kubernetes quantity"))
    numa_node: int | None = field(default=None, metadata=doc("NUMA node that gives CPUs and memory."))


@dataclass(frozen=True)
class PlacementSpec:
    """How pods find the pool: node labels and taints (`key=value:Effect`)."""

    labels: Mapping[str, str] = field(
        default_factory=dict, metadata=doc("Labels of the nodes; pods select them.", source="Kubernetes node labels")
    )
    taints: tuple[str, ...] = field(
        default=(), metadata=doc("Taints of the nodes; they keep other pods away.", source="Kubernetes taints")
    )


@dataclass(frozen=True)
class OpenShiftSpec:
    """Names and selectors of the OpenShift objects; absent fields follow the pool name."""

    manifest: Manifest | None = field(
        default=None,
        metadata=doc(
            "performance-profile or kubelet-config; absent means performance-profile when CPUs are partitioned."
        ),
    )
    name: str = field(default="", metadata=doc("Name of the PerformanceProfile or KubeletConfig."))
    pool_labels: Mapping[str, str] = field(
        default_factory=dict, metadata=doc("Labels of the MachineConfigPool; the KubeletConfig selects by them.")
    )
    node_selector: Mapping[str, str] = field(default_factory=dict, metadata=doc("Node selector of pool and profile."))
    max_unavailable: str = field(default="", metadata=doc("maxUnavailable of the pool: a number or a percentage."))
    annotations: Mapping[str, str] = field(
        default_factory=dict, metadata=doc("Further annotations of the PerformanceProfile.")
    )


@dataclass(frozen=True)
class Tier:
    """A purpose with settings.

    Shape: `origins` maps a dotted field path (`cpu.reserved`, `sysctl.vm.swappiness`) to the place where the
    value was written, in the file of the tier that set it (inheritance keeps the parent's place).
    """

    name: str = field(metadata=doc("The tier's name; a file that is found by its name is called like it."))
    summary: str = field(default="", metadata=doc("One line: what the tier is for."))
    pool: str = field(
        default="",
        metadata=doc(
            "The pool it is applied to: a MachineConfigPool, or an inventory group. Absent means the tier's name."
        ),
    )
    cpu: CpuSpec = CpuSpec()
    kubelet: KubeletSpec = KubeletSpec()
    workload_hints: WorkloadHints | None = None
    kernel: KernelSpec = KernelSpec()
    hugepages: HugepagesSpec = HugepagesSpec()
    irq: IrqSpec = IrqSpec()
    net: NetSpec = NetSpec()
    frequency: FrequencySpec = FrequencySpec()
    memory: MemorySpec = MemorySpec()
    sysctl: Mapping[str, str] = field(
        default_factory=dict,
        metadata=doc(
            "Kernel parameters by dotted name; names that left the kernel are translated or reported.",
            source="kernel admin-guide/sysctl",
        ),
    )
    resctrl: tuple[ResctrlClass, ...] = ()
    kernel_instances: tuple[KernelInstance, ...] = ()
    placement: PlacementSpec = PlacementSpec()
    openshift: OpenShiftSpec = OpenShiftSpec()
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)

    @property
    def pool_name(self) -> str:
        """The pool, by default named like the tier."""
        return self.pool or self.name

    @property
    def is_partitioned(self) -> bool:
        """Whether the tier says which CPUs are reserved or isolated."""
        return self.cpu.reserved is not None or self.cpu.isolated is not None

    @property
    def is_profile(self) -> bool:
        """Whether a PerformanceProfile carries the tier: its manifest says so, or its CPUs are partitioned."""
        manifest = self.openshift.manifest
        return self.is_partitioned if manifest is None else manifest is Manifest.PERFORMANCE_PROFILE

    def origin(self, path: str) -> Origin:
        """Return where the field, or the nearest field above it, was written."""
        while path:
            if path in self.origins:
                return self.origins[path]
            path = path.rpartition(".")[0]
        return Origin()
