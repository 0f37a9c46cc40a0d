"""A tier on machines that boot: isolated CPUs, hugepages of one node, kernel parameters, interrupts, and the way back.

The tests of this file follow one another: each starts from what the one before has left.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import pytest
from e2e.conftest import NODES, Machines

from tunectl.core.cpuset import CpuSet

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

ISOLATED = "1,3"
TIER = """\
apiVersion: tunectl.io/v1alpha1
kind: Tier
name: bench
pool: hpc-massive
cpu:
  reserved: {count: 2, spread: numa}
  isolated: rest
  balance_isolated: false
hugepages:
  default_size: 2M
  pages:
    - {size: 2M, count: 48, node: 1}
irq:
  balance_isolated: false
sysctl:
  vm.stat_interval: "10"
  vm.swappiness: "10"
"""


@dataclass
class Before:
    """How the machines were before anything was done to them."""

    digests: dict[str, str] = field(default_factory=dict)
    cmdline: dict[str, str] = field(default_factory=dict)


BEFORE = Before()


def test_machines_have_sockets_threads_and_numa_nodes_with_memory(machines: Machines) -> None:
    for node in NODES:
        assert machines.on(node, "cat /sys/devices/system/node/node*/cpulist").split() == ["0-1", "2-3"]
        assert machines.on(node, "cat /sys/devices/system/cpu/cpu*/topology/physical_package_id").split() == list(
            "0011"
        )
        memory = re.findall(r"MemTotal:\s+(\d+)", machines.on(node, "cat /sys/devices/system/node/node*/meminfo"))
        assert [int(kib) > 900_000 for kib in memory] == [True, True]
        assert machines.on(node, "test -e /boot/grub/grub.cfg; hostname") == node
    listed = machines.tunectl("lab", "list")
    assert listed.count("running") == 2


def test_a_tier_is_what_the_kernel_runs_after_the_reboot(machines: Machines) -> None:
    (machines.folder / "tiers").mkdir(exist_ok=True)
    (machines.folder / "tiers" / "bench.yaml").write_text(TIER)
    for node in NODES:
        BEFORE.digests[node] = machines.digests(node)
        BEFORE.cmdline[node] = machines.on(node, "cat /proc/cmdline")
    boots = {node: machines.boot_id(node) for node in NODES}
    said = machines.tunectl("apply", "--tier", "bench", "--yes")
    assert "2 nodes reboot" in said
    assert "simulated" not in said
    for node in NODES:
        assert machines.boot_id(node) != boots[node]
        arguments = machines.on(node, "cat /proc/cmdline").split()
        assert arguments.count(f"nohz_full={ISOLATED}") == 1
        assert arguments.count(f"isolcpus=domain,managed_irq,{ISOLATED}") == 1
        assert arguments[: len(BEFORE.cmdline[node].split())] == BEFORE.cmdline[node].split()
        assert machines.on(node, "cat /sys/devices/system/cpu/isolated") == ISOLATED
        assert machines.on(node, "cat /sys/devices/system/cpu/nohz_full") == ISOLATED
        pages = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"
        assert machines.on(node, f"cat {pages.format(0)} {pages.format(1)}").split() == ["0", "48"]
        assert machines.on(node, "sysctl -n vm.stat_interval vm.swappiness").split() == ["10", "10"]
        assert int(machines.on(node, "cat /proc/irq/default_smp_affinity"), 16) == 0b0101


def test_interrupts_that_can_be_moved_are_off_the_isolated_cpus(machines: Machines) -> None:
    isolated = CpuSet.parse(ISOLATED)
    for node in NODES:
        refused = machines.on(node, "cat /run/tunectl/irq-refused").split()
        lines = machines.on(
            node,
            "cd /proc/irq; for n in [0-9]*; do echo $n $(cat $n/smp_affinity_list $n/effective_affinity_list); done",
        )
        rows = [words for words in map(str.split, lines.splitlines()) if len(words) == 3]
        asked = {number: CpuSet.parse(cpus) for number, cpus, _effective in rows}
        effective = {number: CpuSet.parse(cpus) for number, _asked, cpus in rows}
        assert {number for number, cpus in asked.items() if cpus & isolated} <= set(refused)
        # The kernel really refuses some (the queues of the disk belong to their CPUs), and has moved others.
        assert set(refused) & set(asked)
        assert any(not cpus & isolated for number, cpus in effective.items() if number not in refused)


def test_verify_finds_all_of_it_and_a_second_apply_does_nothing(machines: Machines) -> None:
    machines.tunectl("verify", "--tier", "bench", "-o", "json=report.json")
    report = json.loads((machines.folder / "report.json").read_text())
    assert report["simulated"] is False
    assert report["summary"]["fail"] == report["summary"]["unknown"] == 0
    assert report["summary"]["pass"] > 40
    boots = {node: machines.boot_id(node) for node in NODES}
    said = machines.tunectl("apply", "--tier", "bench", "--yes")
    assert "run " not in said.splitlines()[-1]
    assert {node: machines.boot_id(node) for node in NODES} == boots


def test_what_is_changed_by_hand_is_named(machines: Machines) -> None:
    machines.on("lab-1", "sysctl -q -w vm.swappiness=60")
    said = machines.tunectl("verify", "--tier", "bench", expect=3)
    assert re.search(r"sysctl\.vm\.swappiness\s+lab-1", said)
    assert not re.search(r"FAIL.*lab-2", said)
    machines.on("lab-1", "sysctl -q -w vm.swappiness=10; echo vm.swappiness=60 >/etc/sysctl.d/99-z-mine.conf")
    said = machines.tunectl("verify", "--tier", "bench", expect=3)
    assert "/etc/sysctl.d/99-z-mine.conf" in said
    machines.on("lab-1", "rm /etc/sysctl.d/99-z-mine.conf")
    machines.tunectl("verify", "--tier", "bench")


def test_a_machine_that_lost_its_power_is_as_it_was(machines: Machines) -> None:
    machines.tunectl("lab", "power-cut", "lab-2")
    assert re.search(r"lab-2\s+off", machines.tunectl("lab", "list"))
    machines.tunectl("verify", "--tier", "bench", expect=5)
    assert "lab-2 was off" in machines.tunectl("lab", "up")
    machines.tunectl("verify", "--tier", "bench")


def test_rollback_gives_back_every_byte_and_the_old_command_line(machines: Machines) -> None:
    machines.tunectl("rollback", "--yes")
    for node in NODES:
        assert machines.on(node, "cat /proc/cmdline") == BEFORE.cmdline[node]
        assert machines.digests(node) == BEFORE.digests[node]
        assert machines.on(node, "cat /sys/devices/system/cpu/isolated") == ""
        assert machines.on(node, "sysctl -n vm.stat_interval vm.swappiness").split() == ["1", "60"]
        assert machines.on(node, "ls /etc/systemd/system | grep -c tunectl || true") == "0"
