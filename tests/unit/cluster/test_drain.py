"""A drain with the real Kubernetes client against a stand-in for the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.api_server import ApiServer, serving, write_kubeconfig

from tunectl.cluster.api import Api, connect
from tunectl.cluster.drain import Drain
from tunectl.cluster.members import DrainRequest, Host, check_drain
from tunectl.core.drain.node import CORDONED_BY
from tunectl.core.drain.pod import Consent
from tunectl.core.errors import FailedError, InputError, RefusedError, UndoneError, UnknownError

ASK = DrainRequest("7", timeout_s=60)


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def read(self) -> float:
        return self.now


@pytest.fixture
def server() -> Iterator[ApiServer]:
    with serving(ApiServer()) as started:
        started.node("n1", boot_id="b1")
        yield started


@pytest.fixture
def api(server: ApiServer, tmp_path: Path) -> Iterator[Api]:
    found = connect(str(write_kubeconfig(tmp_path / "config", server.url)), "test")
    found.sleep = lambda _seconds: None
    yield found
    found.client.rest_client.pool_manager.clear()


@pytest.fixture
def drain(api: Api) -> Drain:
    clock = Clock()
    api.sleep = clock.sleep
    return Drain(api, clock.read)


def test_a_drain_cordons_first_evicts_what_moves_and_gives_back(server: ApiServer, drain: Drain) -> None:
    server.pod("n1", "web")
    server.pod("n1", "agent", owner="DaemonSet")
    server.pod("n1", "static", owner="Node", mirror=True)
    server.pod("n2", "elsewhere")
    assert drain.drain("n1", ASK) == ("ours", 1)
    assert sorted(server.objects["pods"]) == ["default/agent", "default/elsewhere", "default/static"]
    writes = [line for line in server.log if not line.startswith("GET")]
    assert writes == ["PATCH /api/v1/nodes/n1", "POST /api/v1/namespaces/default/pods/web/eviction"]
    assert server.objects["nodes"]["n1"]["metadata"]["annotations"][CORDONED_BY] == "7"
    assert drain.uncordon("n1", "b1", 60, 10)
    assert "unschedulable" not in server.objects["nodes"]["n1"]["spec"]
    assert server.objects["nodes"]["n1"]["metadata"]["annotations"] == {}


def test_a_drain_waits_until_pods_have_ended(server: ApiServer, drain: Drain) -> None:
    server.pod("n1", "slow")
    server.lingering["default/slow"] = 4
    assert drain.drain("n1", ASK) == ("ours", 1)
    assert server.objects["pods"] == {}
    assert sum("eviction" in line for line in server.log) == 1


def test_a_budget_without_room_is_waited_for_and_then_the_cordon_is_taken_back(server: ApiServer, drain: Drain) -> None:
    server.pod("n1", "db")
    server.budget("db", {"app": "db"}, 1)
    with pytest.raises(UndoneError) as caught:
        drain.drain("n1", ASK)
    assert caught.value.problems[0].code == "TUN-4700"
    assert "disruption budget" in caught.value.problems[0].why
    assert list(server.objects["pods"]) == ["default/db"]
    assert "unschedulable" not in server.objects["nodes"]["n1"]["spec"]


def test_a_budget_that_gets_room_lets_the_drain_end(server: ApiServer, drain: Drain) -> None:
    server.pod("n1", "db")
    server.pod("n1", "first")
    server.budget("db", {"app": "db"}, 1)
    server.after_eviction = lambda _key: (server.pod("n2", "db-2", labels={"app": "db"}), None)[1]
    assert drain.drain("n1", ASK) == ("ours", 2)


def test_a_node_that_somebody_else_cordoned_stays_cordoned(server: ApiServer, drain: Drain) -> None:
    server.objects["nodes"]["n1"]["spec"]["unschedulable"] = True
    server.pod("n1", "web")
    assert drain.drain("n1", ASK) == ("another's", 1)
    assert not drain.uncordon("n1", "", 60, 10)
    assert server.objects["nodes"]["n1"]["spec"]["unschedulable"] is True


def test_a_node_is_given_back_only_with_its_devices_its_boot_and_a_living_kubelet(
    server: ApiServer, drain: Drain
) -> None:
    node = server.node("n3", boot_id="old", **{"nvidia.com/gpu": "2"})
    drain.drain("n3", ASK)
    node["status"]["allocatable"]["nvidia.com/gpu"] = "1"
    with pytest.raises(FailedError) as caught:
        drain.uncordon("n3", "new", 60, 10)
    assert caught.value.problems[0].code == "TUN-4701"
    assert "nvidia.com/gpu: 1 of 2" in caught.value.problems[0].why
    assert "not reported since the reboot" in caught.value.problems[0].why
    node["status"]["allocatable"]["nvidia.com/gpu"] = "2"
    node["status"]["nodeInfo"]["bootID"] = "new"
    server.renews_leases = False
    with pytest.raises(FailedError, match="renewed lease"):
        drain.uncordon("n3", "new", 60, 10)
    assert node["spec"]["unschedulable"] is True
    server.renews_leases = True
    assert drain.uncordon("n3", "new", 60, 10)


def test_the_question_before_a_drain_changes_nothing_and_says_everything(server: ApiServer, api: Api) -> None:
    server.page = 1
    server.pod("n1", "alone", owner="")
    server.pod("n1", "data", data=True)
    server.pod("n1", "db")
    server.budget("db", {"app": "db"}, 1)
    with pytest.raises(RefusedError) as caught:
        check_drain(api, Host("n1", boot_id="b1"), ASK)
    assert [one.code for one in caught.value.problems] == ["TUN-3706", "TUN-3705", "TUN-3707"]
    everything = DrainRequest("7", Consent(delete_emptydir_data=True, force=True), waits=True)
    assert check_drain(api, Host("n1", boot_id="b1"), everything) == ("n1", 3)
    assert not any("PATCH" in line or "eviction" in line for line in server.log)


def test_rights_that_are_missing_are_named_before_anything_else(server: ApiServer, api: Api) -> None:
    server.denied = {("create", "pods/eviction"), ("patch", "nodes")}
    with pytest.raises(RefusedError) as caught:
        check_drain(api, Host("n1"), ASK)
    assert caught.value.problems[0].code == "TUN-3704"
    assert caught.value.problems[0].why == "not allowed: patch nodes, create pods/eviction"


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_what_passes_is_tried_again(server: ApiServer, api: Api, status: int) -> None:
    server.faults = [(status, {"Retry-After": "1"})] * 4
    assert len(api.items("/api/v1/nodes")) == 1
    assert len(server.log) == 5


@pytest.mark.parametrize("status", [0, 503])
def test_a_server_that_never_answers_is_unknown(server: ApiServer, api: Api, status: int) -> None:
    server.faults = [(status, {})] * 9
    with pytest.raises(UnknownError) as caught:
        api.items("/api/v1/nodes")
    assert caught.value.problems[0].code == "TUN-5700"
    assert len(server.log) == 5


def test_a_refusal_is_not_tried_again_and_tells_no_token(server: ApiServer, tmp_path: Path) -> None:
    api = connect(str(write_kubeconfig(tmp_path / "other", server.url, "wrong-token")))
    with pytest.raises(FailedError) as caught:
        api.items("/api/v1/nodes")
    api.client.rest_client.pool_manager.clear()
    assert caught.value.problems[0].code == "TUN-4704"
    assert "401" in caught.value.problems[0].why
    assert "wrong-token" not in str(caught.value)
    assert len(server.log) == 1


def test_a_kubeconfig_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    for asked, context in ((str(tmp_path / "none"), ""), (str(path), "other")):
        with pytest.raises(InputError) as caught:
            connect(asked, context)
        assert caught.value.problems[0].code == "TUN-1900"
