"""A running simulated kernel takes and refuses writes as a kernel does."""

import pytest

from tunectl.core.cpuset import CpuSet
from tunectl.lab.kernel import RunningKernel
from tunectl.lab.machines import parse_shape
from tunectl.lab.node import SimulatedNode
from tunectl.lab.profiles import load_profile

_NODE = SimulatedNode("n", parse_shape("2s4c2t"), load_profile("debian12"))
_THP = "/sys/kernel/mm/transparent_hugepage"


def _kernel(arguments: str = "quiet") -> RunningKernel:
    return RunningKernel.start(_NODE, arguments)


@pytest.mark.parametrize(
    ("path", "value", "shown"),
    [
        (f"{_THP}/enabled", "madvise", "always [madvise] never\n"),
        (f"{_THP}/enabled", "always [madvise] never\n", "always [madvise] never\n"),
        (f"{_THP}/defrag", "defer+madvise", "always defer [defer+madvise] madvise never\n"),
        (f"{_THP}/enabled", "sometimes", None),
        ("/sys/kernel/debug/sched/preempt", "full", "none voluntary (full)\n"),
        ("/sys/kernel/debug/sched/features", "NO_RT_PUSH_IPI", None),
        ("/sys/kernel/debug/sched/min_granularity_ns", "10000000", "10000000\n"),
        ("/proc/sys/vm/swappiness", " 10 ", "10\n"),
        ("/proc/sys/vm/swappiness", "201", None),
        ("/proc/sys/vm/swappiness", "ten", None),
        ("/proc/sys/vm/swappiness", "", None),
        ("/proc/sys/kernel/sched_rt_runtime_us", "-1", "-1\n"),
        ("/proc/sys/net/ipv4/tcp_rmem", "4096 87380 1048576", "4096\t87380\t1048576\n"),
        ("/proc/sys/net/ipv4/tcp_rmem", "8192", "8192\t131072\t6291456\n"),
        ("/proc/sys/net/ipv4/tcp_rmem", "1 2 3 4", None),
        ("/proc/sys/kernel/core_pattern", "core.%p", "core.%p\n"),
        ("/proc/sys/kernel/watchdog_cpumask", "0-1,8-9", "0-1,8-9\n"),
        ("/proc/sys/kernel/osrelease", "7.0", None),
        ("/sys/devices/virtual/workqueue/cpumask", "3", "00000003\n"),
        ("/sys/devices/virtual/workqueue/cpumask", "0-1", None),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "0000,000000ff", "000000ff\n"),
        ("/proc/irq/default_smp_affinity", "303", "00000303\n"),
        ("/proc/sys/vm/no_such_thing", "1", None),
        ("/proc/irq/default_smp_affinity", "0", None),
        ("/proc/irq/default_smp_affinity", "0-1", None),
        ("/proc/sys/vm/nr_hugepages", "-1", None),
        ("/sys/devices/system/cpu/smt/control", "maybe", None),
        ("/sys/kernel/debug/sched/features", "NO_SUCH_FEATURE", None),
    ],
)
def test_a_value_shows_as_the_kernel_shows_it_or_is_refused(path: str, value: str, shown: str | None) -> None:
    kernel = _kernel()
    before = kernel.files().get(path)
    if path.endswith("features") and shown is None and value == "NO_RT_PUSH_IPI":
        shown = (before or "").replace("RT_PUSH_IPI", "NO_RT_PUSH_IPI", 1)
    assert kernel.write(path, value) is (shown is not None)
    assert kernel.files().get(path) == (before if shown is None else shown)


def test_dirty_bytes_and_ratio_exclude_each_other() -> None:
    kernel = _kernel()
    assert kernel.write("/proc/sys/vm/dirty_bytes", "1048576")
    assert kernel.files()["/proc/sys/vm/dirty_ratio"] == "0\n"
    assert kernel.write("/proc/sys/vm/dirty_ratio", "0")
    assert kernel.files()["/proc/sys/vm/dirty_bytes"] == "1048576\n"
    assert kernel.write("/proc/sys/vm/dirty_ratio", "10")
    assert kernel.files()["/proc/sys/vm/dirty_bytes"] == "0\n"


def test_an_offlined_cpu_leaves_lists_nodes_and_siblings() -> None:
    kernel = _kernel()
    assert kernel.write("/sys/devices/system/cpu/cpu9/online", "0")
    files = kernel.files()
    assert files["/sys/devices/system/cpu/online"] == "0-8,10-15\n"
    assert files["/sys/devices/system/cpu/offline"] == "9\n"
    assert files["/sys/devices/system/node/node0/cpulist"] == "0-3,8,10-11\n"
    assert files["/sys/devices/system/cpu/cpu9/online"] == "0\n"
    assert files["/sys/fs/cgroup/cpuset.cpus.effective"] == "0-8,10-15\n"
    assert "processor\t: 9\n" not in files["/proc/cpuinfo"]


def test_the_boot_cpu_has_no_switch_and_a_missing_cpu_cannot_come() -> None:
    kernel = _kernel("maxcpus=4")
    assert "/sys/devices/system/cpu/cpu0/online" not in kernel.files()
    assert not kernel.write("/sys/devices/system/cpu/cpu0/online", "0")
    assert not kernel.write("/sys/devices/system/cpu/cpu99/online", "1")
    assert not kernel.write("/sys/devices/system/cpu/cpu5/online", "2")
    assert kernel.write("/sys/devices/system/cpu/cpu5/online", "1")
    assert kernel.online == CpuSet.parse("0-3,5")


def test_smt_control_takes_the_second_threads_away_and_back() -> None:
    kernel = _kernel()
    assert kernel.write("/sys/devices/system/cpu/smt/control", "off")
    assert kernel.online == CpuSet.parse("0-7")
    assert kernel.files()["/sys/devices/system/cpu/smt/active"] == "0\n"
    assert not kernel.write("/sys/devices/system/cpu/cpu8/online", "1")
    assert kernel.write("/sys/devices/system/cpu/smt/control", "on")
    assert kernel.online == CpuSet.parse("0-15")
    assert kernel.write("/sys/devices/system/cpu/smt/control", "forceoff")
    assert not kernel.write("/sys/devices/system/cpu/smt/control", "on")


def test_an_interrupt_moves_and_shows_it_in_both_spellings() -> None:
    kernel = _kernel()
    assert kernel.write("/proc/irq/24/smp_affinity_list", "1,9")
    files = kernel.files()
    assert files["/proc/irq/24/smp_affinity"] == "00000202\n"
    assert files["/proc/irq/24/effective_affinity_list"].strip() in ("1", "9")
    assert kernel.write("/proc/irq/24/smp_affinity", "4")
    assert kernel.files()["/proc/irq/24/smp_affinity_list"] == "2\n"


def test_managed_timer_and_unreachable_interrupts_do_not_move() -> None:
    kernel = _kernel()
    table = kernel.files()["/proc/interrupts"]
    managed = next(line.split(":")[0].strip() for line in table.splitlines() if line.endswith("nvme0q1"))
    for number, value in ((managed, "0"), ("0", "1"), ("24", "99"), ("24", ""), ("999", "0")):
        assert not kernel.write(f"/proc/irq/{number}/smp_affinity_list", value)


def test_managed_interrupts_keep_off_the_cpus_that_isolcpus_names() -> None:
    def effective(arguments: str) -> list[str]:
        files = _kernel(arguments).files()
        table = files["/proc/interrupts"].splitlines()
        managed = [line.split(":")[0].strip() for line in table if "nvme0q" in line and not line.endswith("q0")]
        return [files[f"/proc/irq/{number}/effective_affinity_list"].strip() for number in managed]

    # Four queues share the CPUs: 0,4,8,12 and so on. A queue of isolated CPUs alone has nowhere else to go.
    assert effective("quiet") == ["0", "1", "2", "3"]
    assert effective("isolcpus=managed_irq,0-2,4-6,10,14") == ["8", "9", "2", "3"]
    assert effective("isolcpus=domain,0-2,4-6,10,14") == ["0", "1", "2", "3"]


def test_hugepages_of_a_node_show_everywhere_and_stop_at_what_fits() -> None:
    kernel = _kernel()
    assert kernel.write("/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages", "4")
    files = kernel.files()
    assert files["/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/free_hugepages"] == "4\n"
    assert files["/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"] == "4\n"
    assert "Hugetlb:         4194304 kB" in files["/proc/meminfo"]
    assert kernel.write("/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages", "4000")
    assert kernel.pages[1, 1048576] == 31
    assert not kernel.write("/sys/devices/system/node/node7/hugepages/hugepages-1048576kB/nr_hugepages", "4")


def test_vm_nr_hugepages_spreads_pages_of_the_default_size() -> None:
    kernel = _kernel("default_hugepagesz=1G")
    assert kernel.write("/proc/sys/vm/nr_hugepages", "6")
    assert (kernel.pages[0, 1048576], kernel.pages[1, 1048576]) == (3, 3)
    assert "HugePages_Total:       6" in kernel.files()["/proc/meminfo"]
    assert "Hugepagesize:    1048576 kB" in kernel.files()["/proc/meminfo"]


@pytest.mark.parametrize(
    ("arguments", "path", "shown"),
    [
        ("nmi_watchdog=0", "/proc/sys/kernel/nmi_watchdog", "0"),
        ("nosoftlockup", "/proc/sys/kernel/soft_watchdog", "0"),
        ("nowatchdog", "/proc/sys/kernel/watchdog", "0"),
        ("numa_balancing=disable", "/proc/sys/kernel/numa_balancing", "0"),
        ("sysctl.vm.swappiness=5", "/proc/sys/vm/swappiness", "5"),
        ("nohz_full=2-3", "/proc/sys/kernel/watchdog_cpumask", "0-1,4-15"),
        ("nohz_full=2-3", "/sys/devices/virtual/workqueue/cpumask", "0000fff3"),
        ("intel_pstate=passive", "/sys/devices/system/cpu/intel_pstate/status", "passive"),
        ("irqaffinity=0-1", "/proc/irq/default_smp_affinity", "00000003"),
        ("irqaffinity=0-1", "/proc/irq/8/smp_affinity_list", "0-1"),
    ],
)
def test_arguments_show_where_the_kernel_shows_them(arguments: str, path: str, shown: str) -> None:
    assert _kernel(arguments).files()[path].strip() == shown


def test_intel_pstate_disabled_leaves_no_directory() -> None:
    assert "/sys/devices/system/cpu/intel_pstate/status" not in _kernel("intel_pstate=disable").files()


def test_a_saved_kernel_comes_back_as_it_was() -> None:
    kernel = _kernel("nohz_full=2-3")
    kernel.write("/proc/irq/24/smp_affinity_list", "1")
    kernel.write("/sys/devices/system/cpu/cpu9/online", "0")
    kernel.write("/proc/sys/vm/swappiness", "1")
    kernel.write("/proc/sys/vm/nr_hugepages", "8")
    again = RunningKernel.restore(_NODE, kernel.save())
    assert again.files() == kernel.files()
    assert again.save() == kernel.save()
