# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every way in which a pod is refused, explained: the one place that `tunectl explain` and the reference read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_CPU = "Kubernetes 1.36, CPU manager, static policy"
_MEMORY = "Kubernetes 1.36, memory manager, Static policy"


@dataclass(frozen=True)
class RefusalDoc:
    """One way to be refused.

    Shape: `reason` is what `kubectl get pod` shows, `why` the rule, `ways_out` what to change; `source` is where the
    rule is written.
    """

    reason: str
    title: str
    why: str
    ways_out: str
    source: str


REFUSALS: Mapping[str, RefusalDoc] = {
    "does-not-fit": RefusalDoc(
        "Unschedulable",
        "The scheduler finds no room on the node.",
        "The scheduler adds up requests and compares them with what the node may give to pods: its capacity without the"
        " reservations, the eviction threshold and, for memory, the hugepages. It knows nothing of NUMA nodes.",
        "Ask for less, reserve less, raise kubelet.max_pods or add hugepages, whichever is lacking.",
        "Kubernetes 1.36, scheduler plugin NodeResourcesFit",
    ),
    "cpus-not-multiple-of-threads-per-core": RefusalDoc(
        "SMTAlignmentError",
        "The container asks for a part of a core, and only whole cores are given out.",
        "With full-pcpus-only the request must be a multiple of the threads of a core, counted as the machine's online "
        "CPUs divided by its cores.",
        "Ask for a multiple of the threads, or switch full-pcpus-only off.",
        _CPU,
    ),
    "not-enough-free-physical-cpus": RefusalDoc(
        "SMTAlignmentError",
        "Too few whole cores are free.",
        "With full-pcpus-only, CPUs that share a core with a reserved CPU are given to nobody: a reserved list that "
        "cuts cores in two costs each such core twice. The check comes before the kubelet looks at what a running pod "
        "already has, so that a restart on a full node turns running pods away.",
        "Reserve whole cores (tunectl plan offers such a split), ask for fewer CPUs, or switch full-pcpus-only off.",
        _CPU,
    ),
    "not-enough-cpus": RefusalDoc(
        "UnexpectedAdmissionError",
        "Too few CPUs are free.",
        "The CPUs of the shared pool that are not reserved are fewer than the container asks for, though the scheduler "
        "found room: it counts a pod at its peak, and the kubelet may hold more. CPUs of an init container stay with "
        "the pod to its end, also where the containers after it got others, and uneven cores are counted by averages.",
        "Ask for fewer CPUs, give init containers no more than the containers after them, or let pods end first.",
        _CPU,
    ),
    "no-acceptable-numa-hint": RefusalDoc(
        "TopologyAffinityError",
        "No set of NUMA nodes suits all managers as the topology policy wants it.",
        "The CPU manager and the memory manager each say which sets of NUMA nodes would do, and prefer those that are "
        "as small as could hold the request were everything free. restricted admits only a set that all of them prefer,"
        " single-numa-node only a single node. What is free elsewhere does not count, and where CPUs need two nodes and"
        " memory one, no set is preferred by both.",
        "Ask for what fits the preferred number of nodes, ask for memory that needs as many nodes as the CPUs, choose a"
        " looser topology policy, or let the memory manager be None.",
        "Kubernetes 1.36, topology manager",
    ),
    "empty-shared-pool": RefusalDoc(
        "EmptyPodSharedPoolError",
        "Containers with CPUs of their own leave none for the others of the pod.",
        "With resources at pod level the pod gets its CPUs as a whole; containers with whole CPUs take theirs, the "
        "others share the rest, which must not be empty.",
        "Raise the CPUs of the pod above the sum of its containers, or give every container whole CPUs.",
        "Kubernetes 1.36, feature gate PodLevelResourceManagers",
    ),
    "empty-shared-pool-init": RefusalDoc(
        "EmptyPodSharedPoolError",
        "Sidecars with CPUs of their own leave none for an init container after them.",
        "With resources at pod level an init container without whole CPUs shares what sidecars started before it left.",
        "Raise the CPUs of the pod above the sum of its sidecars, or start the init container first.",
        "Kubernetes 1.36, feature gate PodLevelResourceManagers",
    ),
    "memory-does-not-fit": RefusalDoc(
        "UnexpectedAdmissionError",
        "No set of NUMA nodes can give the memory.",
        "Either no set is large enough, or those that are have no room under the rule that a node gives memory either "
        "to pods of its own or, together with others, to pods of the group.",
        "Ask for less memory, or let the pods end that keep nodes apart or together.",
        _MEMORY,
    ),
    "memory-no-preferred-default": RefusalDoc(
        "UnexpectedAdmissionError",
        "The managers agreed on any NUMA nodes, and the memory is not free on the fewest that could hold it.",
        "A merged hint without NUMA nodes leaves the choice to the memory manager; its best choice must be as good as "
        "the hint was.",
        "Ask for less memory, or choose a looser topology policy.",
        _MEMORY,
    ),
    "memory-no-preferred-extension": RefusalDoc(
        "UnexpectedAdmissionError",
        "The chosen NUMA nodes have too little free memory, and widening them is not what was promised.",
        "With scope pod one choice holds for all containers; when it runs out for a later container the memory manager "
        "may take more nodes, but not where the choice was a preferred one and the wider one is not.",
        "Ask for less memory, or decide for each container with topology_manager_scope container.",
        _MEMORY,
    ),
    "memory-cannot-extend-hint": RefusalDoc(
        "UnexpectedAdmissionError",
        "The chosen NUMA nodes have too little free memory, and no larger set around them has enough.",
        "The topology manager may settle on nodes that suit the CPUs only; the memory manager then looks for nodes to "
        "add.",
        "Ask for less memory, or let pods end that hold it.",
        _MEMORY,
    ),
    "memory-numa-group-conflict": RefusalDoc(
        "UnexpectedAdmissionError",
        "The chosen NUMA nodes are in use in another grouping.",
        "A NUMA node gives memory either to pods of its own or to pods of one group of nodes; the first pod decides, "
        "until the last one on the node ends.",
        "Let the pods end that keep the nodes in their grouping, or size pods alike.",
        _MEMORY,
    ),
    "panic": RefusalDoc(
        "panic",
        "The kubelet crashes while it admits the pod.",
        "With prefer-closest-numa-nodes it looks up a NUMA node's row of distances by the node's id, and finds none "
        "when the ids have gaps.",
        "Leave prefer-closest-numa-nodes out on this machine.",
        "Kubernetes 1.36, topology manager, measured",
    ),
}
