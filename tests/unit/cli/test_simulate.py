"""`tunectl simulate` from the command line to its outputs: the worked example, every option, every mistake."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.labs import node_tree, snapshot_of
from support.simulations import planned_node

from tunectl.adapters.snapshot_files import save_snapshots
from tunectl.app.simulate import pods_of
from tunectl.cli.main import run
from tunectl.core.codes import CODES
from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.core.kubelet.checkpoint import CpuCheckpoint
from tunectl.core.kubelet.simulation import simulate
from tunectl.planning.manifests import manifests_of

Simulate = Callable[..., dict[str, Any]]

_MASSIVE = ("--tier", "hpc-massive", "--topology", "2s32c2t")
_WHOLE_CORES = ("--set", "kubelet.cpu_manager_policy_options.full-pcpus-only=true")
_BETTER_SPLIT = ("--set", "cpu.reserved=0-9,32-40,64-73,96-104", "--set", "cpu.isolated=10-31,41-63,74-95,105-127")


def _pod(name: str, cpu: object, memory: str, **spec: Any) -> str:
    limits = {"cpu": cpu, "memory": memory}
    containers = [{"name": "app", "image": "app", "resources": {"limits": limits}}]
    return _object("Pod", "v1", name, {"containers": containers, **spec})


def _object(kind: str, version: str, name: str, spec: Any) -> str:
    return yaml.safe_dump({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})


_HUGE = _pod("p", 2, "3Gi").replace("memory: 3Gi", "hugepages-1Gi: 3Gi\n        memory: 3Gi")


@pytest.fixture(name="simulate_")
def _simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Simulate:
    def call(*args: str, pods: str = "", code: int | None = 0) -> dict[str, Any]:
        files = ("--pods", "pods.yaml") if pods else ()
        (tmp_path / "pods.yaml").write_text(pods)
        with chdir(tmp_path):
            got = run(["simulate", *args, *files, "-o", "json"])
        out, err = capsys.readouterr()
        document: dict[str, Any] = json.loads(out)
        assert "Traceback" not in err
        assert code is None or got == code == document["exitCode"], (got, err, document["errors"])
        return document

    return call


def _outcomes(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [outcome for item in document["items"] for outcome in item["outcomes"]]


# The 90-CPU pod of a 128-CPU machine


def test_the_massive_pod_gets_all_isolated_cpus(simulate_: Simulate) -> None:
    document = simulate_(*_MASSIVE, pods=_pod("massive", 90, "300Gi"))
    (outcome,) = _outcomes(document)
    (container,) = outcome["containers"]
    assert (container["cpus"], container["numaNodes"], container["memoryNodes"]) == ("19-31,51-127", [0, 1], [0, 1])
    (item,) = document["items"]
    assert (item["reserved"], item["sharedPool"], item["free"]) == ("0-18,32-50", "0-18,32-50", "")


def test_whole_cores_refuse_it_on_a_split_that_cuts_cores(simulate_: Simulate) -> None:
    (outcome,) = _outcomes(simulate_(*_MASSIVE, *_WHOLE_CORES, pods=_pod("massive", 90, "300Gi"), code=3))
    refusal = outcome["refusal"]
    assert (refusal["reason"], refusal["code"]) == ("SMTAlignmentError", "not-enough-free-physical-cpus")
    assert "52 CPUs on whole cores are left, 90 are asked for" in refusal["arithmetic"]
    assert any("cpu.reserved=0-9,32-40,64-73,96-104" in change for change in refusal["changes"])


def test_the_better_split_admits_it_on_whole_cores(simulate_: Simulate) -> None:
    (outcome,) = _outcomes(simulate_(*_MASSIVE, *_WHOLE_CORES, *_BETTER_SPLIT, pods=_pod("massive", 90, "300Gi")))
    assert outcome["containers"][0]["cpus"] == "10-31,41-63,74-95,105-127"


def test_four_numa_nodes_refuse_it(simulate_: Simulate) -> None:
    args = ("--tier", "hpc-massive", "--topology", "2s32c2t4n")
    (outcome,) = _outcomes(simulate_(*args, pods=_pod("massive", 90, "300Gi"), code=3))
    assert outcome["refusal"]["reason"] == "TopologyAffinityError"
    assert any(
        "empty: 3; the most free on 3 is 74" in one.replace("with all CPUs free", "empty")
        for one in outcome["refusal"]["arithmetic"]
    )
    # Reserved CPUs on as few NUMA nodes as will do leave three nodes with 90.
    uneven = ("--set", "cpu.reserved=0-2,48-63,64-66,112-127", "--set", "cpu.isolated=3-47,67-111")
    (outcome,) = _outcomes(simulate_(*args, *uneven, pods=_pod("massive", 90, "300Gi")))
    assert outcome["containers"][0]["numaNodes"] == [0, 1, 2]


def test_memory_that_fits_one_node_refuses_it(simulate_: Simulate) -> None:
    (outcome,) = _outcomes(simulate_(*_MASSIVE, pods=_pod("massive", 90, "200Gi"), code=3))
    assert outcome["refusal"]["code"] == "no-acceptable-numa-hint"
    assert any("the CPUs need 2 and the memory needs 1" in one for one in outcome["refusal"]["arithmetic"])
    assert len(outcome["refusal"]["changes"]) == 4


@pytest.mark.parametrize(
    ("args", "pods"),
    [
        ((*_MASSIVE, *_WHOLE_CORES), _pod("p", 90, "300Gi")),
        ((*_MASSIVE, *_WHOLE_CORES), _pod("p", 51, "300Gi")),
        (_MASSIVE, _pod("p", 90, "200Gi")),
        (_MASSIVE, _pod("p", 20, "300Gi")),
        (_MASSIVE, _pod("p", 91, "300Gi")),
        (("--tier", "hpc-massive", "--topology", "2s32c2t4n"), _pod("p", 90, "300Gi")),
        (("--tier", "hpc-standard", "--topology", "2s20c2t"), _pod("p", 41, "10Gi")),
        (("--tier", "latency-sensitive", "--topology", "2s16c1t"), _pod("p", 17, "8Gi")),
        ((*_MASSIVE, "--set", "kubelet.max_pods=1"), "---\n".join(_pod(f"p{n}", 2, "3Gi") for n in "ab")),
        (("--tier", "batch", "--topology", "2s20c2t"), _HUGE),
    ],
)
def test_what_the_output_proposes_admits_the_pod(args: Sequence[str], pods: str, simulate_: Simulate) -> None:
    refused = [one for one in _outcomes(simulate_(*args, pods=pods, code=3)) if not one["admitted"]]
    changes = refused[0]["refusal"]["changes"]
    assert changes
    for change in changes:
        args_, pods_ = _with_changes(args, pods, change)
        again = simulate_(*args_, pods=pods_, code=None)
        assert [one["admitted"] for one in _outcomes(again)] == [True] * len(_outcomes(again)), change


def _with_changes(args: Sequence[str], pods: str, change: str) -> tuple[list[str], str]:
    """Return the command line and the manifest after a proposed change was made in them."""
    fields = [word for part in re.findall(r"tier: (.*?) \(", change) for word in part.split(" ")]
    for kind, value in re.findall(r"(\S+) (\S+) instead of \S+ for", change):
        pods = re.sub(rf"(?m)({kind}: )[^,\s}}]+", rf"\g<1>{value}", pods)
    return [*args, *(word for field in fields for word in ("--set", field))], pods


# Options


def test_replicas_are_pods_of_their_own(simulate_: Simulate) -> None:
    template = yaml.safe_load(_pod("x", 20, "10Gi"))
    pods = _object("Deployment", "apps/v1", "web", {"replicas": 5, "template": template})
    outcomes = _outcomes(simulate_("--tier", "hpc-standard", "--topology", "2s20c2t", pods=pods, code=3))
    assert [one["pod"] for one in outcomes] == [f"web-{number}" for number in range(5)]
    assert [one["admitted"] for one in outcomes] == [True, True, True, False, False]
    assert [(one["refusal"] or {}).get("sameAs") for one in outcomes[3:]] == [None, "web-3"]


def test_pods_of_one_name_are_told_apart(simulate_: Simulate) -> None:
    pods = "---\n".join([_pod("p", 2, "1Gi")] * 3)
    outcomes = _outcomes(simulate_("--tier", "hpc-standard", "--topology", "2s20c2t", pods=pods))
    assert [one["pod"] for one in outcomes] == ["p", "p#2", "p#3"]


def test_fill_counts_copies(simulate_: Simulate) -> None:
    document = simulate_(*_MASSIVE, "--fill", pods=_pod("p", 20, "10Gi"), code=3)
    assert document["summary"]["admitted"] == 4
    assert document["summary"]["refused"] == 1


def test_compare_puts_a_second_tier_on_the_same_pods(simulate_: Simulate) -> None:
    document = simulate_(
        "--tier", "hpc-standard", "--topology", "2s20c2t", "--compare", "batch", pods=_pod("p", 4, "2Gi")
    )
    assert [item["tier"] for item in document["items"]] == ["hpc-standard", "batch"]
    assert [one["containers"][0]["cpus"] != "" for one in _outcomes(document)] == [True, False]


def test_a_restart_on_a_full_node_with_whole_cores(simulate_: Simulate) -> None:
    args = (*_MASSIVE, *_WHOLE_CORES, *_BETTER_SPLIT, "--restart")
    restart = simulate_(*args, pods=_pod("massive", 90, "300Gi"), code=3)["items"][0]["restart"]
    assert restart["killed"][0]["pod"] == "massive"
    assert "SMTAlignmentError" in restart["killed"][0]["reason"]
    assert (restart["running"], restart["kept"], restart["live"], restart["checkpointsDeleted"]) == (1, 0, False, False)
    fresh = simulate_(*args, "--platform", "openshift", pods=_pod("massive", 90, "300Gi"))["items"][0]["restart"]
    assert (fresh["killed"], fresh["kept"], fresh["checkpointsDeleted"]) == ([], 1, True)


def test_a_configuration_that_the_kubelet_does_not_start_with(simulate_: Simulate) -> None:
    option = ("--set", "kubelet.topology_manager_policy_options.max-allowable-numa-nodes=9")
    document = simulate_("--tier", "hpc-massive", "--topology", "2s32c2t32n", *option, pods=_pod("p", 4, "2Gi"), code=3)
    assert "NUMA nodes" in document["items"][0]["trouble"]
    assert _outcomes(document) == []


def test_standard_input_and_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pods").mkdir()
    (tmp_path / "pods" / "a.yaml").write_text(_pod("a", 2, "1Gi"))
    with (tmp_path / "stdin").open("w+") as stdin:
        stdin.write(_pod("b", 2, "1Gi") + "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
        stdin.seek(0)
        monkeypatch.setattr("sys.stdin", stdin)
        where = ("--pods", str(tmp_path / "pods"), "--pods", "-")
        assert run(["simulate", "--tier", "hpc-standard", "--topology", "2s20c2t", *where, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["pod"] for one in _outcomes(document)] == ["a", "b"]
    assert document["summary"]["skippedObjects"] == ["Service/s"]


# Outputs


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods = "---\n".join(
        [_pod("pinned", 4, "2Gi"), _pod("half", "1500m", "1Gi"), _pod("other", "500m", "1Gi"), _pod("huge", 99, "1Gi")]
    )
    (tmp_path / "pods.yaml").write_text(pods)
    assert (
        run(["simulate", "--tier", "hpc-standard", "--topology", "2s20c2t", "--pods", str(tmp_path / "pods.yaml")]) == 3
    )
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "R reserved and shared 8" in out
    assert re.search(r"✓  half +app +shared pool \[1\] ", out)
    assert re.search(r"✓  other +app +shared pool \[2\] ", out)
    assert "[1] 1500m is not a whole number of CPUs" in out
    assert "[2] 500m is not a whole number of CPUs" in out
    assert "Insufficient cpu: 99 asked for" in out
    assert "tunectl explain does-not-fit" in out


def test_a_strict_reservation_runs_no_containers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pods.yaml").write_text(_pod("p", 4, "2Gi"))
    strict = "kubelet.cpu_manager_policy_options.strict-cpu-reservation=true"
    args = ["simulate", *_MASSIVE, "--set", strict, "--pods", str(tmp_path / "pods.yaml")]
    assert run([*args, "--set", "kubelet.topology_manager_policy=best-effort"]) == 0
    out = capsys.readouterr().out
    assert "R reserved, no containers 38" in out
    assert "of them reserved" not in out


def test_many_pods_share_a_letter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pods.yaml").write_text("---\n".join(_pod(f"p{number}", 2, "1Gi") for number in range(20)))
    assert (
        run(["simulate", "--tier", "hpc-standard", "--topology", "2s20c2t", "--pods", str(tmp_path / "pods.yaml")]) == 0
    )
    out = capsys.readouterr().out
    assert "+ 8 more pods 16" in out
    assert "l p11 2" in out


def test_the_page_needs_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods = [_pod("good", 20, "300Gi"), _pod("<b>bad", 99, "300Gi")]
    (tmp_path / "pods.yaml").write_text("---\n".join(pods))
    best = ("--set", "kubelet.topology_manager_policy=best-effort")
    assert run(["simulate", *_MASSIVE, *best, "--restart", "--pods", str(tmp_path / "pods.yaml"), "-o", "html"]) == 3
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>")
    assert not re.search(r"(src|href)=|@import|url\(", page)
    assert "<svg" in page
    assert "&lt;b&gt;bad" in page
    assert "<b>bad" not in page
    assert "After a restart of the kubelet 1 of 1 pods run on" in page


# What runs on nodes now


@pytest.fixture(name="node")
def _node(tmp_path: Path) -> Path:
    return node_tree(tmp_path / "trees" / "node-1", "2s4c2t")


def _saved(root: Path, file: Path) -> tuple[str, ...]:
    file.unlink(missing_ok=True)
    save_snapshots(file, [snapshot_of(root)])
    return ("--tier", _tier(file.parent), "--snapshot", str(file), "--restart")


def _tier(folder: Path) -> str:
    """Write a tier for a small node that reserves one core, and return its path."""
    data = {
        "apiVersion": "tunectl.io/v1alpha1",
        "kind": "Tier",
        "name": "small",
        "cpu": {"reserved": "0,8"},
        "kubelet": {"cpu_manager_policy": "static", "topology_manager_policy": "none", "memory_manager_policy": "None"},
    }
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(data))
    return str(path)


def _running(root: Path, reserved: str, **pods: str) -> None:
    entries = {uid: {"app": CpuSet.parse(cpus)} for uid, cpus in pods.items()}
    taken = CpuSet(cpu for one in entries.values() for cpus in one.values() for cpu in cpus)
    assert CpuSet.parse(reserved).isdisjoint(taken)
    text = CpuCheckpoint("static", CpuSet.parse("0-15") - taken, entries).text()
    path = root / "var" / "lib" / "kubelet"
    path.mkdir(parents=True, exist_ok=True)
    (path / "cpu_manager_state").write_text(text)


def test_a_tightened_policy_kills_what_runs_now(node: Path, tmp_path: Path, simulate_: Simulate) -> None:
    _running(node, "0,8", near="1-2,9-10", far="3-4,11-12")
    single = ("--set", "kubelet.topology_manager_policy=single-numa-node")
    document = simulate_(*_saved(node, tmp_path / "node.json"), *single, code=3)
    restart = document["items"][0]["restart"]
    assert restart["live"]
    assert restart["trouble"] is None
    assert [one["pod"] for one in restart["killed"]] == ["far"]
    assert (restart["running"], restart["kept"]) == (2, 1)
    assert document["summary"]["killedAtRestart"] == 1


def test_a_reservation_of_cpus_that_pods_hold_stops_the_kubelet(
    node: Path, tmp_path: Path, simulate_: Simulate
) -> None:
    _running(node, "0,8", pod="1-2,9-10")
    args = (*_saved(node, tmp_path / "node.json"), "--set", "cpu.reserved=0-1,8-9")
    restart = simulate_(*args, code=3)["items"][0]["restart"]
    assert restart["trouble"].startswith("state-reserved-not-in-shared: reserved CPUs 1,9 are not")
    assert (restart["running"], restart["kept"]) == (1, 0)
    moved = simulate_(*args, "--platform", "openshift", code=None)["items"][0]["restart"]
    assert moved["checkpointsDeleted"]
    assert [(one["pod"], one["before"]) for one in moved["moved"]] == [("pod", "1-2,9-10")]


def test_a_checkpoint_that_cannot_be_read_is_unknown(node: Path, tmp_path: Path, simulate_: Simulate) -> None:
    _running(node, "0,8", pod="1-2,9-10")
    snapshot = snapshot_of(node)
    path = "/var/lib/kubelet/cpu_manager_state"
    files = {name: text for name, text in snapshot.files.items() if name != path}
    data = {**snapshot.to_json(), "files": files, "unreadable": {path: "permission denied"}}
    (tmp_path / "node.json").write_text(json.dumps(data))
    args = ("--tier", _tier(tmp_path), "--snapshot", "node.json", "--restart")
    restart = simulate_(*args, code=5)["items"][0]["restart"]
    assert restart["unseen"] == f"{path}: permission denied"


@pytest.mark.parametrize("content", ["", "{", '{"policyName":"static","defaultCpuSet":"0-1x"}', "[]", '{"checksum":1}'])
def test_a_damaged_checkpoint_stops_the_kubelet(content: str, node: Path, tmp_path: Path, simulate_: Simulate) -> None:
    path = node / "var" / "lib" / "kubelet"
    path.mkdir(parents=True, exist_ok=True)
    (path / "cpu_manager_state").write_text(content)
    args = _saved(node, tmp_path / "node.json")
    assert simulate_(*args, code=3)["items"][0]["restart"]["trouble"].startswith("state-")


def test_nodes_alike_are_one_item_and_what_runs_on_them_is_not(tmp_path: Path, simulate_: Simulate) -> None:
    first = node_tree(tmp_path / "trees" / "node-1", "2s4c2t")
    shutil.copytree(first, tmp_path / "trees" / "node-2", symlinks=True)
    save_snapshots(tmp_path / "two.tar.gz", [snapshot_of(tmp_path / "trees" / name) for name in ("node-1", "node-2")])
    args = ("--tier", _tier(tmp_path), "--snapshot", "two.tar.gz")
    (item,) = simulate_(*args, pods=_pod("p", 2, "1Gi"))["items"]
    assert (item["node"], item["alike"]) == ("node-1", ["node-1", "node-2"])
    items = simulate_(*args, "--restart", code=None)["items"]
    assert [item["node"] for item in items] == ["node-1", "node-2"]


# Mistakes


@pytest.mark.parametrize(
    ("args", "pods", "code"),
    [
        (_MASSIVE, "", "TUN-1808"),
        ((*_MASSIVE, "--restart"), "", "TUN-1808"),
        ((*_MASSIVE, "--fill", "--restart"), _pod("p", 1, "1Gi"), "TUN-1808"),
        ((*_MASSIVE, "--pool", "x"), _pod("p", 1, "1Gi"), "TUN-1808"),
        ((*_MASSIVE, "--fill"), _pod("p", 1, "1Gi") + "---\n" + _pod("q", 1, "1Gi"), "TUN-1808"),
        (_MASSIVE, "apiVersion: v1\nkind: Service\n", "TUN-1804"),
        (
            _MASSIVE,
            _object("Deployment", "apps/v1", "d", {"replicas": 0, "template": {"spec": {"containers": []}}}),
            None,
        ),
        (_MASSIVE, _object("Deployment", "apps/v1", "d", {"replicas": 10**9, "template": {"spec": {}}}), "TUN-1804"),
        (_MASSIVE, _pod("p", "two", "1Gi"), "TUN-1803"),
        (_MASSIVE, _pod("p", "1", "1Gb"), "TUN-1803"),
        (_MASSIVE, _object("Pod", "v1", "p", {"containers": []}), "TUN-1803"),
        (_MASSIVE, _object("Pod", "v1", "p", {"containers": "c"}), "TUN-1803"),
        (_MASSIVE, _object("Pod", "v1", "p", {"containers": [3]}), "TUN-1803"),
        (_MASSIVE, _object("Pod", "v1", "p", {"containers": [{"name": "c", "resources": []}]}), None),
        (("--tier", "hpc-massive", "--topology", "2s32"), _pod("p", 1, "1Gi"), "TUN-1601"),
        (("--tier", "hpc-massive", "--topology", "nowhere.json"), _pod("p", 1, "1Gi"), "TUN-1805"),
        ((*_MASSIVE, "--compare", "nosuch"), _pod("p", 1, "1Gi"), "TUN-1109"),
    ],
)
def test_mistakes_are_told_and_nothing_is_guessed(
    args: Sequence[str], pods: str, code: str | None, simulate_: Simulate
) -> None:
    document = simulate_(*args, pods=pods, code=2 if code else None)
    assert [one["code"] for one in document["errors"]][:1] == (
        [code] if code else document["errors"][:1] and [document["errors"][0]["code"]]
    )
    assert {one["code"] for one in document["errors"]} <= set(CODES)


_AMOUNTS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["1", 2, "1500m", "2e3", "0.1", "1Gi", "500M", "-1", "", "x", "1e9999", "0x1", None, True, [], {}]),
    st.integers(-5, 2**70),
    st.floats(),
    st.text(max_size=5),
)
_NAMES = st.one_of(st.sampled_from(["cpu", "memory", "hugepages-1Gi", "nvidia.com/gpu"]), st.text(max_size=5))
_LISTS = st.one_of(st.none(), st.text(max_size=3), st.integers(), st.dictionaries(_NAMES, _AMOUNTS, max_size=4))
_RESOURCES = st.one_of(st.none(), st.fixed_dictionaries({}, optional={"limits": _LISTS, "requests": _LISTS}), _AMOUNTS)
_CONTAINERS = st.one_of(
    _AMOUNTS,
    st.lists(
        st.one_of(
            st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(["a", "b", 3, None]),
                    "resources": _RESOURCES,
                    "restartPolicy": _NAMES,
                },
            ),
            _AMOUNTS,
        ),
        max_size=3,
    ),
)
_SPECS = st.fixed_dictionaries(
    {"containers": _CONTAINERS}, optional={"initContainers": _CONTAINERS, "resources": _RESOURCES, "priority": _AMOUNTS}
)


@settings(max_examples=500, deadline=None)
@given(_SPECS)
def test_any_pod_spec_is_simulated_or_refused_with_its_place(spec: dict[str, Any]) -> None:
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    try:
        pods = pods_of(manifests_of([("pods.yaml", text)]).workloads)
    except InputError as error:
        problems = [(one.code in CODES, one.where.partition(":")[0]) for one in error.problems]
        assert problems == [(True, "pods.yaml")]
        return
    planned = planned_node(topologyManagerPolicy="restricted", memoryManagerPolicy="Static")
    assert len(simulate(planned, pods, restart=True).outcomes) == 1
