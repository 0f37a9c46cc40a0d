import pytest

from tunectl.core.pools import NodePool, PoolNode, Taint, nodes_of, own_label, pool_named, pool_of
from tunectl.core.profile_creator import RequestRefusedError


def role(name: str) -> str:
    return f"node-role.kubernetes.io/{name}"


def pool(name: str, **labels: str) -> NodePool:
    return NodePool(name, labels, {role(name): ""})


MASTER, WORKER, HPC, EDGE = pool("master"), pool("worker"), pool("hpc"), pool("edge")
POOLS = (MASTER, WORKER, HPC, EDGE)


def node(*roles: str, taints: tuple[Taint, ...] = (), **labels: str) -> PoolNode:
    return PoolNode("n", {**{role(one): "" for one in roles}, **labels}, taints)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (("worker",), WORKER),
        (("worker", "hpc"), HPC),
        (("hpc",), HPC),
        (("master", "worker"), MASTER),
        (("master",), MASTER),
        (("worker", "hpc", "edge"), None),
        (("master", "hpc"), None),
        (("master", "worker", "hpc"), None),
        (("storage",), None),
        ((), None),
    ],
)
def test_a_node_is_in_one_pool_or_in_none(roles: tuple[str, ...], expected: NodePool | None) -> None:
    assert pool_of(node(*roles), POOLS) == expected
    assert pool_of(node(*roles), reversed(POOLS)) == expected


def test_windows_nodes_are_in_no_pool() -> None:
    windows = PoolNode("w", {role("worker"): "", "kubernetes.io/os": "windows"})
    assert pool_of(windows, POOLS) is None
    assert pool_of(PoolNode("w", {role("worker"): "", "kubernetes.io/os": "linux"}), POOLS) == WORKER


@pytest.mark.parametrize(
    ("taint", "kept_free"),
    [
        (Taint(role("master"), "", "NoSchedule"), True),
        (Taint(role("master"), "", "PreferNoSchedule"), False),
        (Taint(role("master"), "x", "NoSchedule"), False),
        (Taint(role("worker"), "", "NoSchedule"), False),
        (Taint("gpu", "", "NoSchedule"), False),
    ],
)
def test_nodes_that_their_pools_label_taints_are_in_no_pool(*, taint: Taint, kept_free: bool) -> None:
    assert (pool_of(node("master", taints=(taint,)), POOLS) is None) is kept_free


def test_a_pool_without_selector_selects_nothing() -> None:
    assert not NodePool("empty").selects(node("worker"))


def test_a_selector_is_met_by_all_its_labels_with_their_values() -> None:
    selective = NodePool("s", {}, {role("worker"): "", "rack": "7"})
    assert selective.selects(PoolNode("n", {role("worker"): "", "rack": "7", "more": "1"}))
    assert not selective.selects(PoolNode("n", {role("worker"): "", "rack": "8"}))
    assert not selective.selects(PoolNode("n", {"rack": "7"}))


def test_nodes_of_a_pool_keep_their_order() -> None:
    nodes = [PoolNode("b", {role("hpc"): ""}), PoolNode("x", {role("edge"): ""}), PoolNode("a", {role("hpc"): ""})]
    assert [one.name for one in nodes_of(HPC, nodes, iter(POOLS))] == ["b", "a"]


def test_the_own_label_is_the_one_named_like_the_pool_else_the_first() -> None:
    built_in = {"built-in": ""}
    master = NodePool("master", {**built_in, "a-first": "", "pools/master": ""})
    worker = NodePool("worker", {**built_in, "z": "1", "b": "2"})
    other = NodePool("other", {"z": "3", "b": "2"})
    pools = (master, worker, other)
    assert own_label(master, pools) == {"pools/master": ""}
    assert own_label(worker, (worker, master, other)) == {"z": "1"}
    assert own_label(other, pools) == {"z": "3"}


def test_a_pool_without_a_label_of_its_own_is_refused() -> None:
    pools = (NodePool("a", {"k": "v"}), NodePool("b", {"k": "v", "more": ""}))
    with pytest.raises(RequestRefusedError) as caught:
        own_label(pools[0], pools)
    assert caught.value.reason == "no_unique_label"
    (problem,) = caught.value.problems
    assert (problem.code, problem.why) == ("TUN-2105", "each of its labels (k) is on another pool too")
    with pytest.raises(RequestRefusedError, match="none"):
        own_label(NodePool("c"), pools)


def test_pools_are_found_by_name_or_refused() -> None:
    assert pool_named("hpc", POOLS) is HPC
    for name, reason in (("hcp", "unknown_pool"), ("", "no_pool_named"), (None, "no_pool_named")):
        with pytest.raises(RequestRefusedError) as caught:
            pool_named(name, POOLS)
        assert "edge, hpc, master, worker" in caught.value.problems[0].why + caught.value.problems[0].fix
        assert caught.value.reason == reason
        assert caught.value.problems[0].code == "TUN-2105"
