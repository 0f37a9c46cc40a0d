from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.environment import NodeEnvironment
from tunectl.core.findings import Finding
from tunectl.core.kernel_value import same_value
from tunectl.core.sysctl import (
    LIFETIMES,
    MOVED,
    RuntimeSetting,
    SysctlSetting,
    canonical_name,
    canonical_value,
    sysctl_path,
    translate_sysctl,
)

MIN_GRANULARITY = "kernel.sched_min_granularity_ns"


def node(major: int, minor: int, **fields: object) -> NodeEnvironment:
    return replace(
        NodeEnvironment(kernel_release=f"{major}.{minor}.0", kernel=(major, minor), debugfs=True),
        **fields,  # type: ignore[arg-type]
    )


def test_min_granularity_is_a_sysctl_until_5_12() -> None:
    assert translate_sysctl(MIN_GRANULARITY, "10000000", node(5, 12)) == SysctlSetting(MIN_GRANULARITY, "10000000")


def test_min_granularity_is_a_debugfs_file_from_5_13_to_6_5() -> None:
    for kernel in ((5, 13), (6, 5)):
        found = translate_sysctl(MIN_GRANULARITY, "10000000", node(*kernel))
        path = "/sys/kernel/debug/sched/min_granularity_ns"
        assert found == RuntimeSetting(MIN_GRANULARITY, path, "10000000")


def test_min_granularity_is_the_base_slice_from_6_6_and_the_change_of_meaning_is_said() -> None:
    found = translate_sysctl(MIN_GRANULARITY, "10000000", node(6, 6))
    assert isinstance(found, RuntimeSetting)
    assert found.path == "/sys/kernel/debug/sched/base_slice_ns"
    assert "competes again" in found.note


@pytest.mark.parametrize("name", ["kernel.sched_latency_ns", "kernel.sched_wakeup_granularity_ns"])
def test_what_the_new_scheduler_dropped_is_absent_with_the_reason(name: str) -> None:
    assert isinstance(translate_sysctl(name, "1", node(6, 5)), RuntimeSetting)
    found = translate_sysctl(name, "1", node(6, 6), "t")
    assert isinstance(found, Finding)
    assert (found.id, found.subject, found.setting) == ("sysctl.absent", "t", f"sysctl.{name}")
    assert "EEVDF" in found.why


def test_the_numa_balancing_scan_moved_into_a_directory() -> None:
    found = translate_sysctl("kernel.numa_balancing_scan_size_mb", "256", node(6, 1))
    assert isinstance(found, RuntimeSetting)
    assert found.path == "/sys/kernel/debug/sched/numa_balancing/scan_size_mb"


@pytest.mark.parametrize("mode", ["integrity", "confidentiality"])
def test_lockdown_makes_debugfs_unreachable(mode: str) -> None:
    found = translate_sysctl(MIN_GRANULARITY, "1", node(6, 1, lockdown=mode))
    assert isinstance(found, Finding)
    assert found.id == "sysctl.unreachable"
    assert mode in found.why


def test_lockdown_does_not_matter_where_it_is_still_a_sysctl() -> None:
    assert isinstance(translate_sysctl(MIN_GRANULARITY, "1", node(5, 4, lockdown="integrity")), SysctlSetting)


def test_without_debugfs_it_is_unreachable() -> None:
    found = translate_sysctl(MIN_GRANULARITY, "1", node(6, 1, debugfs=False))
    assert isinstance(found, Finding)
    assert found.id == "sysctl.unreachable"
    assert "CONFIG_SCHED_DEBUG" in found.why


def test_existence_beats_the_version() -> None:
    backported = node(5, 14, sysctls=frozenset(), debugfs_knobs=frozenset(("base_slice_ns",)))
    found = translate_sysctl(MIN_GRANULARITY, "1", backported)
    assert isinstance(found, RuntimeSetting)
    assert found.path.endswith("/base_slice_ns")
    both = node(5, 14, debugfs_knobs=frozenset(("min_granularity_ns", "base_slice_ns")))
    newest = translate_sysctl(MIN_GRANULARITY, "1", both)
    assert isinstance(newest, RuntimeSetting)
    assert newest.path.endswith("/base_slice_ns")
    kept = node(6, 8, sysctls=frozenset((MIN_GRANULARITY,)))
    assert isinstance(translate_sysctl(MIN_GRANULARITY, "1", kept), SysctlSetting)


def test_a_knob_that_is_not_there_is_unreachable() -> None:
    found = translate_sysctl("kernel.sched_nr_migrate", "8", node(6, 1, debugfs_knobs=frozenset(("features",))))
    assert isinstance(found, Finding)
    assert found.id == "sysctl.unreachable"
    assert "nr_migrate" in found.why


@pytest.mark.parametrize(
    ("name", "last_without", "first_with"),
    [
        ("vm.compaction_proactiveness", (5, 8), (5, 9)),
        ("vm.watermark_scale_factor", (4, 5), (4, 6)),
        ("vm.watermark_boost_factor", (4, 20), (5, 0)),
    ],
)
def test_a_parameter_exists_from_its_first_kernel_on(
    name: str, last_without: tuple[int, int], first_with: tuple[int, int]
) -> None:
    found = translate_sysctl(name, "1", node(*last_without))
    assert isinstance(found, Finding)
    assert f"Linux {first_with[0]}.{first_with[1]}" in found.why
    assert translate_sysctl(name, "1", node(*first_with)) == SysctlSetting(name, "1")


def test_a_removed_parameter_names_what_took_its_place() -> None:
    found = translate_sysctl("vm.percpu_pagelist_fraction", "8", node(5, 14))
    assert isinstance(found, Finding)
    assert "vm.percpu_pagelist_high_fraction" in found.why
    assert isinstance(translate_sysctl("vm.percpu_pagelist_fraction", "8", node(5, 13)), SysctlSetting)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("vm.zone_reclaim_mode", "CONFIG_NUMA"),
        ("net.netfilter.nf_conntrack_max", "module nf_conntrack"),
        ("net.bridge.bridge-nf-call-iptables", "module br_netfilter"),
        ("vm.nonesuch", "/proc/sys/vm/nonesuch"),
    ],
)
def test_what_the_node_lacks_is_absent_with_the_likely_reason(name: str, reason: str) -> None:
    found = translate_sysctl(name, "1", node(6, 1, sysctls=frozenset(("vm.swappiness",))))
    assert isinstance(found, Finding)
    assert found.id == "sysctl.absent"
    assert reason in found.why
    assert found.expected == f"{name} = 1"


def test_a_parameter_is_taken_as_asked_for_where_nobody_could_look() -> None:
    for name in (MIN_GRANULARITY, "vm.nonesuch", *LIFETIMES):
        assert translate_sysctl(name, "1", NodeEnvironment()) == SysctlSetting(name, "1")


def test_the_base_slice_never_was_a_sysctl() -> None:
    assert isinstance(translate_sysctl("kernel.sched_base_slice_ns", "1", node(5, 4)), Finding)
    assert isinstance(translate_sysctl("kernel.sched_base_slice_ns", "1", node(6, 8)), RuntimeSetting)


@given(st.sampled_from(sorted(MOVED)), st.integers(4, 7), st.integers(0, 20))
def test_every_kernel_gets_one_answer_for_each_moved_parameter(name: str, major: int, minor: int) -> None:
    found = translate_sysctl(name, "1", node(major, minor))
    if isinstance(found, SysctlSetting):
        assert (major, minor) < (5, 13)
    elif isinstance(found, RuntimeSetting):
        assert (major, minor) >= (5, 13)
        assert found.path.startswith("/sys/kernel/debug/sched/")
    else:
        assert found.why


def test_names_have_one_spelling() -> None:
    assert canonical_name("vm.swappiness") == "vm.swappiness"
    assert canonical_name("vm/swappiness") == "vm.swappiness"
    assert canonical_name("net/ipv4/conf/eth0.100/rp_filter") == "net.ipv4.conf.eth0/100.rp_filter"
    assert sysctl_path("net.ipv4.conf.eth0/100.rp_filter") == "/proc/sys/net/ipv4/conf/eth0.100/rp_filter"


def test_values_compare_without_blanks_and_as_the_kernel_reads_numbers() -> None:
    assert canonical_value(" 4096\t87380  6291456\n") == "4096 87380 6291456"
    assert same_value("4096 87380 6291456", "4096\t87380\t6291456")
    assert same_value("0x10", "16")
    assert same_value("010", "8")
    assert not same_value("010", "10")
    assert not same_value("1", "1 1")
    assert not same_value("a", "b")
    assert same_value("+1", "1")
