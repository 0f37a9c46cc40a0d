"""A plan that would stop a kubelet, or let it do damage, is refused with the reason, and each fact is told once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.snapshots import snapshot_of
from support.tuning import machine, profile_tier, with_hugepages

from tunectl.core.check_catalogue import CHECKS
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Platform
from tunectl.core.findings import Finding
from tunectl.core.kubelet.checkpoint import CpuCheckpoint
from tunectl.core.plan import NodePlan
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import KubeletSpec, MemorySpec, Tier
from tunectl.core.topology import Cpu, Topology
from tunectl.planning.pool import plan_pool

HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
MAIN = "/var/lib/kubelet/config.yaml"
DROPINS = "/etc/kubernetes/kubelet.conf.d"
OTHER = f"{DROPINS}/10-other.conf"
UNIT = "/etc/systemd/system/kubelet.service"
CPU_STATE = "/var/lib/kubelet/cpu_manager_state"
QUIET = Tier("quiet", kubelet=KubeletSpec(max_pods=50))


def node(main: str = "", other: str = "", flags: str = "", topology: Topology | None = None, **more: str) -> Snapshot:
    files = {
        "/proc/cmdline": "quiet\n",
        "/etc/default/grub": 'GRUB_CMDLINE_LINUX=""\n',
        UNIT: f"[Service]\nExecStart=/usr/bin/kubelet --config={MAIN} --config-dir={DROPINS} {flags}\n",
        MAIN: HEAD + main,
        **({OTHER: HEAD + other} if other else {}),
        **more,
    }
    snapshot = snapshot_of(topology or machine(), "n1", files)
    listings = {**snapshot.listings, DROPINS: ("10-other.conf",) if other else ()}
    return replace(snapshot, listings=listings)


def with_file(snapshot: Snapshot, path: str, text: str) -> Snapshot:
    return replace(snapshot, files={**snapshot.files, path: text})


def plan(tier: Tier, snapshot: Snapshot, platform: Platform = Platform.KUBEADM) -> NodePlan:
    return plan_pool(tier, [snapshot], platform).nodes[0]


def starts(tier: Tier, snapshot: Snapshot, platform: Platform = Platform.KUBEADM) -> list[Finding]:
    found = [one for one in plan(tier, snapshot, platform).findings if one.id.startswith("kubelet.start.")]
    assert all(one.id in CHECKS and one.subject == "n1" and one.blocks and one.remedy for one in found)
    return found


def one_start(tier: Tier, snapshot: Snapshot) -> Finding:
    (found,) = starts(tier, snapshot)
    return found


def test_a_good_node_has_nothing_to_be_told() -> None:
    assert starts(QUIET, node()) == []
    assert starts(profile_tier(), node()) == []


@pytest.mark.parametrize(
    ("main", "other", "flags", "check", "words", "line"),
    [
        ("topologyManagerPolicy: single\n", "", "", "kubelet.start.invalid", "'single'", f"n1:{MAIN}:3:24"),
        ("", "failSwapOn: 'no'\n", "", "kubelet.start.load", "failSwapOn", f"n1:{OTHER}:3:13"),
        ("featureGates:\n  CpuPinning: true\n", "", "", "kubelet.start.load", "CpuPinning", f"n1:{MAIN}:4:15"),
        ("", "kubeReserved:\n  memory: 900Gi\n", "", "kubelet.start.machine", "921700Mi", f"n1:{OTHER}:4:11"),
        ("", "", "--qos-reserved=cpu=50%", "kubelet.start.machine", "qosReserved has cpu", f"n1:{UNIT}"),
    ],
)
def test_what_the_node_has_beside_the_tier_counts(  # noqa: PLR0913, PLR0917  one parameter a column
    main: str, other: str, flags: str, check: str, words: str, line: str
) -> None:
    finding = one_start(QUIET, node(main, other, flags))
    assert (finding.id, str(finding.asked_in)) == (check, line)
    assert words in finding.message
    assert plan_pool(QUIET, [node(main, other, flags)]).blocked


def test_a_plan_without_a_restart_is_not_judged() -> None:
    tier = Tier("quiet", sysctl={"vm.swappiness": "10"})
    snapshot = with_file(node("topologyManagerPolicy: single\n"), "/proc/sys/vm/swappiness", "60\n")
    assert plan(tier, snapshot).changes
    assert starts(tier, snapshot) == []


def test_the_tiers_own_line_is_named_where_the_tier_asked_for_it() -> None:
    tier = Tier("t", kubelet=KubeletSpec(config={"oomScoreAdj": -5000}))
    finding = one_start(tier, node())
    assert "oomScoreAdj" in finding.message
    assert MAIN not in str(finding.asked_in)


@pytest.mark.parametrize(
    "kubelet",
    [
        KubeletSpec(cpu_manager_policy="static"),
        KubeletSpec(cpu_manager_policy_options={"full-pcpus-only": "true"}),
        KubeletSpec(system_reserved={"memory": "900Gi"}),
    ],
)
def test_a_fact_that_another_finding_states_is_told_once(kubelet: KubeletSpec) -> None:
    made = plan(Tier("t", kubelet=kubelet), node())
    assert [one for one in made.findings if one.blocks]
    assert starts(Tier("t", kubelet=kubelet), node()) == []


def uneven() -> Topology:
    """Return 4 cores of two threads, one thread of which is offline."""
    cpus = tuple(
        Cpu(id=cpu, socket=0, core=cpu % 4, siblings=CpuSet((cpu % 4, cpu % 4 + 4)) - CpuSet((7,)), numa=0)
        for cpu in range(7)
    )
    base = machine(1, 7)
    return replace(base, cpus=cpus, numa_nodes=(replace(base.numa_nodes[0], cpus=CpuSet.span(0, 6)),))


def test_machines_on_which_cpus_are_handed_out_twice_are_refused() -> None:
    tier = Tier("t", kubelet=KubeletSpec(cpu_manager_policy="static", system_reserved={"cpu": "1"}))
    finding = one_start(tier, node(topology=uneven()))
    assert finding.id == "kubelet.start.uneven-cores"
    assert "1 or 2 online threads" in finding.message
    assert (
        starts(replace(tier, kubelet=replace(tier.kubelet, cpu_manager_policy="none")), node(topology=uneven())) == []
    )


def test_memory_that_wraps_around_is_refused() -> None:
    topology = with_hugepages(machine(memory_gib=8), 0, 2048, 7 * 512)
    files = {
        "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages": f"{7 * 512}\n",
        "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages": "0\n",
    }
    main = "memoryManagerPolicy: Static\nreservedMemory:\n- numaNode: 0\n  limits: {memory: 2148Mi}\n"
    snapshot = node(main + "kubeReserved: {memory: 2Gi}\n", topology=topology, **files)
    found = [one for one in starts(QUIET, snapshot) if one.id == "kubelet.start.memory-wrap"]
    assert len(found) == 1
    assert "NUMA node 0" in found[0].message


def test_a_byte_that_is_missing_from_the_sum_is_told() -> None:
    main = "memoryManagerPolicy: Static\nreservedMemory:\n- numaNode: 0\n  limits: {memory: '104857599'}\n"
    finding = one_start(QUIET, node(main))
    assert (finding.id, "-1 bytes" in finding.message) == ("kubelet.start.machine", True)


BUSY = CpuCheckpoint("static", CpuSet.parse("0,7-15"), {"pod-1": {"app": CpuSet.span(1, 6)}})
STATIC = "cpuManagerPolicy: static\nreservedSystemCPUs: '0'\n"


def busy(main: str, checkpoint: CpuCheckpoint = BUSY) -> Snapshot:
    return with_file(node(main), CPU_STATE, checkpoint.text())


def test_a_checkpoint_that_stays_must_fit() -> None:
    assert starts(QUIET, busy(STATIC)) == []
    finding = one_start(QUIET, busy(STATIC, replace(BUSY, default=CpuSet.parse("0,8-15"))))
    assert finding.id == "kubelet.start.checkpoint"
    assert CPU_STATE in finding.remedy
    damaged = with_file(node(STATIC), CPU_STATE, BUSY.text()[:40])
    assert one_start(QUIET, damaged).id == "kubelet.start.checkpoint"


def test_a_checkpoint_that_the_plan_deletes_is_no_matter() -> None:
    made = plan(profile_tier(), busy(STATIC))
    assert "kubelet-checkpoints" in made.actions
    assert starts(profile_tier(), busy(STATIC)) == []


def test_running_pods_that_a_restart_would_end_are_told() -> None:
    topology = replace(
        machine(1, 8),
        cpus=tuple(
            Cpu(id=cpu, socket=0, core=cpu // 2, siblings=CpuSet((cpu // 2 * 2, cpu // 2 * 2 + 1)), numa=0)
            for cpu in range(8)
        ),
    )
    main = "cpuManagerPolicy: static\nreservedSystemCPUs: '0,1'\ncpuManagerPolicyOptions: {full-pcpus-only: 'true'}\n"
    running = CpuCheckpoint("static", CpuSet.parse("0-1,6-7"), {"pod-1": {"app": CpuSet.span(2, 5)}})
    snapshot = with_file(node(main, topology=topology), CPU_STATE, running.text())
    finding = one_start(QUIET, snapshot)
    assert finding.id == "kubelet.start.readmission"
    assert "pod-1" in finding.message
    assert "SMTAlignmentError" in finding.message
    assert "drain" in finding.remedy


def test_openshift_deletes_checkpoints_and_only_warns_of_gates() -> None:
    main = STATIC + "featureGates: {CpuPinning: true}\n"
    snapshot = with_file(busy(main, replace(BUSY, policy="none")), "/etc/os-release", 'ID="rhcos"\n')
    assert starts(Tier("t", kubelet=KubeletSpec(max_pods=50)), snapshot, Platform.OPENSHIFT) == []


def test_nodes_alike_share_one_judgement_and_keep_their_names() -> None:
    snapshots = [replace(node("topologyManagerPolicy: single\n"), node=name) for name in ("a", "b")]
    made = plan_pool(QUIET, snapshots)
    assert [[one.subject for one in each.findings if one.id == "kubelet.start.invalid"] for each in made.nodes] == [
        ["a"],
        ["b"],
    ]


def test_swap_that_the_tier_switches_off_is_no_reason() -> None:
    swaps = "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n"
    snapshot = with_file(node(), "/proc/swaps", swaps)
    assert [one.id for one in starts(QUIET, snapshot)] == ["kubelet.start.machine"]
    off = replace(QUIET, memory=MemorySpec(swap=False))
    assert starts(off, snapshot) == []


def test_protected_kernel_defaults_are_judged_as_the_tier_leaves_them() -> None:
    snapshot = with_file(node("protectKernelDefaults: true\n"), "/proc/sys/kernel/panic", "0\n")
    assert one_start(QUIET, snapshot).id == "kubelet.start.machine"
    tier = replace(QUIET, sysctl={"kernel.panic": "10"})
    assert starts(tier, snapshot) == []
