"""What a simulated node shows after a reboot, and after values were written to its tree."""

from pathlib import Path

import pytest
from support.labs import node_tree, snapshot_of, text_of, topology_of_tree

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import FailedError, InputError
from tunectl.lab.reboot import reboot, settle

_CPU = "/sys/devices/system/cpu"
_THP = "/sys/kernel/mm/transparent_hugepage"


def _put(root: Path, path: str, text: str) -> None:
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def _with_arguments(root: Path, arguments: str) -> None:
    text = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {arguments}"\n'
    _put(root, "/etc/default/grub.d/99-tunectl.cfg", text)


def test_arguments_take_effect_at_the_reboot_and_not_before(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _with_arguments(root, "isolcpus=managed_irq,2-3 nohz_full=2-3,10-11 transparent_hugepage=never")
    before = text_of(root, "/proc/cmdline")
    settle(root)
    assert text_of(root, "/proc/cmdline") == before
    assert "nohz_full=2-3,10-11" in text_of(root, "/boot/grub/grub.cfg")
    outcome = reboot(root)
    assert outcome.changed
    assert outcome.cmdline == text_of(root, "/proc/cmdline")
    assert "nohz_full=2-3,10-11" in outcome.cmdline
    assert text_of(root, f"{_CPU}/isolated") == ""
    assert text_of(root, f"{_CPU}/nohz_full") == "2-3,10-11"
    assert text_of(root, f"{_THP}/enabled") == "always madvise [never]"


def test_a_reboot_gives_a_new_boot_id_and_settling_does_not(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    first = text_of(root, "/proc/sys/kernel/random/boot_id")
    settle(root)
    assert text_of(root, "/proc/sys/kernel/random/boot_id") == first
    reboot(root)
    assert text_of(root, "/proc/sys/kernel/random/boot_id") != first


def test_the_kernel_log_tells_of_a_list_the_kernel_dropped(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _with_arguments(root, "isolcpus=19-31,51-127")
    outcome = reboot(root)
    assert outcome.log == ("Housekeeping: nohz_full= or isolcpus= incorrect CPU range",)
    assert text_of(root, f"{_CPU}/isolated") == ""


def test_values_set_by_hand_are_gone_after_a_reboot_and_configured_ones_stay(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, "/proc/sys/vm/swappiness", "3\n")
    _put(root, "/proc/sys/vm/stat_interval", "10\n")
    _put(root, "/etc/sysctl.d/99-tunectl.conf", "vm.stat_interval = 10\n")
    settle(root)
    assert text_of(root, "/proc/sys/vm/swappiness") == "3"
    reboot(root)
    assert text_of(root, "/proc/sys/vm/swappiness") == "60"
    assert text_of(root, "/proc/sys/vm/stat_interval") == "10"


def test_a_configured_parameter_that_the_kernel_lacks_is_passed_over(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, "/etc/sysctl.d/99-tunectl.conf", "kernel.sched_min_granularity_ns = 10000000\nvm.swappiness = 5\n")
    assert reboot(root).refused == ()
    assert not (root / "proc/sys/kernel/sched_min_granularity_ns").exists()
    assert text_of(root, "/proc/sys/vm/swappiness") == "5"


def test_a_configured_value_that_the_kernel_refuses_is_told(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, "/etc/sysctl.d/99-tunectl.conf", "vm.swappiness = many\n")
    assert reboot(root).refused == ("/proc/sys/vm/swappiness: many",)
    assert text_of(root, "/proc/sys/vm/swappiness") == "60"


def test_tmpfiles_are_applied_after_sysctl_and_units_last(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    knob = "/sys/kernel/debug/sched/min_granularity_ns"
    _put(root, "/etc/tmpfiles.d/tunectl.conf", f"w {_THP}/enabled - - - - madvise\nw {knob} - - - - 5\n")
    _put(root, "/etc/systemd/system/kubelet.service.d/20-tunectl.conf", "[Unit]\nWants=tunectl-debugfs.service\n")
    script = """/bin/sh -c "echo \\"$$1\\" > \\"$$2\\"" tunectl 10000000"""
    other = "/sys/kernel/debug/sched/migration_cost_ns"
    unit = f"[Service]\nExecStart={script} {knob} 7 {other}\n"
    _put(root, "/etc/systemd/system/tunectl-debugfs.service", unit)
    assert reboot(root).refused == ()
    assert text_of(root, f"{_THP}/enabled") == "always [madvise] never"
    assert text_of(root, knob) == "10000000"
    assert text_of(root, other) == "7"


def test_nosmt_takes_threads_out_of_the_topology_and_a_reboot_brings_them_back(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    whole = topology_of_tree(root)
    _with_arguments(root, "nosmt")
    reboot(root)
    half = topology_of_tree(root)
    assert half.online == CpuSet.parse("0-7")
    assert half.offline == CpuSet.parse("8-15")
    assert not half.smt
    assert not (root / f"{_CPU}/cpu8/topology".lstrip("/")).exists()
    _with_arguments(root, "quiet")
    reboot(root)
    assert topology_of_tree(root) == whole


def test_hugepages_of_the_command_line_are_spread_and_counted(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _with_arguments(root, "default_hugepagesz=1G hugepagesz=1G hugepages=6")
    reboot(root)
    topology = topology_of_tree(root)
    assert topology.default_hugepage_kib == 1 << 20
    assert [[pool.total for pool in node.hugepages] for node in topology.numa_nodes] == [[0, 3], [0, 3]]


def test_a_plain_word_written_to_a_choice_settles_into_the_kernels_form(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, f"{_THP}/enabled", "madvise")
    outcome = settle(root)
    assert outcome.changed
    assert outcome.refused == ()
    assert text_of(root, f"{_THP}/enabled") == "always [madvise] never"


def test_a_refused_value_is_undone_and_told(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, f"{_THP}/enabled", "sometimes\n")
    assert settle(root).refused == (f"{_THP}/enabled: sometimes",)
    assert text_of(root, f"{_THP}/enabled") == "[always] madvise never"


def test_a_file_the_kernel_derives_cannot_be_written(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, f"{_CPU}/isolated", "1-3\n")
    assert settle(root).refused == (f"{_CPU}/isolated: 1-3",)
    assert text_of(root, f"{_CPU}/isolated") == ""


def test_settling_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, "/proc/sys/vm/swappiness", "3")
    assert settle(root).changed
    before = snapshot_of(root)
    assert not settle(root).changed
    assert snapshot_of(root).files == before.files


def test_an_offlined_cpu_settles_into_every_list(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, f"{_CPU}/cpu9/online", "0")
    settle(root)
    topology = topology_of_tree(root)
    assert topology.offline == CpuSet.parse("9")
    assert topology.by_id[1].siblings == CpuSet.parse("1")
    assert text_of(root, f"{_CPU}/cpu1/topology/thread_siblings_list") == "1"
    assert not (root / f"{_CPU}/cpu9/topology".lstrip("/")).exists()
    _put(root, f"{_CPU}/cpu9/online", "1")
    settle(root)
    assert topology_of_tree(root).by_id[9].siblings == CpuSet.parse("1,9")


def test_hugepages_asked_for_by_hand_show_in_all_counts(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _put(root, "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "128\n")
    assert settle(root).refused == ()
    assert text_of(root, "/proc/sys/vm/nr_hugepages") == "128"
    assert [node.hugepages[0].total for node in topology_of_tree(root).numa_nodes] == [0, 128]


def test_swap_of_fstab_comes_with_the_boot_and_stops_a_plain_kubelet(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    fstab = (root / "etc/fstab").read_text()
    _put(root, "/etc/fstab", f"{fstab}/dev/sda2 none swap sw 0 0\n# /dev/sdb none swap sw 0 0\n")
    outcome = reboot(root)
    assert len(text_of(root, "/proc/swaps").splitlines()) == 2
    assert outcome.kubelet is not None
    assert outcome.kubelet.state == "failed"
    assert "swap" in outcome.kubelet.reason


def test_a_unit_that_switches_swap_off_lets_the_kubelet_start(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    with (root / "etc/fstab").open("a") as fstab:
        fstab.write("/dev/sda2 none swap sw 0 0\n")
    _put(root, "/etc/systemd/system/kubelet.service.d/20-tunectl.conf", "[Unit]\nWants=tunectl-swap.service\n")
    _put(root, "/etc/systemd/system/tunectl-swap.service", '[Service]\nExecStart=/bin/sh -c "swapoff -a"\n')
    outcome = reboot(root)
    assert len(text_of(root, "/proc/swaps").splitlines()) == 1
    assert outcome.kubelet is not None
    assert outcome.kubelet.state == "running"


def test_a_broken_grub_file_leaves_the_node_as_it_was(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    before = snapshot_of(root).files
    _put(root, "/etc/default/grub.d/99-tunectl.cfg", 'GRUB_CMDLINE_LINUX="open\n')
    with pytest.raises(FailedError, match="TUN-4800"):
        reboot(root)
    after = dict(snapshot_of(root).files)
    del after["/etc/default/grub.d/99-tunectl.cfg"]
    assert after == before


def test_another_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="TUN-1603"):
        reboot(tmp_path)
