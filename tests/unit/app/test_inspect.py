"""Inspection of nodes: what kubelet and kernel do with the CPUs now, and the same facts in every format."""

from __future__ import annotations

from dataclasses import replace

from support.machines import Shape, machine
from support.snapshots import snapshot_of

from tunectl.app.inspect import inspect_node
from tunectl.core.cpuset import CpuSet
from tunectl.core.snapshot import Snapshot
from tunectl.view.inspection import inspection_html, inspection_result, inspection_svg, inspection_text
from tunectl.view.screen import Screen

_MACHINE = machine(Shape(sockets=2, cores=4, threads=2))
_TUNED = {
    "/proc/cmdline": "ro isolcpus=managed_irq,2-7,10-15 nohz_full=2-7,10-15\n",
    "/sys/devices/system/cpu/isolated": "2-7,10-15\n",
    "/sys/devices/system/cpu/nohz_full": "2-7,10-15\n",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/proc/swaps": "Filename Type Size Used Priority\n",
    "/proc/7/comm": "tuned\n",
    "/etc/tuned/active_profile": "balanced\n",
}


def _node(more: dict[str, str], *, simulated: bool = False) -> Snapshot:
    return replace(snapshot_of(_MACHINE, "worker-1", more), simulated=simulated)


def test_a_tuned_node() -> None:
    seen = inspect_node(_node(_TUNED))
    facts = dict(seen.facts)
    assert seen.partition.isolated == CpuSet.parse("2-7,10-15")
    assert facts["kernel"] == (
        "isolcpus managed_irq,2-7,10-15 · nohz_full 2-7,10-15 · transparent hugepages madvise · swap off"
    )
    assert facts["kubelet"] == "the node has no kubelet"
    assert facts["tuners"] == "tuned (balanced)"


def test_an_untuned_node() -> None:
    seen = inspect_node(_node({"/proc/cmdline": "ro\n", "/sys/devices/system/cpu/nohz_full": "(null)\n"}))
    assert not seen.partition.isolated
    assert dict(seen.facts)["kernel"] == "no isolation"
    assert dict(seen.facts)["tuners"] == "none running"


def test_what_could_not_be_read_says_so() -> None:
    node = replace(_node({}), unreadable={"/proc/cmdline": "permission denied"})
    assert "permission denied" in dict(inspect_node(node).facts)["kernel"]


def test_every_format_has_the_node_and_says_that_it_is_simulated() -> None:
    seen = [inspect_node(_node(_TUNED, simulated=True))]
    text = inspection_text(seen, Screen())
    assert text.startswith("worker-1   x86_64  16 CPUs  2 sockets  2 NUMA nodes  128 GiB  simulated\n")
    assert "i isolated 12   · not assigned 4" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "(simulated)" in inspection_svg(seen)
    assert "simulated" in inspection_html(seen, "now")
    result = inspection_result(seen)
    assert result.simulated
    assert (result.summary["nodes"], result.summary["cpus"]) == (1, 16)
    assert result.items[0]["machine"]["totals"]["cores"] == 8
    assert result.items[0]["partition"]["isolated"] == "2-7,10-15"
