from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Area, Impact, Setting
from tunectl.core.meaning import means, text_of


def wants(area: Area, name: str, value: Any) -> Setting:
    return Setting(f"{area.value}.{name}", area, name, value, Impact.LIVE)


SAME = [
    (Area.KUBELET, "cpuManagerPolicy", "static", "static"),
    (Area.KUBELET, "reservedSystemCPUs", "0-3", "3,0,1-2"),
    (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, {"memory": "1024Mi", "cpu": "500m"}),
    (Area.KUBELET, "kubeReserved", {"cpu": "1"}, {"cpu": "1000m"}),
    (Area.KUBELET, "evictionHard", {"nodefs.available": "10%"}, {"nodefs.available": "10.0%"}),
    (Area.KUBELET, "cpuManagerReconcilePeriod", "5s", "5000ms"),
    (Area.KUBELET, "cpuManagerReconcilePeriod", "1h30m", "90m0s"),
    (Area.KUBELET, "evictionSoftGracePeriod", {"memory.available": "90s"}, {"memory.available": "1m30s"}),
    (Area.KUBELET, "featureGates", {"MemoryQoS": True}, {"MemoryQoS": True, "Other": False}),
    (Area.KUBELET, "memoryThrottlingFactor", 0.9, 0.9),
    (Area.KUBELET, "maxPods", 250, 250),
    (
        Area.KUBELET,
        "reservedMemory",
        [{"numaNode": 0, "limits": {"memory": "1Gi"}}, {"numaNode": 1, "limits": {"memory": "1Gi"}}],
        [{"numaNode": 1, "limits": {"memory": "1024Mi"}}, {"numaNode": 0, "limits": {"memory": "1073741824"}}],
    ),
    (Area.CMDLINE, "nosoftlockup", None, ""),
    (Area.CMDLINE, "nohz_full", "2-5", "2,3,4,5"),
    (Area.CMDLINE, "systemd.cpu_affinity", "0-3", "3,2,1,0"),
    (Area.CMDLINE, "tuned.non_isolcpus", "0000000f", "f"),
    (Area.CMDLINE, "isolcpus", "managed_irq,2-5", "managed_irq,2,3,4,5"),
    (Area.CMDLINE, "isolcpus", "domain,managed_irq,2-5", "managed_irq,domain,2-5"),
    (Area.CMDLINE, "isolcpus", "domain,2-5", "2-5"),
    (Area.CMDLINE, "hugepages", "4", "4"),
    (Area.SYSCTL, "net.ipv4.tcp_rmem", "4096 87380 6291456", "4096\t87380\t6291456"),
    (Area.SYSCTL, "net.core.rps_default_mask", "0000000f", "0,0000000f"),
    (Area.SYSCTL, "kernel.watchdog_cpumask", "0,1,2,3", "0-3"),
    (Area.RUNTIME, "/sys/kernel/mm/transparent_hugepage/enabled", "madvise", "always [madvise] never"),
    (Area.RUNTIME, "/proc/irq/default_smp_affinity", "00000003", "3"),
    (Area.RUNTIME, "/sys/kernel/mm/ksm/run", "0", "0\n"),
    (Area.MODULE, "kvm.nx_huge_pages", "0", "N"),
    (Area.MODULE, "kvm.ple_gap", "0", "0\n"),
    (Area.SWAP, "devices", "off", "off"),
]
DIFFERENT = [
    (Area.KUBELET, "cpuManagerPolicy", "static", "Static"),
    (Area.KUBELET, "reservedSystemCPUs", "0-3", "0-4"),
    (Area.KUBELET, "reservedSystemCPUs", "0-3", "nonsense"),
    (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, {"memory": "1G"}),
    (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, {"cpu": "1"}),
    (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, "1Gi"),
    (Area.KUBELET, "evictionHard", {"nodefs.available": "10%"}, {"nodefs.available": "10"}),
    (Area.KUBELET, "cpuManagerReconcilePeriod", "5s", "5m"),
    (Area.KUBELET, "cpuManagerReconcilePeriod", "5s", "5 s"),
    (Area.KUBELET, "failSwapOn", False, True),
    (Area.KUBELET, "failSwapOn", False, 0),
    (Area.KUBELET, "maxPods", 250, "250"),
    (Area.KUBELET, "reservedMemory", [{"numaNode": 0, "limits": {"memory": "1Gi"}}], []),
    (
        Area.KUBELET,
        "reservedMemory",
        [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
        [{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-1Gi": "1Gi"}}],
    ),
    (
        Area.KUBELET,
        "reservedMemory",
        [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
        [{"numaNode": 1, "limits": {"memory": "1Gi"}}],
    ),
    (Area.KUBELET, "registerWithTaints", [{"key": "a"}], [{"key": "b"}]),
    (Area.CMDLINE, "nosoftlockup", None, None),
    (Area.CMDLINE, "nohz_full", "2-5", "2-4"),
    (Area.CMDLINE, "isolcpus", "managed_irq,2-5", "2-5"),
    (Area.CMDLINE, "hugepages", "3", "30"),
    (Area.CMDLINE, "idle", "poll", "nomwait"),
    (Area.SYSCTL, "vm.swappiness", "10", "100"),
    (Area.SYSCTL, "vm.swappiness", "10", ""),
    (Area.RUNTIME, "/sys/kernel/mm/transparent_hugepage/enabled", "never", "always [madvise] never"),
    (Area.RUNTIME, "/proc/irq/default_smp_affinity", "00000003", "7"),
    (Area.MODULE, "kvm.nx_huge_pages", "0", "Y"),
    (Area.SWAP, "devices", "off", "/dev/sda2"),
]


@pytest.mark.parametrize(("area", "name", "value", "actual"), SAME)
def test_these_mean_the_same(area: Area, name: str, value: Any, actual: Any) -> None:
    assert means(wants(area, name, value), actual)


@pytest.mark.parametrize(("area", "name", "value", "actual"), DIFFERENT)
def test_these_do_not(area: Area, name: str, value: Any, actual: Any) -> None:
    assert not means(wants(area, name, value), actual)


@given(st.sets(st.integers(0, 300), min_size=1), st.sets(st.integers(0, 300), min_size=1))
def test_cpu_arguments_compare_as_sets(wanted: set[int], actual: set[int]) -> None:
    setting = wants(Area.CMDLINE, "nohz_full", CpuSet(wanted).format())
    assert means(setting, ",".join(str(cpu) for cpu in sorted(actual))) == (wanted == actual)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON.filter(lambda value: value is not None))
def test_every_configuration_value_means_itself(value: Any) -> None:
    assert means(wants(Area.KUBELET, "field", value), value)


@given(st.sampled_from(["evictionHard", "reservedMemory", "shutdownGracePeriod", "reservedSystemCPUs"]), JSON, JSON)
def test_nonsense_is_different_and_never_an_error(name: str, wanted: Any, actual: Any) -> None:
    assert means(wants(Area.KUBELET, name, wanted), actual) in (True, False)


def test_values_have_one_text() -> None:
    assert text_of(None) is None
    assert text_of("0-3") == "0-3"
    assert text_of({"b": 1, "a": [True]}) == '{"a":[true],"b":1}'
