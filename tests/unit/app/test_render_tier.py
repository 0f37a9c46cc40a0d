"""A tier as files: for each kind of machine once, in stable bytes, the same that a plan would write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.labs import snapshot_of

from tunectl.app.render import README, Rendered, needs_nodes, render_tier, render_tiers
from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Platform
from tunectl.core.errors import InputError, RefusedError
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import CpuIntent, CpuSpec, KubeletSpec, PlacementSpec, Tier
from tunectl.lab.machines import load_machine, parse_shape
from tunectl.lab.tree import build_tree
from tunectl.planning.pool import plan_pool
from tunectl.planning.tier_file import load_tier, tier_files

TIERS = sorted(tier_files())


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The machine of the report."""
    root = tmp_path_factory.mktemp("lab") / "big-1"
    build_tree(root, load_machine("xeon-8358-2s32c2t"), profile="ubuntu2204")
    return snapshot_of(root)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    root = tmp_path_factory.mktemp("lab") / "small-1"
    build_tree(root, parse_shape("2s8c2t"), profile="debian12")
    return snapshot_of(root)


def texts(rendered: Rendered) -> dict[str, str]:
    return {file.path: file.content for file in rendered.files}


@pytest.mark.parametrize("name", TIERS)
def test_the_files_of_each_tier_are_as_they_always_were(
    name: str, big: Snapshot, small: Snapshot, golden: Callable[[str, str], str]
) -> None:
    rendered = render_tier(load_tier(name), [big, small], Platform.KUBEADM)
    text = "".join(f"=== {path}\n{content}" for path, content in texts(rendered).items())
    assert text == golden(f"kubeadm-{name}.txt", text)


@pytest.mark.parametrize("name", TIERS)
def test_a_plan_writes_the_same_bytes(name: str, big: Snapshot) -> None:
    tier = load_tier(name)
    (node,) = plan_pool(tier, [big], Platform.KUBEADM).nodes
    rendered = texts(render_tier(tier, [big], Platform.KUBEADM))
    del rendered[README]
    assert rendered == {f"big-1{file.path}": file.content for file in node.files}


@pytest.mark.parametrize("platform", list(Platform))
def test_bytes_and_order_are_stable(platform: Platform, big: Snapshot) -> None:
    tier = load_tier("hpc-massive")
    first, second = (render_tier(tier, [big], platform) for _ in range(2))
    assert list(texts(first).items()) == list(texts(second).items())
    turned = replace(big, files=dict(reversed(list(big.files.items()))))
    assert list(texts(render_tier(tier, [turned], platform)).items()) == list(texts(first).items())


def test_nodes_alike_share_a_tree(big: Snapshot, small: Snapshot) -> None:
    snapshots = [big, small, replace(big, node="big-2"), replace(small, node="small-2")]
    rendered = render_tier(load_tier("hpc-massive"), snapshots, Platform.KUBEADM)
    assert rendered.trees == {"big-1": ("big-1", "big-2"), "small-1": ("small-1", "small-2")}
    assert {file.path.partition("/")[0] for file in rendered.files} == {"big-1", "small-1", README}
    readme = texts(rendered)[README]
    assert "## big-1\n\nNodes: big-1, big-2\n\nTo take effect: update-grub, kubelet-restart, reboot\n" in readme
    assert rendered.nodes == ("big-1", "small-1", "big-2", "small-2")
    assert rendered.simulated


def test_different_machines_with_the_same_files_share_a_tree_too(big: Snapshot, small: Snapshot) -> None:
    tier = Tier(name="t", sysctl={"vm.swappiness": "5"})
    rendered = render_tier(tier, [big, small], Platform.KUBEADM)
    assert rendered.trees == {"big-1": ("big-1", "small-1")}
    assert list(texts(rendered)) == ["big-1/etc/sysctl.d/99-tunectl.conf", README]
    assert "To take effect: nothing else" in texts(rendered)[README]


@pytest.mark.parametrize("name", TIERS)
def test_the_shipped_tiers_need_no_node_for_manifests(name: str, big: Snapshot) -> None:
    tier = load_tier(name)
    assert not needs_nodes(tier, Platform.OPENSHIFT)
    assert needs_nodes(tier, Platform.KUBEADM)
    alone = render_tier(tier, [], Platform.OPENSHIFT)
    assert (alone.nodes, alone.findings, alone.simulated) == ((), (), False)
    if name != "memory-quiet":
        # Where the kernel does not matter, looking at nodes changes nothing.
        assert texts(alone) == texts(render_tier(tier, [big], Platform.OPENSHIFT))


@pytest.mark.parametrize(
    "cpu",
    [
        CpuSpec(reserved=CpuIntent(count=4)),
        CpuSpec(reserved=CpuSet.parse("0-1")),
        CpuSpec(isolated=CpuSet.parse("2-3")),
        CpuSpec(reserved=CpuSet.parse("0-1"), isolated=CpuSet.parse("2-3"), offlined=CpuIntent(count=2)),
    ],
)
def test_cpus_that_follow_from_the_machine_need_one(cpu: CpuSpec) -> None:
    tier = Tier(name="t", cpu=cpu)
    assert needs_nodes(tier, Platform.OPENSHIFT)
    with pytest.raises(InputError) as caught:
        render_tier(tier, [], Platform.OPENSHIFT)
    assert (caught.value.problems[0].code, caught.value.problems[0].why) == (
        "TUN-1060",
        "its CPUs follow from the machine",
    )


def test_files_need_a_node() -> None:
    with pytest.raises(InputError, match="TUN-1060"):
        render_tier(load_tier("batch"), [], Platform.KUBEADM)


def test_counted_cpus_become_lists_of_the_machine(small: Snapshot) -> None:
    tier = Tier(name="t", cpu=CpuSpec(reserved=CpuIntent(count=4)))
    text = texts(render_tier(tier, [small], Platform.OPENSHIFT))["20-performanceprofile.yaml"]
    assert '    isolated: "1-7,9-15,17-23,25-31"\n    reserved: "0,8,16,24"\n' in text


def test_a_pool_of_unequal_machines_has_no_manifests(big: Snapshot, small: Snapshot) -> None:
    tier = Tier(name="t", cpu=CpuSpec(reserved=CpuIntent(count=4)))
    with pytest.raises(RefusedError) as caught:
        render_tier(tier, [big, small], Platform.OPENSHIFT)
    (problem,) = caught.value.problems
    assert problem.code == "TUN-2244"
    assert problem.where == "big-1 and small-1"
    assert "reserved 0,32,64,96 on the former, 0,8,16,24 on the latter" in problem.why
    # The same machines share manifests that do not depend on them.
    same = render_tier(load_tier("hpc-standard"), [big, small], Platform.OPENSHIFT)
    assert set(texts(same)) == {"10-machineconfigpool.yaml", "20-kubeletconfig.yaml", README}


@pytest.mark.parametrize("platform", list(Platform))
def test_what_a_plan_would_be_blocked_for_is_not_rendered(platform: Platform, small: Snapshot) -> None:
    tier = Tier(name="t", cpu=CpuSpec(reserved=CpuSet.parse("0-3"), isolated=CpuSet.parse("3-31")))
    with pytest.raises(RefusedError) as caught:
        render_tier(tier, [small], platform)
    assert caught.value.problems[0].where.startswith("small-1 ")
    assert "3" in caught.value.problems[0].what


def test_warnings_come_with_the_files(big: Snapshot) -> None:
    found = render_tier(load_tier("hpc-massive"), [big], Platform.OPENSHIFT).findings
    assert "cpu.siblings.split" in [finding.id for finding in found]


def test_labels_and_taints_are_told_because_no_manifest_sets_them(small: Snapshot) -> None:
    tier = Tier(
        name="t",
        kubelet=KubeletSpec(max_pods=9),
        placement=PlacementSpec({"pool": "fast", "a": "b"}, ("workload=fast:NoSchedule",)),
    )
    readme = texts(render_tier(tier, [small], Platform.OPENSHIFT))[README]
    assert "    kubectl label node NODE a=b\n    kubectl label node NODE pool=fast\n" in readme
    assert "    kubectl taint node NODE workload=fast:NoSchedule\n" in readme
    plain = texts(render_tier(replace(tier, placement=PlacementSpec()), [small], Platform.OPENSHIFT))[README]
    assert "kubectl label" not in plain
    assert "kubectl taint" not in plain


def test_a_node_name_that_is_no_directory_is_refused(small: Snapshot) -> None:
    for name in ("../up", "a/b", "-x", ".hidden"):
        with pytest.raises(InputError, match="TUN-1061"):
            render_tier(load_tier("batch"), [replace(small, node=name)], Platform.KUBEADM)


def test_several_tiers_lie_side_by_side(big: Snapshot) -> None:
    tiers = [load_tier("hpc-standard"), load_tier("hpc-massive")]
    both = render_tiers(tiers, {}, Platform.OPENSHIFT)
    assert [file.path for one in both for file in one.manifests] == [
        "hpc-standard/10-machineconfigpool.yaml",
        "hpc-standard/20-kubeletconfig.yaml",
        "hpc-massive/10-machineconfigpool.yaml",
        "hpc-massive/20-performanceprofile.yaml",
    ]
    (alone,) = render_tiers(tiers[:1], {}, Platform.OPENSHIFT)
    assert alone.files[0].path == "10-machineconfigpool.yaml"
    trees = [one.trees for one in render_tiers(tiers, {tier.name: [big] for tier in tiers}, Platform.KUBEADM)]
    assert trees == [{"hpc-standard/big-1": ("big-1",)}, {"hpc-massive/big-1": ("big-1",)}]


def test_tiers_that_fight_over_a_pool_are_refused() -> None:
    fighting = replace(load_tier("hpc-massive"), pool="hpc-standard")
    with pytest.raises(RefusedError) as caught:
        render_tiers([load_tier("hpc-standard"), fighting], {}, Platform.OPENSHIFT)
    assert [one.code for one in caught.value.problems] == ["TUN-2240"]


def test_files_lie_where_a_node_has_them(tmp_path: Path, big: Snapshot) -> None:
    rendered = render_tier(load_tier("memory-quiet"), [big], Platform.KUBEADM)
    for file in rendered.files:
        (tmp_path / file.path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file.path).write_text(file.content)
    assert (tmp_path / "big-1" / "etc" / "sysctl.d" / "99-tunectl.conf").is_file()
