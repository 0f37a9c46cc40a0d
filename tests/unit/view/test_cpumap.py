"""The map of a machine: exact, complete, and the same as the pictures that were looked at."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.machines import Shape, hybrid, machine
from support.topologies import topologies

from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Partition
from tunectl.core.topology import Topology
from tunectl.view.cpumap import ROLES, map_cpus
from tunectl.view.cpumap_svg import map_svg
from tunectl.view.cpumap_text import map_text
from tunectl.view.screen import Screen

_SETS = ("reserved", "isolated", "shared", "offlined", "ovs_dpdk")


def _partition(**sets: str) -> Partition:
    values: dict[str, Any] = {name: CpuSet.parse(text) for name, text in sets.items()}
    return Partition(**values)


_EPYC = Shape(nodes=4, cores=16, threads=2, l3=8)
CASES = {
    "split-128": (
        machine(Shape(sockets=2, cores=32, threads=2, memory_gib=256)),
        _partition(reserved="0-18,32-50", isolated="19-31,51-127"),
    ),
    "whole-128": (
        machine(Shape(sockets=2, cores=32, threads=2, memory_gib=256)),
        _partition(reserved="0-18,64-82", isolated="19-63,83-127"),
    ),
    "interleaved-80": (
        machine(Shape(sockets=2, cores=20, threads=2, interleaved=True)),
        _partition(reserved="0-3,40-43", isolated="4-37,44-77", offlined="38-39,78-79"),
    ),
    "single-12": (machine(Shape(cores=12)), _partition(reserved="0-1", isolated="2-9", shared="10-11")),
    "hybrid-20": (hybrid(), _partition(reserved="0-1,12-13", isolated="2-11,14-19")),
    "numa4-amd": (machine(_EPYC), _partition(reserved="0,16,32,48,64,80,96,112", isolated="1-15,17-31,65-79")),
    "offline-64": (
        machine(Shape(sockets=2, cores=16, threads=2), offline="60-63"),
        _partition(reserved="0-1,32-33", isolated="2-31,34-59"),
    ),
    "arm-80": (machine(Shape(cores=80)), _partition(reserved="0-3", isolated="4-79")),
    "big-256": (
        machine(Shape(sockets=2, cores=64, threads=2, l3=8)),
        _partition(reserved="0-3,64-67,128-131,192-195", isolated="4-63,68-127,132-191,196-255"),
    ),
    "smt4": (machine(Shape(sockets=2, cores=4, threads=4, adjacent=True)), _partition(ovs_dpdk="0-3", isolated="4-9")),
}


@pytest.mark.parametrize("name", CASES)
def test_pictures(name: str, golden: Golden) -> None:
    text = map_text(map_cpus(*CASES[name]), Screen())
    assert text == golden(f"cpumap-{name}.txt", text)


def test_the_same_picture_in_ascii(golden: Golden) -> None:
    text = map_text(map_cpus(*CASES["split-128"]), Screen(unicode=False))
    assert text.isascii()
    assert text == golden("cpumap-split-128-ascii.txt", text)


def test_the_svg_picture(golden: Golden) -> None:
    text = map_svg(map_cpus(*CASES["split-128"]), "worker-1") + "\n"
    assert text == golden("cpumap-split-128.svg", text)


def test_a_node_without_cpus_is_shown() -> None:
    topology = CASES["single-12"][0]
    spare = Topology(
        arch=topology.arch,
        cpus=topology.cpus,
        numa_nodes=(*topology.numa_nodes, type(topology.numa_nodes[0])(1, CpuSet(), 2**25)),
    )
    assert "node 1 · 32 GiB · no CPUs" in map_text(map_cpus(spare, Partition()), Screen())


@st.composite
def _divided(draw: st.DrawFn) -> tuple[Topology, Partition]:
    topology = draw(topologies())
    roles = {cpu: draw(st.sampled_from([*_SETS, "unassigned"])) for cpu in topology.online}
    sets: dict[str, Any] = {name: CpuSet(cpu for cpu, role in roles.items() if role == name) for name in _SETS}
    return topology, Partition(**sets)


@given(_divided())
def test_every_online_cpu_is_in_one_cell_with_its_role(case: tuple[Topology, Partition]) -> None:
    topology, partition = case
    cells = [cell for column in map_cpus(topology, partition).columns for cell in column.cells]
    assert sorted(cell.cpu for cell in cells) == list(topology.online)
    assert all(cell.role == partition.role_of(cell.cpu) for cell in cells)


@given(_divided())
def test_columns_are_cores_and_split_ones_are_those_of_the_topology(case: tuple[Topology, Partition]) -> None:
    topology, partition = case
    columns = list(map_cpus(topology, partition).columns)
    assert sorted(CpuSet(cell.cpu for cell in column.cells).format() for column in columns) == sorted(
        core.format() for core in topology.cores
    )
    active = [getattr(partition, name) | partition.offlined for name in _SETS if name != "offlined"]
    for column in columns:
        core = CpuSet(cell.cpu for cell in column.cells)
        rest = core - partition.offlined
        whole = any(rest <= one for one in active) or all(rest.isdisjoint(one - partition.offlined) for one in active)
        assert column.split is not whole


@given(_divided(), st.sampled_from([80, 100, 120]))
def test_the_text_fits_lines_up_and_holds_every_cpu(case: tuple[Topology, Partition], width: int) -> None:
    topology, partition = case
    cpu_map = map_cpus(topology, partition)
    lines = map_text(cpu_map, Screen(width=width)).splitlines()
    assert all(len(line) <= width for line in lines)
    tops = [line for line in lines if line.startswith("┌")]
    assert sum(line.count("┌") for line in tops) == len(cpu_map.blocks)
    inside = "".join(line for line in lines if "│" in line)
    for role, count in cpu_map.counts().items():
        # Labels hold digits, blanks and "by"; rulers digits, P and E: none of them is a letter of a role.
        assert inside.replace("by", "").replace("split", "").count(ROLES[role][0]) == count


@given(_divided())
def test_colours_change_nothing_but_colours(case: tuple[Topology, Partition]) -> None:
    cpu_map = map_cpus(*case)
    painted = map_text(cpu_map, Screen(colour=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == map_text(cpu_map, Screen())


@given(_divided())
def test_the_svg_is_well_formed_and_holds_every_cpu(case: tuple[Topology, Partition]) -> None:
    topology, partition = case
    root = ET.fromstring(map_svg(map_cpus(topology, partition), "a <b> & c"))  # noqa: S314  our own text
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    for cpu in topology.online:
        name = ROLES[partition.role_of(cpu)][1]
        assert any(title.startswith(f"CPU {cpu}, ") and title.endswith(f": {name}") for title in titles)
