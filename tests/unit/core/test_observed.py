import json
from dataclasses import replace
from typing import Any

import pytest

from tunectl.core.actual import Actual
from tunectl.core.comparison import holds, wanted_text
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.observed import ObservedState, actual_of, observe
from tunectl.core.snapshot import Snapshot

_MAIN = "/var/lib/kubelet/config.yaml"
_HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}


def _setting(area: Area, name: str, value: Any, setting_id: str = "") -> Setting:
    return Setting(setting_id or f"{area.value}.{name}", area, name, value, Impact.LIVE)


def _observed(files: dict[str, str], **more: Any) -> ObservedState:
    snapshot = Snapshot("n", files, **{"listings": {"/proc/sys": ("vm",)}, **more})
    documents = {_MAIN: json.loads(files[_MAIN])} if _MAIN in files else {}
    return observe(snapshot, documents)


def _cmdline(text: str) -> ObservedState:
    return _observed({"/proc/cmdline": f"{text}\n"})


@pytest.mark.parametrize(
    ("cmdline", "name", "value", "actual"),
    [
        ("nohz_full=1-3", "nohz_full", "1-3", "1-3"),
        ("nohz_full=1-3 nohz_full=2", "nohz_full", "1-3", "2"),
        ("nosmt quiet", "nosmt", None, ""),
        ("nosmt=force", "nosmt", None, "force"),
        ("quiet", "nohz_full", "1", None),
        ("rcu-nocbs=1", "rcu_nocbs", "1", "1"),
        ("quiet -- nohz_full=1", "nohz_full", "1", None),
        ("console=ttyS0 console=tty0", "console", "ttyS0", "ttyS0"),
        ("console=tty0", "console", "ttyS0", None),
    ],
)
def test_kernel_arguments(cmdline: str, name: str, value: str | None, actual: str | None) -> None:
    assert actual_of(_cmdline(cmdline), _setting(Area.CMDLINE, name, value)).value == actual


def test_kernel_arguments_show_all_their_occurrences() -> None:
    actual = actual_of(_cmdline("a=1 a=2"), _setting(Area.CMDLINE, "a", "1"))
    assert [evidence.text for evidence in actual.evidence] == ["a=1", "a=2"]
    assert {evidence.file for evidence in actual.evidence} == {"/proc/cmdline"}


@pytest.mark.parametrize(
    ("cmdline", "actuals"),
    [
        ("tsc=nowatchdog tsc=reliable", ["nowatchdog", "reliable"]),
        ("tsc=x tsc=nowatchdog tsc=reliable", ["nowatchdog", "reliable"]),
        ("tsc=reliable", [None, "reliable"]),
        ("quiet", [None, None]),
    ],
)
def test_arguments_that_stand_twice_are_told_apart(cmdline: str, actuals: list[str | None]) -> None:
    settings = (
        _setting(Area.CMDLINE, "tsc", "nowatchdog"),
        _setting(Area.CMDLINE, "nohz", "on"),
        _setting(Area.CMDLINE, "tsc", "reliable", "cmdline.tsc#2"),
    )
    desired = DesiredState("t", "p", Platform.KUBEADM, Partition(), settings)
    assert [actual_of(_cmdline(cmdline), one, desired).value for one in settings if one.name == "tsc"] == actuals


@pytest.mark.parametrize(
    ("cmdline", "size", "count"),
    [
        ("hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8", "1G", "4"),
        ("hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8", "2M", "8"),
        ("hugepagesz=1048576k hugepages=4", "1G", "4"),
        ("hugepagesz=1G hugepages=4 hugepagesz=1G hugepages=5", "1G", "4"),
        ("hugepagesz=1G hugepagesz=2M hugepages=8", "1G", None),
        ("hugepages=8", "1G", None),
    ],
)
def test_hugepages_are_found_by_size(cmdline: str, size: str, count: str | None) -> None:
    observed = _cmdline(cmdline)
    assert actual_of(observed, _setting(Area.CMDLINE, "hugepages", "1", f"cmdline.hugepages.{size}")).value == count
    actual = actual_of(observed, _setting(Area.CMDLINE, "hugepagesz", size, f"cmdline.hugepagesz.{size}"))
    assert actual.value == (size if count else None)


def test_hugepages_without_size() -> None:
    setting = _setting(Area.CMDLINE, "hugepages", "8", "cmdline.hugepages")
    assert actual_of(_cmdline("hugepages=8 hugepagesz=1G hugepages=2"), setting).value == "8"


def test_hugepages_of_a_size_that_nobody_understands() -> None:
    setting = _setting(Area.CMDLINE, "hugepages", "8", "cmdline.hugepages.big")
    assert actual_of(_cmdline("hugepagesz=big hugepages=8"), setting).value == "8"
    assert actual_of(_cmdline("hugepagesz=huge hugepages=8"), setting).value is None


def test_an_argument_that_no_spelling_gives_back_is_shown_as_it_is() -> None:
    actual = actual_of(_cmdline('a="x"y'), _setting(Area.CMDLINE, "a", "1"))
    assert (actual.value, actual.evidence[0].text) == ('x"y', 'a=x"y')


def test_a_command_line_that_was_not_read_is_unknown() -> None:
    observed = _observed({}, unreadable={"/proc/cmdline": "permission denied"})
    assert actual_of(observed, _setting(Area.CMDLINE, "a", None)) == Actual(unknown="/proc/cmdline: permission denied")


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", "madvise"),
        ("/proc/sys/net/ipv4/tcp_rmem", "4096\t87380  6291456\n", "4096 87380 6291456"),
        ("/proc/irq/default_smp_affinity", "ffffffff,ffffffff\n", "ffffffff,ffffffff"),
        ("/sys/empty", "\n", ""),
    ],
)
def test_values_of_the_running_kernel(path: str, text: str, value: str) -> None:
    actual = actual_of(_observed({path: text}), _setting(Area.RUNTIME, path, "x"))
    assert actual.value == value
    assert (actual.evidence[0].file, actual.evidence[0].text) == (path, text.strip())


def test_sysctls_are_read_below_proc() -> None:
    observed = _observed({"/proc/sys/net/ipv4/conf/eth0.100/rp_filter": "1\n"}, absent=frozenset({"/proc/sys/vm/none"}))
    assert actual_of(observed, _setting(Area.SYSCTL, "net.ipv4.conf.eth0/100.rp_filter", "1")).value == "1"
    missing = actual_of(observed, _setting(Area.SYSCTL, "vm.none", "1"))
    assert (missing.value, missing.unknown) == (None, "")


def test_a_capture_of_some_files_says_nothing_about_missing_sysctls() -> None:
    observed = _observed({}, listings={}, absent=frozenset({"/proc/sys/vm/swappiness"}))
    assert actual_of(observed, _setting(Area.SYSCTL, "vm.swappiness", "1")).unknown == "/proc/sys was not read"


@pytest.mark.parametrize(
    ("more", "unknown"),
    [
        ({}, "/sys/a/b/c: not in the snapshot"),
        ({"absent": frozenset({"/sys/a/b"})}, ""),
        ({"unreadable": {"/sys/a": "permission denied"}}, "/sys/a: permission denied"),
        ({"listings": {"/sys/a/b": ("x",)}}, ""),
        ({"listings": {"/sys/a/b": ("c",)}}, "/sys/a/b/c: not in the snapshot"),
        ({"listings": {"/sys/a": ("b",)}}, "/sys/a/b/c: not in the snapshot"),
    ],
)
def test_not_there_and_not_looked_are_different(more: dict[str, Any], unknown: str) -> None:
    actual = actual_of(_observed({}, **more), _setting(Area.RUNTIME, "/sys/a/b/c", "1"))
    assert (actual.value, actual.unknown, bool(actual.evidence)) == (None, unknown, not unknown)


def test_listings_of_cpus_do_not_prove_absence() -> None:
    observed = _observed({}, listings={"/sys/devices/system/cpu": ("cpu0",)})
    assert actual_of(observed, _setting(Area.RUNTIME, "/sys/devices/system/cpu/other", "1")).unknown


def test_offline_cpus_are_told_by_the_list_of_online_ones() -> None:
    path = "/sys/devices/system/cpu/cpu3/online"
    observed = _observed({"/sys/devices/system/cpu/online": "0-2,4\n"})
    assert actual_of(observed, _setting(Area.RUNTIME, path, "0")).value == "0"
    assert actual_of(observed, _setting(Area.RUNTIME, path.replace("3", "4"), "0")).value == "1"
    own = _observed({"/sys/devices/system/cpu/online": "0-2\n", path: "1\n"})
    assert actual_of(own, _setting(Area.RUNTIME, path, "0")).value == "1"
    assert actual_of(_observed({}), _setting(Area.RUNTIME, path, "0")).unknown
    damaged = _observed({"/sys/devices/system/cpu/online": "x\n"})
    assert "not a CPU list" in actual_of(damaged, _setting(Area.RUNTIME, path, "0")).unknown


def _kubelet(config: dict[str, Any], **more: Any) -> ObservedState:
    return _observed({_MAIN: json.dumps({**_HEAD, **config})}, **more)


@pytest.mark.parametrize(
    ("config", "name", "wanted", "actual"),
    [
        ({"reservedSystemCPUs": "0-3"}, "reservedSystemCPUs", "0-3", '"0-3"'),
        ({}, "cpuManagerPolicy", "static", '"none"'),
        ({}, "reservedSystemCPUs", "0", None),
        ({"systemReserved": {"cpu": "1", "pid": "9"}}, "systemReserved", {"cpu": "1"}, '{"cpu":"1"}'),
        ({"systemReserved": {"pid": "9"}}, "systemReserved", {"cpu": "1"}, "{}"),
        ({"memorySwap": {"swapBehavior": "NoSwap"}}, "memorySwap", {"swapBehavior": ""}, '{"swapBehavior":"NoSwap"}'),
        ({"maxPods": 250}, "maxPods", 250, "250"),
    ],
)
def test_kubelet_fields(config: dict[str, Any], name: str, wanted: Any, actual: str | None) -> None:
    found = actual_of(_kubelet(config), _setting(Area.KUBELET, name, wanted))
    assert (found.value, found.unknown) == (actual, "")
    assert found.evidence[0].file == _MAIN


def test_defaults_of_the_kubelet_are_called_so() -> None:
    found = actual_of(_kubelet({}), _setting(Area.KUBELET, "cpuManagerPolicy", "none"))
    assert found.evidence[0].text == 'cpuManagerPolicy is not set; the kubelet\'s default is "none"'


def test_a_kubelet_that_is_not_there_or_does_not_start_is_unknown() -> None:
    setting = _setting(Area.KUBELET, "maxPods", 1)
    assert actual_of(_observed({}), setting).unknown == "the node has no kubelet"
    assert "maxPods: 'many' where" in actual_of(_kubelet({"maxPods": "many"}), setting).unknown


def test_modules_are_asked_live_then_by_configuration() -> None:
    files = {
        "/etc/modprobe.d/a.conf": "# options kvm nx=9\noptions kvm-intel nested=1 flag\n",
        "/etc/modprobe.d/b.conf": "options kvm-intel nested=0\n",
        "/sys/module/kvm/parameters/halt_poll_ns": "0\n",
    }
    observed = _observed(files, listings={"/etc/modprobe.d": ("a.conf", "b.conf")})
    assert actual_of(observed, _setting(Area.MODULE, "kvm.halt_poll_ns", "0")).value == "0"
    nested = actual_of(observed, _setting(Area.MODULE, "kvm_intel.nested", "0"))
    assert (nested.value, nested.evidence[0].file) == ("0", "/etc/modprobe.d/b.conf")
    assert actual_of(observed, _setting(Area.MODULE, "kvm_intel.flag", "")).value == ""
    assert actual_of(observed, _setting(Area.MODULE, "kvm.nx", "9")).value is None
    blind = _observed({}, unreadable={"/etc/modprobe.d": "permission denied"})
    assert actual_of(blind, _setting(Area.MODULE, "kvm.nx", "9")).unknown == "/etc/modprobe.d: permission denied"


def test_services_run_where_their_process_is() -> None:
    observed = _observed({"/proc/9/comm": "irqbalance\n", "/proc/8/comm": "tuned\n"})
    assert observed.tuners == ("tuned", "irqbalance")
    assert actual_of(observed, _setting(Area.SERVICE, "irqbalance.service", "stopped")).value == "running"
    assert actual_of(observed, _setting(Area.SERVICE, "numad", "stopped")).value == "stopped"
    assert actual_of(observed, _setting(Area.SERVICE, "other", "stopped")).unknown
    blind = _observed({}, unreadable={"/proc": "permission denied"})
    assert actual_of(blind, _setting(Area.SERVICE, "numad", "stopped")).unknown == "/proc: permission denied"


@pytest.mark.parametrize(("lines", "value"), [("", "off"), ("/dev/sdb1 partition 1 0 -2\n/swap file 1 0 -3\n", "on")])
def test_swap(lines: str, value: str) -> None:
    observed = _observed({"/proc/swaps": f"Filename Type Size Used Priority\n{lines}"})
    actual = actual_of(observed, _setting(Area.SWAP, "devices", "off"))
    assert (actual.value, observed.swaps) == (value, ("/dev/sdb1", "/swap") if lines else ())
    assert actual_of(_observed({}), _setting(Area.SWAP, "devices", "off")).unknown == "/proc/swaps: not in the snapshot"


@pytest.mark.parametrize("area", [Area.LABEL, Area.TAINT])
def test_the_cluster_knows_labels_and_taints(area: Area) -> None:
    assert "API" in actual_of(_observed({}), _setting(area, "x", "y")).unknown


def test_the_node_is_the_snapshots() -> None:
    observed = observe(replace(Snapshot("n7", {}), simulated=True), {})
    assert (observed.node, observed.simulated) == ("n7", True)


@pytest.mark.parametrize(
    ("area", "name", "wanted", "actual", "same"),
    [
        (Area.CMDLINE, "nohz_full", "1-3", "1,2,3", True),
        (Area.CMDLINE, "nohz_full", "1-3", "1,2", False),
        (Area.CMDLINE, "isolcpus", "managed_irq,domain,1-2", "domain,managed_irq,1,2", True),
        (Area.CMDLINE, "isolcpus", "managed_irq,1-2", "1-2", False),
        (Area.CMDLINE, "systemd.cpu_affinity", "0-1", "0,1", True),
        (Area.CMDLINE, "tuned.non_isolcpus", "0000000f", "f", True),
        (Area.CMDLINE, "quiet", None, "", True),
        (Area.CMDLINE, "hugepages", "010", "8", False),
        (Area.CMDLINE, "nohz_full", "all", "1-3", False),
        (Area.RUNTIME, "/proc/irq/default_smp_affinity", "f", "00000000,0000000f", True),
        (Area.RUNTIME, "/proc/irq/default_smp_affinity", "f", "e", False),
        (Area.RUNTIME, "/proc/irq/default_smp_affinity", "f", "all", False),
        (Area.RUNTIME, "/proc/irq/9/smp_affinity_list", "0-1", "0,1", True),
        (Area.RUNTIME, "/sys/class/net/eth0/queues/rx-0/rps_cpus", "f", "0f", True),
        (Area.RUNTIME, "/sys/x/cpuset.cpus", "10", "8", False),
        (Area.SYSCTL, "net.core.rps_default_mask", "00000003", "3", True),
        (Area.SYSCTL, "kernel.watchdog_cpumask", "0-1", "0,1", True),
        (Area.SYSCTL, "vm.x", "0x10", "16", True),
        (Area.SYSCTL, "vm.x", "1 2", "1 3", False),
        (Area.MODULE, "kvm.nested", "1", "Y", True),
        (Area.MODULE, "kvm.nested", "1", "N", False),
        (Area.MODULE, "kvm.x", "abc", "abd", False),
        (Area.KUBELET, "reservedSystemCPUs", "0-1", '"0,1"', True),
        (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, '{"memory":"1024Mi"}', True),
        (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, '{"memory":"1G"}', False),
        (Area.KUBELET, "systemReserved", {"memory": "1Gi"}, "{}", False),
        (Area.KUBELET, "evictionHard", {"nodefs.available": "10%"}, '{"nodefs.available":"11%"}', False),
        (Area.KUBELET, "maxPods", 250, "250", True),
        (Area.KUBELET, "cpuManagerPolicy", "static", '"none"', False),
        (
            Area.KUBELET,
            "reservedMemory",
            [{"numaNode": 0, "limits": {"memory": "1Gi"}}, {"numaNode": 1, "limits": {"memory": "2Gi"}}],
            '[{"limits":{"memory":"2048Mi"},"numaNode":1},{"limits":{"memory":"1Gi"},"numaNode":0}]',
            True,
        ),
        (Area.KUBELET, "reservedMemory", [{"numaNode": 0, "limits": {"memory": "1Gi"}}], "7", False),
        (Area.SWAP, "devices", "off", "off", True),
        (Area.SWAP, "devices", "off", "on", False),
    ],
)
def test_values_compare_by_meaning(area: Area, name: str, wanted: Any, actual: str, *, same: bool) -> None:
    assert holds(_setting(area, name, wanted), Actual(actual)) is same


def test_what_is_not_set_or_unknown_never_holds() -> None:
    setting = _setting(Area.CMDLINE, "quiet", None)
    assert wanted_text(setting) == ""
    assert not holds(setting, Actual(None))
    assert not holds(setting, Actual("", unknown="nobody looked"))


def test_cpu_lists_written_by_a_plan_hold_as_the_kernel_shows_them() -> None:
    cpus = CpuSet.parse("0-3,8")
    setting = _setting(Area.RUNTIME, "/proc/irq/default_smp_affinity", cpus.mask(128))
    assert holds(setting, actual_of(_observed({setting.name: f"{cpus.mask()}\n"}), setting))
