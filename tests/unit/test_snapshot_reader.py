import json
import os
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pythons import oldest_python
from support.trees import write_tree

from tunectl.core.errors import InputError
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.snapshot_reader import read_snapshot

_ROOT = Path(__file__).resolve().parents[2]
_CPU = "/sys/devices/system/cpu"
_KERNEL = "6.1.0-28-amd64"

_TREE = {
    f"{_CPU}/online": "0-1\n",
    f"{_CPU}/present": "0-2\n",
    f"{_CPU}/offline": "2\n",
    f"{_CPU}/isolated": "1\n",
    f"{_CPU}/cpu2/online": "0\n",
    f"{_CPU}/cpu0/cpufreq/scaling_max_freq": "2000000\n",
    f"{_CPU}/cpu1/cpufreq/scaling_max_freq": "1000000\n",
    f"{_CPU}/cpufreq/policy0/scaling_governor": "performance\n",
    **{
        f"{_CPU}/cpu{cpu}/{leaf}": f"{text}\n"
        for cpu in (0, 1)
        for leaf, text in {
            "topology/physical_package_id": "0",
            "topology/core_id": str(cpu),
            "topology/thread_siblings_list": str(cpu),
            "topology/core_cpus_list": str(cpu),
            "cache/index0/level": "1",
            "cache/index0/shared_cpu_list": str(cpu),
            "cache/index1/level": "2",
            "cache/index1/shared_cpu_list": "0-1",
            "cache/index1/id": "4",
        }.items()
    },
    # Whatever the order of the caches, the level counts.
    f"{_CPU}/cpu1/cache/index2/level": "1\n",
    f"{_CPU}/cpu1/cache/index2/shared_cpu_list": "1\n",
    "/proc/cpuinfo": "processor : 0\nvendor_id : GenuineIntel\n\nprocessor : 1\nvendor_id : GenuineIntel\n\n",
    "/proc/meminfo": "MemTotal: 4096 kB\nHugepagesize: 2048 kB\n",
    "/proc/cmdline": "quiet\n",
    "/proc/sys/kernel/osrelease": f"{_KERNEL}\n",
    "/proc/sys/vm/swappiness": "60\n",
    "/proc/sys/net/ipv4/tcp_rmem": "4096\t87380\t6291456\n",
    "/proc/sys/net/ipv4/conf/eth0.100/rp_filter": "1\n",
    "/proc/sys/net/ipv4/conf/lo/rp_filter": "0\n",
    "/proc/sys/kernel/sched_domain/cpu0/x": "1\n",
    "/proc/irq/default_smp_affinity": "3\n",
    "/proc/irq/7/smp_affinity_list": "0\n",
    "/proc/irq/7/effective_affinity_list": "0\n",
    "/proc/irq/7/spurious": "count 0\n",
    f"/boot/config-{_KERNEL}": "CONFIG_HZ=250\nCONFIG_NET=y\n# CONFIG_PREEMPT_RT is not set\n# CONFIG_NET is old\n",
    "/etc/fstab": "UUID=1 / ext4\n# /swap none swap sw 0 0\n/dev/sdb1 none swap sw 0 0\n//nas/x /x cifs pw=hunter2\n",
    "/etc/sysctl.d/10-a.conf": (
        "# vm.comment = 1\n-net.ipv4.conf.eth0/100.rp_filter = 1\nnet/ipv4/tcp_rmem=1\nkernel.x.* = 1\n"
    ),
    "/etc/sysctl.d/README": "vm.nothing = 1\n",
    "/proc/101/comm": "kubelet\n",
    "/proc/101/cmdline": "/usr/bin/kubelet\0--config=/opt/k/config.yaml\0--config-dir\0/opt/k/conf.d\0",
    "/proc/102/comm": "bash\n",
    "/proc/102/cmdline": "bash\0-c\0hunter2\0",
    "/opt/k/config.yaml": "kind: KubeletConfiguration\n",
    "/opt/k/conf.d/sub/10-a.conf": "kind: KubeletConfiguration\n",
    "/opt/k/conf.d/notes.txt": "hunter2\n",
    "/etc/kubernetes/kubelet.conf": "kind: Config\nusers: hunter2\n",
    "/var/lib/dpkg/status": "Package: bash\nVersion: 5\n\nPackage: kubelet\nVersion: 1.33.2-1.1\n\nPackage: zsh\n",
    "/etc/shadow": "root:hunter2\n",
    "/var/lib/tunectl/current": "12\n",
    "/var/lib/tunectl/generations/0011/manifest.json": "{}\n",
    "/var/lib/tunectl/generations/0012/journal.json": "hunter2\n",
    "/etc/systemd/system/tunectl-swap.service": "[Service]\n",
    "/etc/systemd/system/kubelet.service.d/20-tunectl.conf": "[Unit]\n",
}

# The last two would lead out of /proc/sys.
_ASKED = ("vm.swappiness", "vm.none", "net/../../../etc/shadow", "x.//.//.//etc.shadow")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = write_tree(tmp_path / "root", _TREE)
    device = "sys/devices/pci0000:00/0000:00:05.0"
    write_tree(
        place,
        {
            f"{device}/numa_node": "0\n",
            f"{device}/local_cpulist": "0-1\n",
            f"{device}/class": "0x020000\n",
            f"{device}/virtio1/net/eth0/mtu": "1500\n",
            "sys/devices/pci0000:00/0000:00:06.0/class": "0x060400\n",
            "sys/devices/pci0000:00/0000:00:06.0/numa_node": "0\n",
            "sys/devices/pci0000:00/0000:00:05.1/class": "0x020000\n",
            "sys/devices/pci0000:00/0000:00:05.1/numa_node": "0\n",
            "sys/devices/pci0000:00/0000:00:05.1/net/eth9/mtu": "1500\n",
        },
    )
    for link, target in {
        "sys/class/net/eth0": f"../../../{device}/virtio1/net/eth0",
        f"{device}/virtio1/net/eth0/device": "../../../virtio1",
        "sys/bus/pci/devices/0000:00:05.0": f"../../../../{device}",
        "sys/devices/pci0000:00/0000:00:05.1/physfn": "../0000:00:05.0",
        "sys/devices/pci0000:00/0000:00:05.1/net/eth9/device": "../../../0000:00:05.1",
        "sys/class/net/eth9": "../../devices/pci0000:00/0000:00:05.1/net/eth9",
        "sys/bus/pci/devices/0000:00:05.1": "../../../devices/pci0000:00/0000:00:05.1",
        "sys/bus/pci/devices/0000:00:06.0": "../../../devices/pci0000:00/0000:00:06.0",
        "etc/systemd/system/irqbalance.service": "/dev/null",
    }.items():
        (place / link).parent.mkdir(parents=True, exist_ok=True)
        (place / link).symlink_to(target)
    return place


@pytest.fixture
def snapshot(root: Path) -> Snapshot:
    return read_snapshot(str(root), "n1", _ASKED, taken_at="2026-01-01T00:00:00Z")


def test_only_the_last_level_of_caches_is_kept(snapshot: Snapshot) -> None:
    for cpu in ("cpu0", "cpu1"):
        caches = sorted(path for path in snapshot.files if f"/{cpu}/cache/" in path)
        assert caches == [f"{_CPU}/{cpu}/cache/index1/{leaf}" for leaf in ("id", "level", "shared_cpu_list")]
    assert f"{_CPU}/cpu0/topology/core_cpus_list" not in snapshot.files


def test_the_topology_can_be_told(snapshot: Snapshot) -> None:
    topology = read_topology(snapshot)
    assert (topology.online.format(), topology.offline.format()) == ("0-1", "2")
    assert [(one.name, one.kind, one.address, one.numa) for one in topology.devices] == [
        ("eth0", "net", "0000:00:05.0", 0)
    ]
    assert topology.by_id[0].l3_id == 4


def test_large_files_are_kept_short(snapshot: Snapshot) -> None:
    assert snapshot.text("/proc/cpuinfo") == "processor : 0\nvendor_id : GenuineIntel"
    assert snapshot.text(f"/boot/config-{_KERNEL}") == "CONFIG_HZ=250\n# CONFIG_PREEMPT_RT is not set"
    assert snapshot.text("/etc/fstab") == "/dev/sdb1 none swap sw 0 0"
    assert snapshot.text("/var/lib/dpkg/status") == "Package: kubelet\nVersion: 1.33.2-1.1"
    assert "/proc/irq/7/spurious" not in snapshot.files


def test_sysctls_asked_for_mentioned_and_usual_are_read(snapshot: Snapshot) -> None:
    read = {path for path in snapshot.files if path.startswith("/proc/sys/")}
    assert read == {
        "/proc/sys/kernel/osrelease",
        "/proc/sys/vm/swappiness",
        "/proc/sys/net/ipv4/tcp_rmem",
        "/proc/sys/net/ipv4/conf/eth0.100/rp_filter",
    }
    assert {"/proc/sys/vm/none", "/proc/sys/kernel/panic"} <= snapshot.absent
    assert not any("shadow" in path for path in {*snapshot.files, *snapshot.absent, *snapshot.unreadable})
    assert snapshot.names("/proc/sys/vm") == ("swappiness",)
    assert "/proc/sys/net/ipv4/conf" not in snapshot.listings
    assert "/proc/sys/kernel/sched_domain" not in snapshot.listings
    assert "/etc/sysctl.d/README" not in snapshot.files


def test_the_kubelets_own_places_are_read(snapshot: Snapshot) -> None:
    assert snapshot.text("/opt/k/config.yaml") == "kind: KubeletConfiguration"
    assert "/opt/k/conf.d/sub/10-a.conf" in snapshot.files
    assert snapshot.names("/opt/k/conf.d") == ("notes.txt", "sub")
    assert snapshot.text("/etc/systemd/system/kubelet.service.d/20-tunectl.conf") == "[Unit]"


def test_secrets_of_others_are_not_read(snapshot: Snapshot) -> None:
    assert "hunter2" not in json.dumps(snapshot.to_json())


def test_what_tunectl_owns_is_read(snapshot: Snapshot) -> None:
    assert snapshot.text("/var/lib/tunectl/current") == "12"
    assert snapshot.names("/var/lib/tunectl/generations") == ("0011", "0012")
    assert "/var/lib/tunectl/generations/0011/manifest.json" in snapshot.files
    assert "/etc/systemd/system/tunectl-swap.service" in snapshot.files
    assert snapshot.links["/etc/systemd/system/irqbalance.service"] == "/dev/null"


def test_frequencies_are_read_where_there_are_some(snapshot: Snapshot) -> None:
    assert snapshot.text(f"{_CPU}/cpu1/cpufreq/scaling_max_freq") == "1000000"


def test_below_a_root_the_controllers_kernel_says_nothing(snapshot: Snapshot, root: Path) -> None:
    assert snapshot.facts["uname"] == {"release": _KERNEL}
    assert snapshot.facts["root"] == str(root)
    assert "page_size" not in snapshot.facts
    assert str(root) not in json.dumps([dict(snapshot.files), dict(snapshot.links), dict(snapshot.listings)])


@pytest.mark.parametrize("marked", [True, False])
def test_only_a_marked_tree_is_simulated(root: Path, *, marked: bool) -> None:
    if marked:
        write_tree(root, {"/run/tunectl/simulated": "{}\n"})
    assert read_snapshot(str(root), "n").simulated is marked


def test_the_running_system_is_never_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tunectl.snapshot_reader.SIMULATED_MARKER", "/proc/self/comm")
    snapshot = read_snapshot("/", "here")
    uname = os.uname()
    assert snapshot.simulated is False
    assert snapshot.facts["uname"]["release"] == uname.release
    assert snapshot.facts["uname"]["machine"] == uname.machine
    assert read_topology(snapshot).online


def test_extra_paths(root: Path) -> None:
    snapshot = read_snapshot(
        str(root), "n", extra_paths=[f"{_CPU}/cpufreq/policy*/scaling_governor", "/proc/irq/7/spurious"]
    )
    assert snapshot.text(f"{_CPU}/cpufreq/policy0/scaling_governor") == "performance"
    assert snapshot.text("/proc/irq/7/spurious") == "count 0"
    for path in ("etc/passwd", "/a\0b"):
        with pytest.raises(ValueError, match="not an absolute path"):
            read_snapshot(str(root), "n", extra_paths=[path])


def test_without_a_summary_every_cpu_is_asked(root: Path) -> None:
    (root / f"{_CPU}/online".lstrip("/")).unlink()
    assert read_topology(read_snapshot(str(root), "n")).offline.format() == "2"


def test_an_empty_root_is_a_snapshot(tmp_path: Path) -> None:
    snapshot = read_snapshot(str(tmp_path), "n")
    assert not snapshot.files
    assert "/proc/cmdline" in snapshot.absent


def test_damaged_cache_levels_are_kept_to_be_reported(root: Path) -> None:
    (root / f"{_CPU}/cpu1/cache/index1/level".lstrip("/")).write_text("two\n", encoding="utf-8")
    assert read_snapshot(str(root), "n").text(f"{_CPU}/cpu1/cache/index1/level") == "two"


@given(
    damage=st.dictionaries(
        st.sampled_from(sorted(_TREE)),
        st.one_of(st.binary(max_size=40), st.sampled_from(["\u00b2", "9" * 5000]).map(str.encode)),
        min_size=1,
        max_size=4,
    )
)
@settings(deadline=None, max_examples=30)
def test_no_content_of_files_stops_the_reader(
    damage: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = write_tree(tmp_path_factory.mktemp("root"), _TREE)
    for path, data in damage.items():
        (root / path.lstrip("/")).write_bytes(data)
    snapshot = read_snapshot(str(root), "n")
    try:
        topology = read_topology(snapshot)
    except InputError as error:
        assert error.problems[0].where.startswith("n:/")  # noqa: PT017
    else:
        assert topology.online


def test_damaged_cache_levels_of_any_kind_do_not_stop_the_reader(root: Path) -> None:
    (root / f"{_CPU}/cpu1/cache/index1/level".lstrip("/")).write_text("\u00b2\n", encoding="utf-8")
    with pytest.raises(InputError, match="cache/index1/level"):
        read_topology(read_snapshot(str(root), "n"))


def test_snapshots_are_what_the_schema_says(snapshot: Snapshot) -> None:
    schema = json.loads((_ROOT / "schemas/v1alpha1/snapshot.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    validator.check_schema(schema)
    for one in (snapshot, read_snapshot("/", "here")):
        validator.validate(json.loads(json.dumps(one.to_json())))
    validator.validate({"apiVersion": "tunectl.io/v1alpha1", "kind": "SnapshotSet", "items": [snapshot.to_json()]})
    for key, wrong in (("files", {"relative": ""}), ("node", ""), ("absent", ["/a", "/a"]), ("simulated", 1), ("x", 1)):
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**snapshot.to_json(), key: wrong})


def test_the_reader_runs_on_the_oldest_python_of_nodes(root: Path, snapshot: Snapshot) -> None:
    python = oldest_python()
    package = root.parent / "package"
    package.mkdir()
    source = _ROOT / "plugins/module_utils"
    for name in ("snapshot_reader", "snapshot_hardware", "snapshot_paths", "rooted_files"):
        shutil.copy(source / f"{name}.py", package)
    # Exactly what is shipped: the reader needs nothing else of the core.
    (package / "core").mkdir()
    for name in ("__init__", "snapshot"):
        shutil.copy(source / f"core/{name}.py", package / "core")
    program = (
        "import json, sys; from package.snapshot_reader import read_snapshot; "
        "print(json.dumps(read_snapshot(sys.argv[1], 'n1', sys.argv[2:]).to_json()))"
    )
    result = subprocess.run(
        [python, "-c", program, str(root), *_ASKED],
        capture_output=True,
        check=True,
        cwd=root.parent,
    )
    read = Snapshot.from_json(json.loads(result.stdout))
    assert (read.files, read.links, read.listings, read.absent) == (
        snapshot.files,
        snapshot.links,
        snapshot.listings,
        snapshot.absent,
    )
    assert str(read.facts["python"]).startswith(("3.9.", "3.10."))
