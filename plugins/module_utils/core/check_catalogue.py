# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every check's stable id with what it asks, why it matters and what to do; the reference is made from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckDoc:
    """The documentation of a check: a title that is a statement, why it matters, the remedy and the source."""

    title: str
    why: str
    remedy: str
    source: str = ""


CHECKS: dict[str, CheckDoc] = {
    "boot.loader.unsupported": CheckDoc(
        title="The node's boot loader takes kernel arguments from a file",
        why="Arguments written where the boot loader does not look never reach the kernel.",
        remedy="Boot with GRUB, set the arguments with the loader's own tool, or set cpu.enforce_isolation: false.",
        source="GRUB manual; grubby(8); rpm-ostree(1); loader specification",
    ),
    "boot.pending": CheckDoc(
        title="The running kernel has the arguments that were written for it",
        why="Arguments take effect at the next boot: until then the node runs with the old ones.",
        remedy="Reboot the node.",
        source="kernel admin-guide/kernel-parameters",
    ),
    "cpu.hybrid.mixed": CheckDoc(
        title="Isolated CPUs are of one core type",
        why="A pod with exclusive CPUs may get efficiency cores, and its threads then run at different speeds.",
        remedy="Reserve the efficiency cores, or give them to the shared set.",
        source="kernel admin-guide, /sys/devices/cpu_core and /sys/devices/cpu_atom",
    ),
    "cpu.isolated.effective": CheckDoc(
        title="The CPUs outside the scheduler's domains are those that isolcpus asks for",
        why="A flag that the kernel does not know makes it ignore the whole argument.",
        remedy="Compare /proc/cmdline with what was written, and the kernel's log for isolcpus.",
        source="kernel admin-guide/kernel-parameters, isolcpus",
    ),
    "cpu.isolated.empty": CheckDoc(
        title="Some CPUs are left for workloads",
        why="A node without isolated CPUs cannot run a pod with exclusive CPUs; PerformanceProfile refuses it.",
        remedy="Reserve fewer CPUs.",
        source="PerformanceProfile v2 spec.cpu.isolated",
    ),
    "cpu.l3.split": CheckDoc(
        title="Reserved CPUs fill whole last-level-cache groups",
        why="Housekeeping that shares a cache with a workload evicts its data.",
        remedy="Reserve as many CPUs per NUMA node as a cache group has, or keep latency-critical pods off that group.",
        source="kernel sysfs cache/index3/shared_cpu_list; kubelet prefer-align-cpus-by-uncorecache",
    ),
    "cpu.near.unknown": CheckDoc(
        title="The device that CPUs shall be near to has a NUMA node",
        why="Without it the CPUs are taken as if no device was named.",
        remedy="Name a device of this machine by its interface name or PCI address.",
        source="kernel sysfs device numa_node",
    ),
    "cpu.nohz-full.effective": CheckDoc(
        title="The tick stops on the CPUs that the argument names",
        why="A kernel built without NO_HZ_FULL accepts nohz_full= and keeps the tick on every CPU.",
        remedy="Run a kernel with CONFIG_NO_HZ_FULL, or take isolation arguments out of the tier.",
        source="kernel timers/no_hz",
    ),
    "cpu.numa.empty": CheckDoc(
        title="Every NUMA node with CPUs has reserved and isolated CPUs",
        why=(
            "Without reserved CPUs a node's interrupts and kernel threads run remotely or on isolated CPUs; "
            "without isolated CPUs its memory serves no pinned pod locally."
        ),
        remedy="Spread the reserved CPUs over the NUMA nodes.",
        source="kubelet topology manager",
    ),
    "cpu.numa.too-many": CheckDoc(
        title="The topology manager takes the machine's number of NUMA nodes",
        why="Above 8 NUMA nodes, memory-only nodes included, the kubelet refuses to start with a topology policy.",
        remedy="Set the option max-allowable-numa-nodes, use policy none, or change the firmware's NUMA setting.",
        source="kubelet topologyManagerPolicyOptions max-allowable-numa-nodes",
    ),
    "cpu.offlined.boot-cpu": CheckDoc(
        title="CPU 0 stays online",
        why="Kernels for x86 cannot take the boot CPU offline, so the node would not become what was planned.",
        remedy="Leave CPU 0 out of the offlined set.",
        source="kernel x86 CPU hotplug: CPU 0 cannot be taken offline",
    ),
    "cpu.offlined.half-core": CheckDoc(
        title="Cores are taken offline as a whole",
        why="A core with one thread offline is a half core: whole-cores policies cannot hand it out properly.",
        remedy="Take whole cores offline, or set disable_smt.",
        source="kubelet static policy option full-pcpus-only",
    ),
    "cpu.online.partition": CheckDoc(
        title="Every CPU that the partition gives work to is online",
        why="The kubelet counts online CPUs when it starts, and cannot hand out one that is offline.",
        remedy="Bring the CPUs online, or correct the tier's lists.",
        source="kernel core-api/cpu_hotplug",
    ),
    "cpu.partition.absent": CheckDoc(
        title="The sets name CPUs that the machine has",
        why="The kubelet refuses reserved CPUs that do not exist, and the kernel ignores isolated ones.",
        remedy="Correct the lists, or say in cpu.otherwise what is meant on other machines.",
        source="kubelet reservedSystemCPUs",
    ),
    "cpu.partition.gap": CheckDoc(
        title="Every online CPU is in a set",
        why="A CPU in no set is neither kept for the system nor isolated: workloads get it with all its noise.",
        remedy="Add the CPUs to a set, or leave isolated out so that it is the rest.",
        source="PerformanceProfile v2 spec.cpu",
    ),
    "cpu.partition.offline": CheckDoc(
        title="The sets name online CPUs",
        why="The kubelet counts online CPUs only and refuses a set that names others; isolation is not applied.",
        remedy="Bring the CPUs online, or correct the lists.",
        source="kubelet reservedSystemCPUs; kernel /sys/devices/system/cpu/offline",
    ),
    "cpu.partition.otherwise": CheckDoc(
        title="The lists were written for this machine",
        why="The tier's explicit lists name other CPUs than the machine has, so cpu.otherwise was used.",
        remedy="Nothing, where that is meant; else write a tier with lists for this machine.",
        source="tier field cpu.otherwise",
    ),
    "cpu.partition.overlap": CheckDoc(
        title="The sets have no CPU in common",
        why="A CPU cannot be kept for the system and handed out at the same time; PerformanceProfile refuses it.",
        remedy="Take the CPUs out of one of the sets.",
        source="PerformanceProfile v2 admission",
    ),
    "cpu.reserved.cpu0": CheckDoc(
        title="CPU 0 is reserved",
        why="Firmware, timers and interrupts without another target use CPU 0, so work there is disturbed.",
        remedy="Reserve CPU 0, or set reserve_cpu0: false when this is meant.",
        source="kernel timekeeping and interrupt affinity defaults",
    ),
    "cpu.reserved.too-few": CheckDoc(
        title="Enough CPUs are reserved",
        why="The static CPU manager does not start without reserved CPUs, and one CPU starves system services.",
        remedy="Reserve at least one whole core, and as many CPUs as systemReserved and kubeReserved name.",
        source="kubelet static policy; reservedSystemCPUs takes the place of systemReserved and kubeReserved cpu",
    ),
    "cpu.siblings.split": CheckDoc(
        title="The threads of a core have one role",
        why=(
            "Threads of a core share its execution units and caches, so the system's work on one disturbs the other; "
            "whole-cores policies cannot hand such a CPU out."
        ),
        remedy="Give whole cores to each set.",
        source="kernel sysfs topology/thread_siblings_list; kubelet static policy option full-pcpus-only",
    ),
    "file.foreign": CheckDoc(
        title="The files of tunectl are as it wrote them",
        why="A file that somebody else changed holds something that no tier asks for, and the next apply meets it.",
        remedy="Put what you need into the tier, then apply it with --overwrite.",
    ),
    "hugepages.default": CheckDoc(
        title="Hugepages come with a default size",
        why="A PerformanceProfile with pages and no default size is refused.",
        remedy="Add hugepages.default_size to the tier.",
        source="PerformanceProfile v2 spec.hugepages",
    ),
    "hugepages.duplicate": CheckDoc(
        title="Each hugepage size is asked for once per place",
        why="The kernel takes the last count, not the sum.",
        remedy="Keep one entry with the count you mean.",
        source="kernel admin-guide/kernel-parameters hugepages",
    ),
    "hugepages.memory": CheckDoc(
        title="The hugepages fit the memory of their NUMA node",
        why="The kernel gives fewer pages than asked for, and says so only in its log.",
        remedy="Lower the count, or spread the pages over more NUMA nodes.",
        source="kernel admin-guide/mm/hugetlbpage",
    ),
    "hugepages.node": CheckDoc(
        title="Hugepages are asked for on NUMA nodes that exist",
        why="There is no directory in sysfs to write the count to.",
        remedy="Name a NUMA node that every machine of the pool has, or leave node out.",
        source="kernel admin-guide/mm/hugetlbpage",
    ),
    "hugepages.size": CheckDoc(
        title="The hugepage size exists for architecture and base page",
        why="The kernel refuses the size at boot and drops the count next to it.",
        remedy="Use a size that the finding lists.",
        source="kernel admin-guide/mm/hugetlbpage, arch/arm64",
    ),
    "irq.affinity.reserved-only": CheckDoc(
        title="Interrupts keep off the isolated CPUs",
        why="An interrupt on an isolated CPU stalls the pinned thread there.",
        remedy="Apply the tier; on the node, systemctl status tunectl-interrupts tells how moving them went.",
        source="kernel core-api/irq/irq-affinity",
    ),
    "kernel.args.managed": CheckDoc(
        title="The tier's own kernel arguments do not compete with derived ones",
        why="The later of two values wins, so isolation or hugepages would not be the planned ones.",
        remedy="Remove the argument from kernel.args and change the tier field that the derived one comes from.",
        source="kernel admin-guide/kernel-parameters",
    ),
    "kernel.args.vendor": CheckDoc(
        title="The processor's vendor is one that arguments are known for",
        why="IOMMU, idle states and frequencies have arguments of each vendor; the operator has no other profile.",
        remedy="Use another pool on OpenShift; elsewhere add what the processor needs to kernel.args.",
        source="OpenShift node tuning operator",
    ),
    "kernel.page-size": CheckDoc(
        title="The running kernel has the page size that the tier wants",
        why="The page size is fixed when a kernel is built.",
        remedy="Install the kernel with that page size and reboot, or change kernel.page_size.",
        source="kernel arm64 documentation",
    ),
    "kernel.realtime.missing": CheckDoc(
        title="A tier for a real-time kernel meets a real-time kernel",
        why="The latencies of the tier cannot be had without PREEMPT_RT, and tunectl does not install kernels.",
        remedy="Install the distribution's real-time kernel and reboot, or set kernel.realtime: false.",
        source="kernel core-api/real-time",
    ),
    "kubelet.absent": CheckDoc(
        title="There is a kubelet to configure",
        why="Its settings are written and wait for it.",
        remedy="Install the kubelet, or use a tier without kubelet settings.",
        source="kubelet configuration",
    ),
    "kubelet.checkpoint.memory": CheckDoc(
        title="The memory manager's record has the wanted policy",
        why="The record tells what the running kubelet does; it refuses to start on a record of another policy.",
        remedy="Apply the tier: it drains, stops the kubelet, removes memory_manager_state and starts it again.",
        source="kubelet memory manager state file",
    ),
    "kubelet.checkpoint.policy": CheckDoc(
        title="The CPU manager's record has the wanted policy and keeps reserved CPUs for the system",
        why="The record tells what the running kubelet does; it refuses to start on a record of another policy.",
        remedy="Apply the tier: it drains, stops the kubelet, removes cpu_manager_state and starts it again.",
        source="kubelet CPU manager state file",
    ),
    "kubelet.config-dir": CheckDoc(
        title="The kubelet reads drop-in files",
        why="Without --config-dir a drop-in is never read.",
        remedy="Add --config-dir to KUBELET_EXTRA_ARGS and restart the kubelet (1.28 or newer).",
        source="kubelet --config-dir",
    ),
    "kubelet.config.cgroup-driver": CheckDoc(
        title="The kubelet and the container runtime use the same cgroup driver",
        why="With two drivers pods land in two trees of cgroups, and their limits hold in neither.",
        remedy="Set cgroupDriver to the driver of the container runtime.",
        source="kubelet cgroupDriver; Kubernetes 1.31 asks the runtime where it answers",
    ),
    "kubelet.config.eviction-percent": CheckDoc(
        title="The threshold that the Static memory manager compares is a quantity",
        why="A share is other bytes on each machine, after rounding in floating point; reservedMemory must match.",
        remedy="Write evictionHard memory.available as a quantity.",
        source="kubelet memory manager",
    ),
    "kubelet.config.gate": CheckDoc(
        title="The kubelet knows every feature gate that is set",
        why="A gate that is not known has no effect; another kubelet would not start on it.",
        remedy="Remove the gate.",
        source="Kubernetes feature gates; OpenShift only warns",
    ),
    "kubelet.config.ignored": CheckDoc(
        title="The kubelet knows every field of its configuration",
        why="An unknown field is skipped with one line in the log, so a typing error leaves the default in force.",
        remedy="Correct the name of the field, or remove it.",
        source="kubelet configuration v1beta1, lenient decoding",
    ),
    "kubelet.config.twice": CheckDoc(
        title="No key stands twice in a configuration file",
        why="Of two equal keys the later one counts, and nothing says so.",
        remedy="Keep one of the two.",
        source="kubelet configuration v1beta1, lenient decoding",
    ),
    "kubelet.dropin.wins": CheckDoc(
        title="No later drop-in of the kubelet sets a field of the tier",
        why="Of several drop-ins that set a field the last one in the order of their names counts.",
        remedy="Remove the field from that file.",
        source="kubelet --config-dir",
    ),
    "kubelet.eviction.partial": CheckDoc(
        title="evictionHard names all signals",
        why="In the kubelet's main file a map with one key replaces all defaults: disks fill up, nothing is evicted.",
        remedy="Name all five default signals.",
        source="KubeletConfiguration v1beta1 evictionHard",
    ),
    "kubelet.flag.wins": CheckDoc(
        title="No flag of the kubelet sets a field of the tier",
        why="Flags beat the configuration file and its drop-ins, so the setting would be written and not count.",
        remedy="Remove the flag from kubeadm-flags.env or KUBELET_EXTRA_ARGS.",
        source="kubelet command line reference",
    ),
    "kubelet.memory-qos.cgroup": CheckDoc(
        title="Memory QoS runs on cgroup v2",
        why="memory.high and memory.min do not exist in cgroup v1.",
        remedy="Boot with cgroup v2, or remove kubelet.memory_qos.",
        source="KEP 2570",
    ),
    "kubelet.option.conflict": CheckDoc(
        title="The CPU manager's options fit each other, the topology policy and the machine",
        why="The kubelet refuses the combination and exits.",
        remedy="Drop one of them.",
        source="kubelet static CPU manager policy options",
    ),
    "kubelet.option.policy": CheckDoc(
        title="Options of the static CPU manager come with the static policy",
        why="The kubelet exits when policy none has options.",
        remedy="Set the policy, or remove the options.",
        source="kubelet static CPU manager policy options",
    ),
    "kubelet.option.version": CheckDoc(
        title="The node's kubelet knows the option",
        why="An unknown option makes the kubelet exit when it starts.",
        remedy="Remove the option, or upgrade the nodes.",
        source="kubelet policy options by release",
    ),
    "kubelet.ovs-dpdk.shared": CheckDoc(
        title="Pods keep off the CPUs of poll threads",
        why="Reserved CPUs stay in the kubelet's shared pool without strict-cpu-reservation.",
        remedy="Add strict-cpu-reservation to the CPU manager's options.",
        source="kubelet static CPU manager policy options; OpenShift node tuning operator",
    ),
    "kubelet.reservation.rounded": CheckDoc(
        title="CPU reservations are whole CPUs",
        why="The static CPU manager keeps whole CPUs: fractions are rounded up, which counts on small nodes.",
        remedy="Write whole CPUs, or name them with cpu.reserved.",
        source="kubelet static CPU manager",
    ),
    "kubelet.reservation.too-much": CheckDoc(
        title="The reservations leave memory for pods",
        why="The kubelet exits when the reservation is above the capacity.",
        remedy="Lower systemReserved or kubeReserved.",
        source="kubelet node allocatable",
    ),
    "kubelet.reserved-cpus.cgroup": CheckDoc(
        title="Reserved CPUs are given as a list or as cgroups, not both",
        why="The kubelet refuses reservedSystemCPUs beside systemReservedCgroup or kubeReservedCgroup.",
        remedy="Remove the cgroup field.",
        source="KubeletConfiguration v1beta1 reservedSystemCPUs",
    ),
    "kubelet.reserved-memory.node": CheckDoc(
        title="reservedMemory names NUMA nodes that exist",
        why="The kubelet checks them when it starts and exits.",
        remedy="Leave reservedMemory out, then it is computed for each machine.",
        source="kubelet memory manager",
    ),
    "kubelet.reserved-memory.percent": CheckDoc(
        title="The Static memory manager gets its eviction threshold in bytes",
        why="A percentage is other bytes on each machine, so no reservedMemory matches it everywhere.",
        remedy="Write memory.available as a quantity.",
        source="kubelet memory manager",
    ),
    "kubelet.reserved-memory.resource": CheckDoc(
        title="reservedMemory names memory only",
        why="The other side of the sum is always 0 for hugepages.",
        remedy="Remove the other resources.",
        source="kubelet memory manager",
    ),
    "kubelet.reserved-memory.room": CheckDoc(
        title="What a NUMA node reserves and its hugepages fit its memory",
        why="The kubelet's subtraction wraps around and the node admits pods of any size.",
        remedy="Reserve on a node with room, or ask for fewer hugepages there.",
        source="kubelet memory manager",
    ),
    "kubelet.reserved-memory.sum": CheckDoc(
        title="reservedMemory equals kubeReserved + systemReserved + hard eviction threshold",
        why="The kubelet compares both sums to the byte and exits when they differ.",
        remedy="Leave reservedMemory out, then it is computed; or correct the sum.",
        source="kubelet memory manager",
    ),
    "kubelet.start.checkpoint": CheckDoc(
        title="The kubelet starts over the checkpoints that its node has",
        why="Other policies, reserved CPUs, memory or hardware than in the file make the kubelet exit.",
        remedy="Drain the node, stop the kubelet, delete the file that the finding names, start the kubelet.",
        source="kubelet cpu_manager_state and memory_manager_state",
    ),
    "kubelet.start.invalid": CheckDoc(
        title="The kubelet's validation accepts the configuration",
        why="The kubelet exits when a value is not valid, or when two contradict each other.",
        remedy="Write what the finding says, in the file and line that it names.",
        source="Kubernetes pkg/kubelet/apis/config/validation",
    ),
    "kubelet.start.load": CheckDoc(
        title="The kubelet can load its configuration",
        why="A value of another type, a missing kind or an unknown feature gate ends the kubelet before it starts.",
        remedy="Write what the finding says, in the file and line that it names.",
        source="kubelet configuration v1beta1; Kubernetes feature gates",
    ),
    "kubelet.start.machine": CheckDoc(
        title="The kubelet starts with its configuration on this machine",
        why="CPUs that are offline, reservations above the capacity and sums that differ by a byte end the kubelet.",
        remedy="Write what the finding says, or change the machine.",
        source="Kubernetes kubelet container manager",
    ),
    "kubelet.start.memory-wrap": CheckDoc(
        title="Reserved memory and hugepages fit each NUMA node",
        why="The kubelet's subtraction wraps around below zero: the node then admits pods of any size.",
        remedy="Reserve on a NUMA node with room, or allocate fewer hugepages there.",
        source="kubelet memory manager",
    ),
    "kubelet.start.pod-level-managers": CheckDoc(
        title="Pods with resources of their own get their CPUs once",
        why="With the gate PodLevelResourceManagers a restart gives a running pod a second set, or turns it away.",
        remedy="Switch PodLevelResourceManagers off.",
        source="kubernetes/kubernetes issue 140989",
    ),
    "kubelet.start.readmission": CheckDoc(
        title="A restart of the kubelet leaves running pods alone",
        why="Each start admits running pods again by the settings in force then; those that no longer fit are ended.",
        remedy="Drain the node before the kubelet is restarted.",
        source="kubelet admission; kubernetes/kubernetes issue 129078",
    ),
    "kubelet.start.sparse-nodes": CheckDoc(
        title="NUMA nodes are numbered from 0 without gaps where near ones are preferred",
        why="The kubelet looks distances up by these numbers and crashes when it admits a pod.",
        remedy="Leave prefer-closest-numa-nodes out on this machine.",
        source="kubelet topology manager",
    ),
    "kubelet.start.uneven-cores": CheckDoc(
        title="All cores have as many online threads, and all sockets as many CPUs",
        why="The static CPU manager counts with the average and hands out CPUs that another container already has.",
        remedy="Offline whole cores only, or use cpuManagerPolicy none on this machine.",
        source="kubernetes/kubernetes issue 140495",
    ),
    "kubelet.static-without-reservation": CheckDoc(
        title="The static CPU manager has CPUs to keep for the system",
        why="The kubelet exits when nothing is reserved.",
        remedy="Add cpu.reserved, or cpu to systemReserved.",
        source="kubelet static CPU manager",
    ),
    "kubelet.swap.cgroup": CheckDoc(
        title="LimitedSwap runs on cgroup v2",
        why="The kubelet refuses to start with it on v1.",
        remedy="Boot with cgroup v2, or remove kubelet.swap_behavior.",
        source="KEP 2400",
    ),
    "kubelet.swap.refused": CheckDoc(
        title="A node that may swap has a kubelet that starts with swap",
        why="failSwapOn makes the kubelet exit when swap is on.",
        remedy="Remove failSwapOn, or switch swap off.",
        source="KubeletConfiguration v1beta1 failSwapOn",
    ),
    "kubelet.swap.unused": CheckDoc(
        title="LimitedSwap meets a node with swap",
        why="Without swap it has no effect.",
        remedy="Remove kubelet.swap_behavior, or set memory.swap: true.",
        source="KEP 2400",
    ),
    "pod.annotation.needs-cpus": CheckDoc(
        title="Annotations for pinned CPUs are on pods that have some",
        why="The runtime follows them for containers with CPUs of their own only, and says nothing about others.",
        remedy="Make the pod Guaranteed with a whole number of CPUs, or remove the annotations.",
        source="CRI-O high-performance hooks",
    ),
    "pod.annotation.needs-runtime-class": CheckDoc(
        title="Annotations for the runtime come with a runtime class that allows them",
        why="Without it they are ignored, silently: interrupts and quotas stay as they were.",
        remedy="Set runtimeClassName to a class that allows them; on OpenShift it is performance-PROFILE.",
        source="CRI-O allowed_annotations; PerformanceProfile v2 status.runtimeClass",
    ),
    "pod.annotation.unknown": CheckDoc(
        title="Annotations for the runtime are spelled as it knows them",
        why="One that it does not know does nothing, and nobody says so.",
        remedy="Write the name that the runtime knows.",
        source="CRI-O annotations",
    ),
    "pod.annotation.value": CheckDoc(
        title="Annotations for the runtime have a value that it knows",
        why="Another value is ignored, or fails the container when it starts.",
        remedy="Write one of the values that are allowed.",
        source="CRI-O annotations",
    ),
    "pod.antiaffinity.missing": CheckDoc(
        title="Heavy applications repel each other",
        why="Pinning does not divide caches and memory bandwidth: two heavy neighbours slow each other down.",
        remedy="Require podAntiAffinity on kubernetes.io/hostname against the other application.",
        source="Kubernetes inter-pod anti-affinity",
    ),
    "pod.args.fixed-cpus": CheckDoc(
        title="No core numbers are written into a container",
        why="The kubelet chooses the CPUs when the pod starts; a fixed list fails, or puts all threads on one of them.",
        remedy="Take the CPUs from sched_getaffinity, or count threads and let the kernel place them.",
        source="sched_setaffinity(2); kubelet CPU manager",
    ),
    "pod.args.too-many-threads": CheckDoc(
        title="A container runs no more threads than it has CPUs",
        why="Threads beyond the CPUs take turns: they cost switches, and with a quota they stop together.",
        remedy="Set the number of threads to the CPU limit.",
        source="OpenMP API, OMP_NUM_THREADS; cgroup v2 cpu.max",
    ),
    "pod.cpu.not-whole": CheckDoc(
        title="Containers of pinned pods ask for whole CPUs",
        why="Only a container with a whole number gets CPUs of its own; the others share the pool, without a word.",
        remedy="Write a whole number, like 4 or 4000m.",
        source="kubelet CPU manager, static policy",
    ),
    "pod.cpu.odd-on-smt": CheckDoc(
        title="Under whole cores, CPU counts are multiples of the threads of a core",
        why="The kubelet refuses the pod with SMTAlignmentError, and its controller makes another, for ever.",
        remedy="Ask for the next multiple.",
        source="kubelet full-pcpus-only",
    ),
    "pod.hugepages.alone": CheckDoc(
        title="Pods with huge pages ask for cpu or memory too",
        why="The API server refuses huge pages alone.",
        remedy="Add requests of cpu and memory.",
        source="Kubernetes, manage huge pages",
    ),
    "pod.hugepages.medium": CheckDoc(
        title="Volumes of huge pages fit what the pod asks for",
        why="The kubelet cannot mount the volume, and the pod never starts.",
        remedy="Name the size in the medium, and request pages of that size.",
        source="Kubernetes, manage huge pages",
    ),
    "pod.hugepages.no-volume": CheckDoc(
        title="Containers with huge pages mount a volume of them",
        why="Libraries that map files (DPDK, SPDK) find no huge pages without one.",
        remedy="Mount an emptyDir with medium HugePages, unless the application uses MAP_HUGETLB or shmget.",
        source="Kubernetes, manage huge pages",
    ),
    "pod.hugepages.unequal": CheckDoc(
        title="Requests and limits of huge pages are the same",
        why="Huge pages cannot be overcommitted: the API server refuses the pod.",
        remedy="Set both to the same amount.",
        source="Kubernetes, manage huge pages",
    ),
    "pod.init.larger-than-app": CheckDoc(
        title="Init containers take no more CPUs than the application",
        why="What the application does not take over stays taken until the pod ends, used by nobody.",
        remedy="Give the init container at most the application's CPUs.",
        source="kubelet CPU manager, static policy",
    ),
    "pod.node.does-not-fit": CheckDoc(
        title="The pod fits on an empty node of its tier",
        why="The scheduler never finds room for it: it stays Pending.",
        remedy="Ask for less, or use a tier with larger machines.",
        source="Kubernetes node allocatable",
    ),
    "pod.numa.blind-scheduler": CheckDoc(
        title="What is left on a node's NUMA nodes does not look like room for another pod",
        why="The scheduler counts whole nodes: it sends pods that the kubelet refuses, and more are made.",
        remedy="Let pods take at most half of a NUMA node, or use a scheduler that knows NUMA nodes.",
        source="Kubernetes topology manager, known limitations",
    ),
    "pod.numa.does-not-fit": CheckDoc(
        title="The kubelet of an empty node of the tier admits the pod",
        why="A refused pod stays Failed, and its controller makes another one, for ever.",
        remedy="Ask for what a NUMA node holds, or use a tier whose policy lets pods span NUMA nodes.",
        source="kubelet topology manager",
    ),
    "pod.numa.spans": CheckDoc(
        title="Containers get CPUs of one NUMA node",
        why="Memory of another NUMA node is up to twice as slow.",
        remedy="Ask for no more CPUs than a NUMA node has, unless the application is built for several.",
        source="kubelet topology manager",
    ),
    "pod.qos.best-effort": CheckDoc(
        title="Pods ask for resources",
        why="Without requests the scheduler counts nothing, and the kernel kills these processes first.",
        remedy="Write requests of cpu and memory for each container.",
        source="Kubernetes pod quality of service; kubelet oom policy",
    ),
    "pod.qos.not-guaranteed": CheckDoc(
        title="Every container's requests equal its limits",
        why="Only Guaranteed pods get CPUs of their own, and the kernel's OOM killer spares them.",
        remedy="Write limits of cpu and memory in every container, and requests that equal them or none.",
        source="Kubernetes pod quality of service",
    ),
    "pod.qos.pod-level": CheckDoc(
        title="Pinned pods set resources on containers",
        why="With resources at pod level no container gets CPUs of its own.",
        remedy="Write requests and limits of each container instead.",
        source="kubelet CPU manager, PodLevelResourceManagers",
    ),
    "pod.qos.set-otherwise": CheckDoc(
        title="A running pod has the class that its fields give",
        why="The class is set when the pod is made and stays: later changes of resources do not move it.",
        remedy="Make the pod anew.",
        source="Kubernetes API, status.qosClass",
    ),
    "pod.resources.above-limit": CheckDoc(
        title="Requests are not above limits",
        why="The API server refuses the pod.",
        remedy="Lower the request, or raise the limit.",
        source="Kubernetes API, ResourceRequirements",
    ),
    "pod.selector.elsewhere": CheckDoc(
        title="The pod goes to the tier that it is judged by",
        why="It was judged without a tier, so nothing was said about CPUs, taints and machines.",
        remedy="Name the tier it is for with --with.",
        source="Kubernetes nodeSelector",
    ),
    "pod.selector.missing": CheckDoc(
        title="The pod asks for the nodes of its tier",
        why="A toleration lets a pod in, it does not send it there: elsewhere it gets no CPUs of its own.",
        remedy="Write the tier's labels into nodeSelector.",
        source="Kubernetes nodeSelector",
    ),
    "pod.sidecar.injected": CheckDoc(
        title="Proxies of a service mesh leave the pod Guaranteed",
        why="A proxy with requests below its limits makes the pod Burstable: pinned in the test, not in production.",
        remedy="Set the mesh's annotations for request and limit to the same values.",
        source="Istio resource annotations; Linkerd proxy configuration",
    ),
    "pod.sidecar.old-kubelet": CheckDoc(
        title="Sidecars with CPUs of their own run on kubelets that keep them apart",
        why="Kubelets of 1.28 may give the CPUs of a restartable init container to the application too.",
        remedy="Update the kubelets to 1.29 or newer, or ask for less than a whole CPU in the sidecar.",
        source="kubelet CPU manager, restartable init containers",
    ),
    "pod.sidecar.spoils-qos": CheckDoc(
        title="Helpers leave the pod Guaranteed",
        why="One container with requests below its limits makes the whole pod Burstable, and nothing of it is pinned.",
        remedy="Give the helper limits of cpu and memory that equal its requests.",
        source="Kubernetes pod quality of service",
    ),
    "pod.spread.missing": CheckDoc(
        title="Copies are spread over nodes",
        why="All copies on one node fail together, and share its cache and bandwidth.",
        remedy="Write topologySpreadConstraints over kubernetes.io/hostname and topology.kubernetes.io/zone.",
        source="Kubernetes topology spread constraints",
    ),
    "pod.spread.selects-nothing": CheckDoc(
        title="Spread constraints select the pod itself",
        why="A constraint counts the pods that its selector matches: none, so every node is as good.",
        remedy="Write the pod's own labels into labelSelector.",
        source="Kubernetes topology spread constraints",
    ),
    "pod.toleration.missing": CheckDoc(
        title="The pod tolerates the taints of its tier",
        why="Without it the pod cannot run on the nodes that are kept for it.",
        remedy="Add the toleration.",
        source="Kubernetes taints and tolerations",
    ),
    "pod.toleration.too-wide": CheckDoc(
        title="Pods tolerate only the taints of their own tier",
        why="A pod that tolerates everything lands among pinned pods and takes the shared CPUs of their daemons.",
        remedy="Name the taints that the pod shall tolerate.",
        source="Kubernetes taints and tolerations",
    ),
    "pool.hardware.core-ids": CheckDoc(
        title="Kernel core ids are the same on all nodes of a pool",
        why="They have no effect on CPU sets, but tell that the processors are of different kinds or firmware.",
        remedy="Nothing.",
        source="kernel sysfs topology/core_id",
    ),
    "pool.hardware.unequal": CheckDoc(
        title="All nodes of a pool have the same CPUs, cores and NUMA nodes",
        why="One CPU list cannot fit machines that are built differently.",
        remedy="Put unlike machines into pools of their own.",
        source="OpenShift profile creator",
    ),
    "sysctl.absent": CheckDoc(
        title="The kernel has the parameter",
        why="A name that the kernel does not have cannot be set, and would hide real errors in the file.",
        remedy="Remove it, or keep it for the nodes whose kernel has it.",
        source="kernel admin-guide/sysctl",
    ),
    "sysctl.conntrack": CheckDoc(
        title="Connection tracking is set in one place",
        why="kube-proxy sets the parameters from its own configuration when it starts; the later writer wins.",
        remedy="Set conntrack in kube-proxy's configuration to the same numbers.",
        source="kube-proxy configuration conntrack",
    ),
    "sysctl.kubelet": CheckDoc(
        title="The tier leaves the kubelet the parameters that it needs",
        why="The kubelet sets them back when it starts, or with protectKernelDefaults exits.",
        remedy="Remove the parameter from the tier.",
        source="KubeletConfiguration v1beta1 protectKernelDefaults",
    ),
    "sysctl.meaning": CheckDoc(
        title="A parameter that moved kept its meaning",
        why="The scheduler was replaced in 6.6: a value chosen for the old one may do something else.",
        remedy="Check that the value is meant for the new scheduler.",
        source="kernel scheduler/sched-eevdf",
    ),
    "sysctl.network": CheckDoc(
        title="The tier leaves the pod network the parameters that it needs",
        why="Without forwarding and with strict reverse path filters, packets of pods are dropped.",
        remedy="Remove the parameter from the tier.",
        source="kernel networking/ip-sysctl",
    ),
    "sysctl.overridden": CheckDoc(
        title="No later file sets a parameter of the tier differently",
        why="The running value is right, but the next boot, or the next systemd-sysctl, sets the other one.",
        remedy="Remove the line from the other file.",
        source="sysctl.d(5)",
    ),
    "sysctl.rt-throttling": CheckDoc(
        title="Real-time tasks stay limited on kernels that are not real-time ones",
        why="A busy real-time thread starves the kernel's own threads and the node hangs.",
        remedy="Remove kernel.sched_rt_runtime_us, or run a starvation guard.",
        source="kernel scheduler/sched-rt-group",
    ),
    "sysctl.unreachable": CheckDoc(
        title="A parameter that moved to debugfs can be written there",
        why="Kernel lockdown, a missing mount or a missing build option forbid it.",
        remedy="Remove it, or run a kernel and boot mode that allow debugfs.",
        source="kernel_lockdown(7); kernel/sched/debug.c",
    ),
    "tuner.conflict": CheckDoc(
        title="Nothing else tunes the node",
        why="Two tuners undo each other's values, at times that nobody can foresee.",
        remedy="Stop and disable the other tuner, or let it alone tune the node.",
        source="tuned(8), saptune(8)",
    ),
}
