# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The numbers behind a refusal: one statement each, from the state in which the kubelet turned the pod away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from .admission import Rejection
from .cpu_policy import peak_cpus
from .hints import TopologyPolicy, node_subsets
from .memory_policy import MemoryPolicy, peak_memory, requested
from .node import KubeletNode
from .planned_node import amounts, fewest
from .pod import Container, Pod, Qos

_NEEDS_FEWEST = (TopologyPolicy.RESTRICTED, TopologyPolicy.SINGLE_NUMA_NODE)
_MEMORY_RULES = {
    "memory-no-preferred-default": "no NUMA nodes are the fewest that could hold the request and have it free",
    "memory-does-not-fit": "no set of NUMA nodes has it free, under the rule that single and grouped use stay apart",
    "memory-no-preferred-extension": "the chosen NUMA nodes have too little free, and no set of the same size has more",
    "memory-cannot-extend-hint": "the chosen NUMA nodes have too little free, and no larger set around them has more",
    "memory-numa-group-conflict": "the chosen NUMA nodes are in use in another grouping",
}


def arithmetic(node: KubeletNode, pod: Pod, rejection: Rejection) -> Iterator[str]:
    """Yield the numbers behind a refusal; `node` is in the state that `KubeletNode.attempt` left."""
    rule = _RULES.get(rejection.code)
    if rule is not None:
        yield from rule(node, pod, _cpus_asked(node, pod, rejection))
        return
    memory = _memory_asked(pod, rejection)
    # The memory manager judges last: by then the container has its CPUs.
    is_about_memory = rejection.code in _MEMORY_RULES
    cpus = 0 if is_about_memory else _cpus_asked(node, pod, rejection)
    if cpus:
        yield from _cpu_room(node, cpus)
    if node.memory is not None and pod.qos is Qos.GUARANTEED:
        yield from _memory_room(node.memory, memory)
        yield from _groups(node.memory)
        yield from _disagreement(node, node.memory, cpus, memory)
    if is_about_memory:
        yield _MEMORY_RULES[rejection.code]


def container_at(pod: Pod, name: str) -> Container | None:
    """Return the container of that name, None when a refusal is about the pod as a whole."""
    return next((one for one in pod.containers if one.name == name), None)


def _cpus_asked(node: KubeletNode, pod: Pod, rejection: Rejection) -> int:
    container = container_at(pod, rejection.container)
    if container is not None and node.settings.topology_scope != "pod":
        return node.cpu.request(pod, container)
    return node.cpu.bubble_size(pod) or peak_cpus(pod)


def _memory_asked(pod: Pod, rejection: Rejection) -> Mapping[str, int]:
    container = container_at(pod, rejection.container)
    return requested(container.requests) if container is not None else peak_memory(pod)


def _uneven_cores(node: KubeletNode, pod: Pod, request: int) -> Iterator[str]:
    del pod
    threads = node.machine.cpus_per_core
    yield f"full-pcpus-only gives out whole cores of {threads} threads: {request} mod {threads} = {request % threads}"


def _too_few_whole_cores(node: KubeletNode, pod: Pod, request: int) -> Iterator[str]:
    del pod
    machine, cpu = node.machine, node.cpu
    siblings = machine.whole_cores(cpu.reserved)
    blocked = (siblings - cpu.reserved) & cpu.shared
    yield f"{len(cpu.shared)} CPUs are in the shared pool, {len(cpu.reserved & cpu.shared)} of them reserved"
    if blocked:
        yield f"{len(blocked)} more share a core with a reserved CPU: {blocked}"
    yield f"{len(cpu.shared - siblings)} CPUs on whole cores are left, {request} are asked for"


def _empty_shared_pool(node: KubeletNode, pod: Pod, request: int) -> Iterator[str]:
    own = {one.name: node.cpu.request(pod, one) for one in pod.containers}
    taken = ", ".join(f"{name} {count}" for name, count in own.items() if count)
    shared = ", ".join(name for name, count in own.items() if not count)
    yield f"the pod has {request} CPUs; containers with CPUs of their own take them: {taken}"
    yield f"nothing is left for {shared}"


def _crash(node: KubeletNode, pod: Pod, request: int) -> Iterator[str]:
    del pod, request
    ids = ", ".join(str(one.id) for one in node.machine.nodes)
    yield f"prefer-closest-numa-nodes looks up distances by NUMA node id, and the ids have gaps: {ids}"


_RULES = {
    "cpus-not-multiple-of-threads-per-core": _uneven_cores,
    "not-enough-free-physical-cpus": _too_few_whole_cores,
    "empty-shared-pool": _empty_shared_pool,
    "empty-shared-pool-init": _empty_shared_pool,
    "panic": _crash,
}


def _cpu_room(node: KubeletNode, request: int) -> Iterator[str]:
    machine = node.machine
    free = {name: len(cpus & node.cpu.available) for name, cpus in machine.node_cpus.items()}
    yield f"{request} CPUs asked for; free by NUMA node: {_by_node(free)}; in all {sum(free.values())}"
    policy = node.settings.topology_policy
    if policy is TopologyPolicy.SINGLE_NUMA_NODE:
        yield f"single-numa-node needs them on one NUMA node; the most free on one is {max(free.values())}"
    elif policy is TopologyPolicy.RESTRICTED:
        width = fewest([len(cpus) for cpus in machine.node_cpus.values()], request)
        room = sum(sorted(free.values(), reverse=True)[:width])
        yield (
            f"restricted needs them on as few NUMA nodes as could hold them with all CPUs free: {width}; "
            f"the most free on {width} is {room}"
        )


def _memory_room(memory: MemoryPolicy, request: Mapping[str, int]) -> Iterator[str]:
    for kind, size in sorted(request.items()):
        free = {name: one.tables[kind].free if kind in one.tables else 0 for name, one in memory.state.items()}
        asked, *rest = amounts(kind, Fraction(size), *map(Fraction, free.values()))
        yield f"{asked} of {kind} asked for; free by NUMA node: {_by_node(dict(zip(free, rest)))}"


def _groups(memory: MemoryPolicy) -> Iterator[str]:
    groups = {one.cells for one in memory.state.values() if len(one.cells) > 1}
    for cells in sorted(groups):
        nodes = "+".join(map(str, sorted(cells)))
        yield f"NUMA nodes {nodes} give memory to a running pod together: until it ends no pod gets one of them alone"
    single = [str(name) for name, one in memory.state.items() if one.assignments and len(one.cells) == 1]
    if single:
        yield f"NUMA nodes in use alone, so that no pod gets them together with others: {', '.join(single)}"


def _disagreement(node: KubeletNode, memory: MemoryPolicy, cpus: int, request: Mapping[str, int]) -> Iterator[str]:
    """Say when CPUs and memory prefer different numbers of NUMA nodes, which no merged hint can prefer."""
    policy = node.settings.topology_policy
    if not cpus or policy not in _NEEDS_FEWEST:
        return
    for_cpus = fewest([len(members) for members in node.machine.node_cpus.values()], cpus)
    for_memory = memory_width(memory, request)
    if for_memory != for_cpus:
        yield (
            f"the CPUs need {for_cpus} and the memory needs {for_memory} of the NUMA nodes: each manager prefers its "
            f"own fewest, and {policy.value} admits only a set that both prefer"
        )


def memory_width(memory: MemoryPolicy, request: Mapping[str, int]) -> int:
    """Return on how few NUMA nodes the memory of a request could be, were all of it free."""
    sizes = {
        kind: {name: one.tables[kind].allocatable if kind in one.tables else 0 for name, one in memory.state.items()}
        for kind in request
    }
    for subset in node_subsets(tuple(memory.state)):
        if all(sum(sizes[kind][node] for node in subset.nodes) >= size for kind, size in request.items()):
            return len(subset.nodes)
    return len(memory.state)


def _by_node(values: Mapping[int, object]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in values.items())
