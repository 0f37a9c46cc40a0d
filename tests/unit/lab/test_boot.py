"""What a kernel makes of its command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet
from tunectl.core.machine import topology_from_facts
from tunectl.lab.boot import Boot, Kernel, boot
from tunectl.lab.hugepages import Request, allocate, used_kib
from tunectl.lab.machines import parse_shape

MACHINE = topology_from_facts(parse_shape("2s4c2t"))  # nodes 0-3,8-11 and 4-7,12-15; 32 GiB each
NEW, OLD = Kernel((6, 1)), Kernel((5, 15))
NO_FULL_TICKLESS = Kernel((5, 15), has_nohz_full=False)
GIB = 1 << 20


def booted(cmdline: str, kernel: Kernel = NEW) -> Boot:
    return boot(cmdline, MACHINE, kernel)


@pytest.mark.parametrize(
    ("cmdline", "isolated", "nohz_full"),
    [
        ("quiet", "", None),
        ("isolcpus=2-3", "2-3", None),
        ("isolcpus=domain,2-3", "2-3", None),
        ("isolcpus=managed_irq,2-3", "", None),
        ("isolcpus=managed_irq,domain,2-3", "2-3", None),
        ("isolcpus=nohz,2-3", "", "2-3"),
        ("isolcpus=nohz,domain,2-3 nohz_full=2-3", "2-3", "2-3"),
        ("nohz_full=2-3,10-11", "", "2-3,10-11"),
        ("nohz_full=0-3", "", "1-3"),
        ("nohz_full=8-N", "", "8-15"),
        ("isolcpus=2-3 isolcpus=4-5", "2-3", None),
        ("isolcpus=bogus,2-3", "2-3", None),
        ("isolcpus=all", "", None),
        ("isolcpus=0-16", "", None),
        ("isolcpus=19-31,51-127 nohz_full=1-3", "", "1-3"),
        ("isolcpus=0-15", "1-15", None),
        ("isolcpus=domain,2-3 nohz_full=4-5", "2-3", "4-5"),
        ("-- isolcpus=2-3", "", None),
    ],
)
def test_isolated_and_nohz_full_are_what_the_kernel_shows(cmdline: str, isolated: str, nohz_full: str | None) -> None:
    state = booted(cmdline)
    assert state.isolated.format() == isolated
    assert (None if state.nohz_full is None else state.nohz_full.format()) == nohz_full


def test_before_5_18_a_second_different_list_is_dropped() -> None:
    state = booted("isolcpus=domain,2-3 nohz_full=4-5", OLD)
    assert state.isolated == CpuSet.parse("2-3")
    assert state.nohz_full is None
    assert state.isolation.warnings == ("Housekeeping: nohz_full= must match isolcpus=",)


def test_before_5_18_equal_lists_both_hold() -> None:
    state = booted("nohz_full=2-3 isolcpus=managed_irq,2-3", OLD)
    assert state.nohz_full == CpuSet.parse("2-3")
    assert state.isolation.managed_irq(state.present) == state.present - CpuSet.parse("2-3")


def test_a_kernel_built_without_full_tickless_ignores_it_and_says_so_for_isolcpus() -> None:
    assert booted("nohz_full=2-3", NO_FULL_TICKLESS).nohz_full is None
    state = booted("isolcpus=nohz,domain,2-3", NO_FULL_TICKLESS)
    assert not state.isolated
    assert "CONFIG_NO_HZ_FULL" in state.isolation.warnings[0]


def test_a_list_beyond_the_machine_is_dropped_whole_with_a_warning() -> None:
    state = booted("isolcpus=2-16")
    assert not state.isolated
    assert state.isolation.warnings == ("Housekeeping: nohz_full= or isolcpus= incorrect CPU range",)


def test_unbound_work_and_the_watchdog_stay_off_tickless_cpus() -> None:
    state = booted("nohz_full=2-3 isolcpus=domain,4-5")
    assert state.isolation.unbound_work(state.present) == CpuSet.parse("0-1,6-15")
    assert state.isolation.watchdog(state.present) == CpuSet.parse("0-1,4-15")


@pytest.mark.parametrize(("cmdline", "default"), [("", "0-15"), ("irqaffinity=8-9", "0,8-9"), ("irqaffinity=99", "0")])
def test_irqaffinity_always_keeps_the_boot_cpu(cmdline: str, default: str) -> None:
    assert booted(cmdline).irq_default.format() == default


@pytest.mark.parametrize(
    ("cmdline", "online", "control"),
    [
        ("", "0-15", "on"),
        ("nosmt", "0-7", "off"),
        ("nosmt=force", "0-7", "forceoff"),
        ("maxcpus=3", "0-2", "on"),
        ("maxcpus=0", "0", "on"),
        ("nr_cpus=4", "0-3", "on"),
        ("nosmt maxcpus=2", "0-1", "off"),
    ],
)
def test_cpus_that_come_up(cmdline: str, online: str, control: str) -> None:
    state = booted(cmdline)
    assert state.online.format() == online
    assert state.smt_control == control


def test_a_machine_without_smt_says_so() -> None:
    assert boot("nosmt", topology_from_facts(parse_shape("1s4c1t")), NEW).smt_control == "notsupported"


@pytest.mark.parametrize(
    ("cmdline", "thp"),
    [
        ("", "always"),
        ("transparent_hugepage=never", "never"),
        ("transparent_hugepage=bogus", "always"),
        ("transparent_hugepage=never transparent_hugepage=madvise", "madvise"),
    ],
)
def test_transparent_hugepages(cmdline: str, thp: str) -> None:
    assert booted(cmdline).thp == thp


@pytest.mark.parametrize(
    ("cmdline", "default_kib", "pages"),
    [
        ("", 2048, {}),
        ("hugepages=10", 2048, {(0, 2048): 5, (1, 2048): 5}),
        ("hugepages=5", 2048, {(0, 2048): 3, (1, 2048): 2}),
        ("hugepagesz=1G hugepages=4", 2048, {(0, GIB): 2, (1, GIB): 2}),
        ("default_hugepagesz=1G hugepages=4", GIB, {(0, GIB): 2, (1, GIB): 2}),
        ("default_hugepagesz=1G hugepagesz=1G hugepages=3 hugepagesz=2M hugepages=128", GIB,
         {(0, GIB): 2, (1, GIB): 1, (0, 2048): 64, (1, 2048): 64}),
        ("hugepagesz=1G hugepages=0:1,1:3", 2048, {(0, GIB): 1, (1, GIB): 3}),
        ("hugepagesz=1G hugepages=2 hugepagesz=1G hugepages=8", 2048, {(0, GIB): 1, (1, GIB): 1}),
        ("hugepagesz=16M hugepages=9", 2048, {}),
        ("hugepagesz=big hugepages=9", 2048, {}),
        ("default_hugepagesz=16M hugepages=9", 2048, {}),
        ("hugepagesz=1G hugepagesz=1G hugepages=4", 2048, {}),
        ("hugepages=9 hugepages=100", 2048, {(0, 2048): 5, (1, 2048): 4}),
        ("hugepagesz=1G hugepages=1000", 2048, {(0, GIB): 31, (1, GIB): 31}),
        ("hugepagesz=1G hugepages=0:1000", 2048, {(0, GIB): 31}),
        ("hugepagesz=1G hugepages=7:4", 2048, {}),
    ],
)  # fmt: skip
def test_hugepages_of_the_command_line(cmdline: str, default_kib: int, pages: dict[tuple[int, int], int]) -> None:
    state = booted(cmdline)
    assert state.default_page_kib == default_kib
    assert {key: count for key, count in state.pages.items() if count} == pages


def test_before_5_16_a_count_by_node_is_read_as_its_first_number() -> None:
    assert not any(booted("hugepagesz=1G hugepages=0:4,1:4", OLD).pages.values())


@given(st.integers(0, 200), st.integers(0, 80_000))
def test_hugepages_never_exceed_a_node_nor_the_request(giants: int, small: int) -> None:
    pages = allocate(MACHINE, [Request(2048, total=small), Request(GIB, total=giants)])
    for node in MACHINE.numa_nodes:
        taken = sum(count * size for (owner, size), count in pages.items() if owner == node.id)
        assert taken <= node.memory_kib - used_kib(node.memory_kib)
    totals = {size: sum(count for (_node, one), count in pages.items() if one == size) for size in (2048, GIB)}
    assert totals[GIB] == min(giants, 62)
    assert totals[2048] <= small
    if (small * 2048 + giants * GIB) <= 60 * GIB:
        assert totals[2048] == small
