from typing import Any

import pytest

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import RefusedError
from tunectl.core.findings import Severity
from tunectl.core.machine import topology_from_facts
from tunectl.core.partition import partition_cpus
from tunectl.core.tier import CpuIntent, CpuSpec, Tier
from tunectl.core.topology import Topology

parse = CpuSet.parse


def machine(cores: int, numa: int, threads: int = 2, **more: Any) -> Topology:
    """A machine with `cores` cores over `numa` sockets of one NUMA node; thread t of core c is CPU t*cores+c."""
    per = cores // numa
    cpus = [
        {
            "cpu": thread * cores + core,
            "socket": core // per,
            "core": core % per,
            "numa": core // per,
            "thread_siblings": ",".join(str(one * cores + core) for one in range(threads)),
        }
        for core in range(cores)
        for thread in range(threads)
    ]
    return topology_from_facts({"arch": "x86_64", "cpus": cpus, "numa_nodes": [{"id": n} for n in range(numa)], **more})


def tier(**cpu: Any) -> Tier:
    return Tier("t", cpu=CpuSpec(**cpu))


def test_lists_of_the_source_report_split_38_cores_and_an_equal_split_is_offered() -> None:
    lists = tier(reserved=parse("0-18,32-50"), isolated=parse("19-31,51-127"))
    result = partition_cpus(lists, machine(64, 2))
    assert result.partition.reserved == parse("0-18,32-50")
    assert result.partition.isolated == parse("19-31,51-127")
    (finding,) = result.findings
    assert finding.id == "cpu.siblings.split"
    assert finding.severity is Severity.WARNING
    assert finding.message == (
        "38 cores are split: CPUs 0-18,32-50 (reserved) share cores with 64-82,96-114 (isolated); "
        "a whole-cores policy could hand out 52 of the 90 isolated CPUs"
    )
    (better,) = result.alternatives
    assert better.reserved == parse("0-9,32-40,64-73,96-104")
    assert better.isolated == parse("0-127") - better.reserved
    assert len(better.isolated) == 90


def test_odd_count_is_refused_with_the_rule_and_the_way_out() -> None:
    with pytest.raises(RefusedError) as refusal:
        partition_cpus(tier(reserved=CpuIntent(count=5)), machine(64, 2))
    (problem,) = refusal.value.problems
    assert problem.code == "TUN-2103"
    assert problem.where == "reserved.count: 5"
    assert problem.why == (
        "hyper-threading is on (2 threads per core) and whole cores are required, so the count must be even"
    )
    assert problem.fix.startswith("reserved.count: 4 or 6, or allow_split_cores: true")
