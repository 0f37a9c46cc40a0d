from typing import Any

import pytest

from tunectl.core.environment import NodeEnvironment, environment
from tunectl.core.observed import observe
from tunectl.core.snapshot import Snapshot

_UNIT = "/usr/lib/systemd/system/kubelet.service"
_SCHED = "/sys/kernel/debug/sched"


def _environment(files: dict[str, str] | None = None, **more: Any) -> NodeEnvironment:
    listings = {"/proc/sys": ("kernel", "vm"), **more.pop("listings", {})}
    return environment(observe(Snapshot("n", files or {}, listings=listings, **more), {}))


def test_nothing_known_is_the_empty_environment() -> None:
    assert environment(observe(Snapshot("n", {}), {})) == NodeEnvironment()


def test_a_node_in_full() -> None:
    files = {
        "/proc/sys/kernel/osrelease": "6.1.0-28-amd64\n",
        "/proc/version": "Linux version 6.1.0-28-amd64 #1 SMP PREEMPT_DYNAMIC Debian\n",
        "/proc/cpuinfo": "vendor_id : GenuineIntel\nflags : lm\n",
        "/etc/os-release": 'ID=debian\nVERSION_ID="12"\nBAD="\n',
        "/etc/default/grub": "GRUB_CMDLINE_LINUX=quiet\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu\n",
        "/sys/kernel/security/lockdown": "none [integrity] confidentiality\n",
        "/sys/devices/cpu/caps/pmu_name": "icelake\n",
        "/var/lib/dpkg/status": "Package: kubelet\nVersion: 1:1.33.2-1.1\n",
        _UNIT: "[Service]\nExecStart=/usr/bin/kubelet --config-dir=/etc/k.d/ --cgroup-driver=cgroupfs\n",
    }
    listings = {"/sys/fs/cgroup": ("kubepods.slice",), _SCHED: ("base_slice_ns", "numa_balancing")}
    listings |= {f"{_SCHED}/numa_balancing": ("scan_size_mb",)}
    found = _environment(files, listings=listings)
    assert found == NodeEnvironment(
        kernel_release="6.1.0-28-amd64",
        kernel=(6, 1),
        arch="x86_64",
        sysctls=frozenset({"kernel.osrelease", "kernel", "vm"}),
        debugfs=True,
        lockdown="integrity",
        distribution="debian",
        distribution_version="12",
        boot_loader="grub",
        cgroup_version=2,
        cgroup_driver="systemd",
        kubelet_version=(1, 33),
        kubelet_config_dir="/etc/k.d",
        has_kubelet=True,
        debugfs_knobs=frozenset({"base_slice_ns", "numa_balancing", "numa_balancing/scan_size_mb"}),
        pmu_name="icelake",
        page_kib=4,
        realtime=False,
    )


def test_existing_sysctls_are_those_listed_or_read() -> None:
    listings = {
        "/proc/sys/vm": ("swappiness", "nested"),
        "/proc/sys/vm/nested": ("x",),
        "/proc/sys/kernel": ("panic",),
    }
    files = {"/proc/sys/net/ipv4/conf/eth0.1/rp_filter": "1\n"}
    found = _environment(files, listings=listings).sysctls
    assert found == frozenset({"vm.swappiness", "vm.nested.x", "kernel.panic", "net.ipv4.conf.eth0/1.rp_filter"})


@pytest.mark.parametrize(
    ("more", "debugfs", "knobs"),
    [
        ({"unreadable": {_SCHED: "permission denied"}}, None, None),
        ({"absent": frozenset({_SCHED})}, False, frozenset()),
        ({}, None, None),
    ],
)
def test_debugfs(more: dict[str, Any], debugfs: bool | None, knobs: frozenset[str] | None) -> None:  # noqa: FBT001
    found = _environment(**more)
    assert (found.debugfs, found.debugfs_knobs) == (debugfs, knobs)


@pytest.mark.parametrize(
    ("files", "listings", "loader"),
    [
        ({}, {}, "unknown"),
        ({"/etc/default/grub": ""}, {}, "grub"),
        ({}, {"/boot/grub2": ("grub.cfg",)}, "grub"),
        ({"/etc/default/grub": "GRUB_ENABLE_BLSCFG=true\n"}, {"/boot/loader/entries": ("a.conf",)}, "bls"),
        ({"/etc/default/grub": "#GRUB_ENABLE_BLSCFG=true\n"}, {"/boot/loader/entries": ("a.conf",)}, "grub"),
        ({"/etc/default/grub": "GRUB_ENABLE_BLSCFG=true\n"}, {"/boot/loader/entries": ()}, "grub"),
        ({}, {"/boot/grub2": ("grub.cfg",), "/boot/loader/entries": ("a.conf",)}, "bls"),
        ({"/boot/efi/loader/loader.conf": ""}, {}, "systemd-boot"),
        ({}, {"/boot/loader/entries": ("a.conf",)}, "systemd-boot"),
        ({"/run/ostree-booted": "", "/etc/default/grub": ""}, {}, "ostree"),
    ],
)
def test_boot_loaders(files: dict[str, str], listings: dict[str, tuple[str, ...]], loader: str) -> None:
    assert _environment(files, listings=listings).boot_loader == loader


@pytest.mark.parametrize(
    ("files", "facts", "realtime"),
    [
        ({"/sys/kernel/realtime": "1\n"}, {}, True),
        ({"/sys/kernel/realtime": "0\n"}, {}, False),
        ({"/boot/config-6.1": "CONFIG_PREEMPT_RT=y\n"}, {"uname": {"release": "6.1"}}, True),
        ({"/boot/config-6.1": "# CONFIG_PREEMPT_RT is not set\n"}, {"uname": {"release": "6.1"}}, False),
        ({"/boot/config-6.2": "CONFIG_PREEMPT_RT=y\n"}, {"uname": {"release": "6.1"}}, None),
        ({}, {"uname": {"version": "#1 SMP PREEMPT_RT Mon"}}, True),
        ({"/proc/version": "Linux version 6.1 #1 SMP\n"}, {}, False),
    ],
)
def test_realtime_kernels(files: dict[str, str], facts: dict[str, Any], realtime: bool | None) -> None:  # noqa: FBT001
    assert _environment(files, facts=facts).realtime is realtime


_PMD = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"


@pytest.mark.parametrize(
    ("arch", "files", "facts", "kib"),
    [
        ("aarch64", {}, {"page_size": 65536}, 64),
        ("aarch64", {_PMD: "2097152\n"}, {}, 4),
        ("aarch64", {_PMD: "33554432\n"}, {}, 16),
        ("aarch64", {_PMD: "536870912\n"}, {}, 64),
        ("aarch64", {_PMD: "?\n"}, {}, 0),
        ("ppc64le", {_PMD: "2097152\n"}, {}, 0),
        ("x86_64", {}, {}, 4),
    ],
)
def test_page_sizes(arch: str, files: dict[str, str], facts: dict[str, Any], kib: int) -> None:
    assert _environment(files, facts={"uname": {"machine": arch}, **facts}).page_kib == kib


@pytest.mark.parametrize(
    ("names", "version", "driver"),
    [((), 0, ""), (("cpuset", "kubepods"), 1, "cgroupfs"), (("memory",), 1, ""), (("kubepods.slice",), 0, "systemd")],
)
def test_cgroups(names: tuple[str, ...], version: int, driver: str) -> None:
    found = _environment(listings={"/sys/fs/cgroup": names})
    assert (found.cgroup_version, found.cgroup_driver) == (version, driver)


@pytest.mark.parametrize(
    ("files", "facts", "version"),
    [
        ({}, {"kubelet_version": "v1.31.4"}, (1, 31)),
        ({"/var/lib/dpkg/status": "Version: 1.30.0\n"}, {"kubelet_version": "v1.31.4"}, (1, 31)),
        ({"/var/lib/dpkg/status": "Package: kubelet\nVersion: latest\n"}, {}, (0, 0)),
    ],
)
def test_kubelet_versions(files: dict[str, str], facts: dict[str, Any], version: tuple[int, int]) -> None:
    assert _environment(files, facts=facts).kubelet_version == version


@pytest.mark.parametrize(("absent", "name"), [({"/sys/devices/cpu/caps/pmu_name"}, ""), (set(), None)])
def test_a_processor_without_pmu_name(absent: set[str], name: str | None) -> None:
    assert _environment(absent=frozenset(absent)).pmu_name == name
