"""Commands around the writing on a live node: their order, their failures, and the way back."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, UndoneError
from ansible_collections.tunectl.node.plugins.module_utils.core.plan import NodeFile
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_actions import (
    CommandResult,
    Commands,
    expanded,
    run_command,
)
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import Request
from ansible_collections.tunectl.node.plugins.module_utils.kubelet_health import healthz_place, kubelet_place, unhealthy
from support.node_trees import build, picture

FILE = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
STATE = "/var/lib/kubelet/cpu_manager_state"
ALL = Request(
    (NodeFile(FILE, "a: 1\n"),),
    actions=("kubelet-checkpoints", "daemon-reload", "update-grub", "kubelet-restart", "reboot"),
)
STOP, START = "systemctl stop kubelet.service", "systemctl start kubelet.service"
RELOAD, GRUB = "systemctl daemon-reload", "update-grub"
SAID = "journalctl --unit=kubelet.service --lines=20 --output=cat --no-pager _COMM=kubelet"
ACTIVE = "systemctl is-active --quiet kubelet.service"


@dataclass
class Node:
    """A node whose commands are recorded together with the state of its files; some of them fail."""

    root: Path
    fails: Callable[[str, int], bool] = lambda _command, _count: False
    ran: list[str] = field(default_factory=list)
    seen: list[tuple[bool, bool]] = field(default_factory=list)
    programs: Sequence[str] = ("systemctl", "update-grub")
    units: Path = Path("/nonexistent")
    place: tuple[str, int] | None = ("127.0.0.1", 10248)
    health: list[str] = field(default_factory=list)

    def __call__(self, command: Sequence[str], _timeout_s: float) -> CommandResult:
        text = " ".join(command)
        self.ran.append(text)
        self.seen.append(((self.root / FILE[1:]).exists(), (self.root / STATE[1:]).exists()))
        return CommandResult(1, f"{text} went wrong") if self.fails(text, self.ran.count(text)) else CommandResult(0)

    def generations(self) -> Generations:
        commands = Commands(
            runner=self,
            which=lambda name: f"/bin/{name}" if name in self.programs else None,
            sleep=lambda _seconds: None,
            settle_s=2.0,
            health_s=3.0,
            kubelet_place=lambda: self.place,
            unhealthy=lambda _place: self.health.pop(0) if self.health else "",
            unit_directory=self.units,
        )
        return Generations(str(self.root), commands=commands)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "node", {STATE: (b"{}", 0o600), "/etc/hostname": (b"n\n", 0o644)})


def test_the_kubelet_is_stopped_before_and_started_after_the_writing(root: Path) -> None:
    node = Node(root)
    result = node.generations().apply(ALL)
    assert node.ran == [STOP, RELOAD, GRUB, START, ACTIVE, ACTIVE, ACTIVE]
    assert node.seen[0] == (False, True)
    assert set(node.seen[1:]) == {(True, False)}
    assert result.needs_reboot
    assert result.skipped_actions == ()


def test_a_kubelet_is_waited_for_until_it_is_healthy_and_then_watched(root: Path) -> None:
    node = Node(root, health=["no", "no"])
    node.generations().apply(Request(ALL.files, actions=("kubelet-restart",)))
    assert node.ran == [STOP, START, *[ACTIVE] * 5]


def test_a_kubelet_that_does_not_become_healthy_is_undone_with_its_words(root: Path) -> None:
    before = picture(root)
    node = Node(root, health=["/healthz says 500: syncloop"] * 4)
    with pytest.raises(UndoneError, match="TUN-4404") as caught:
        node.generations().apply(Request(ALL.files, actions=("kubelet-restart",)))
    assert "not healthy after 3 s: /healthz says 500: syncloop" in caught.value.problems[0].why
    assert SAID in node.ran
    assert picture(root) == before


def test_a_kubelet_without_a_health_endpoint_is_watched_twice_as_long(root: Path) -> None:
    node = Node(root, place=None)
    node.generations().apply(Request(ALL.files, actions=("kubelet-restart",)))
    assert node.ran == [STOP, START, *[ACTIVE] * 4]


@pytest.mark.parametrize(
    ("texts", "flags", "place"),
    [
        ([], "", ("127.0.0.1", 10248)),
        (["healthzPort: 10250 # mine\n", "healthzBindAddress: '0.0.0.0'\n"], "", ("127.0.0.1", 10250)),
        (["nested:\n  healthzPort: 1\n"], "", ("127.0.0.1", 10248)),
        (["healthzPort: 0\n"], "", None),
        (["healthzPort: 0\n", "healthzPort: 7\n"], "", ("127.0.0.1", 7)),
        (["healthzPort: 7\n"], "kubelet --healthz-port=0", None),
        ([], "kubelet --healthz-bind-address ::", ("::1", 10248)),
    ],
)
def test_where_a_kubelet_says_how_it_is(texts: list[str], flags: str, place: tuple[str, int] | None) -> None:
    assert healthz_place(texts, flags) == place


def test_the_files_are_those_that_the_running_kubelet_names(tmp_path: Path) -> None:
    build(
        tmp_path / "node",
        {
            "/proc/7/comm": (b"kubelet\n", 0o444),
            "/proc/7/cmdline": (b"/usr/bin/kubelet\0--config=/etc/k.yaml\0--config-dir=/etc/k.d\0", 0o444),
            "/proc/8/comm": (b"bash\n", 0o444),
            "/etc/k.yaml": (b"healthzPort: 1\n", 0o644),
            "/etc/k.d/sub/10.conf": (b"healthzPort: 2\n", 0o644),
            "/var/lib/kubelet/config.yaml": (b"healthzPort: 3\n", 0o644),
        },
    )
    assert kubelet_place(str(tmp_path / "node")) == ("127.0.0.1", 2)


@pytest.mark.parametrize(("status", "said"), [(200, ""), (500, "/healthz says 500: not yet")])
def test_a_real_endpoint_is_asked(status: int, said: str) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/healthz"
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"not yet")

        def log_message(self, *_args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert unhealthy(("127.0.0.1", server.server_port)) == said
        thread.join()
        port = server.server_port
    assert "does not answer" in unhealthy(("127.0.0.1", port))


def test_own_units_are_stopped_before_and_started_after_the_writing(root: Path, tmp_path: Path) -> None:
    units = tmp_path / "units"
    units.mkdir()
    (units / "tunectl-interrupts.service").touch()
    (units / "other.service").touch()
    node = Node(root, units=units)
    node.generations().apply(Request(ALL.files, actions=("daemon-reload", "units")))
    name = "tunectl-interrupts.service"
    assert node.ran == [f"systemctl stop {name}", RELOAD, f"systemctl start {name}"]


def test_units_are_left_to_the_boot_where_one_follows_and_to_nobody_where_there_are_none(
    root: Path, tmp_path: Path
) -> None:
    node = Node(root, units=tmp_path / "none")
    node.generations().apply(Request(ALL.files, actions=("units", "daemon-reload")))
    assert node.ran == [RELOAD]
    assert expanded(("units", "daemon-reload", "reboot")) == ("daemon-reload", "units-stop")


def test_units_that_were_stopped_for_nothing_run_again(root: Path, tmp_path: Path) -> None:
    (tmp_path / "tunectl-swap.service").touch()
    node = Node(root, lambda command, count: command == GRUB and count == 1, units=tmp_path)
    with pytest.raises(UndoneError):
        node.generations().apply(Request(ALL.files, actions=("units", "update-grub", "reboot")))
    assert node.ran[-1] == "systemctl start tunectl-swap.service"


def test_a_second_apply_runs_nothing(root: Path) -> None:
    Node(root).generations().apply(ALL)
    node = Node(root)
    assert not node.generations().apply(ALL).changed
    assert node.ran == []


def test_rollback_runs_the_same_steps_on_the_way_back(root: Path) -> None:
    before = picture(root)
    Node(root).generations().apply(ALL)
    node = Node(root)
    node.generations().rollback()
    assert node.ran == [STOP, RELOAD, GRUB, START, ACTIVE, ACTIVE, ACTIVE]
    assert picture(root) == before


@pytest.mark.parametrize("broken", [RELOAD, GRUB, START, ACTIVE])
def test_a_step_that_fails_once_undoes_everything_and_makes_that_effective(root: Path, broken: str) -> None:
    before = picture(root)
    node = Node(root, lambda command, count: command == broken and count == 1)
    with pytest.raises(UndoneError, match="TUN-4404") as caught:
        node.generations().apply(ALL)
    assert broken in caught.value.problems[0].where
    assert picture(root) == before
    assert node.ran[-5:] == [GRUB, START, ACTIVE, ACTIVE, ACTIVE]
    assert node.seen[-1] == (False, True)


def test_a_kubelet_that_cannot_be_stopped_is_left_as_it_is(root: Path) -> None:
    before = picture(root)
    node = Node(root, lambda command, _count: command == STOP)
    with pytest.raises(UndoneError, match="TUN-4404"):
        node.generations().apply(ALL)
    assert node.ran == [STOP]
    assert picture(root) == before


def test_a_step_that_fails_on_the_way_back_too_is_told_and_finished_later(root: Path) -> None:
    before = picture(root)
    with pytest.raises(FailedError, match="TUN-4402") as caught:
        Node(root, lambda command, _count: command == START).generations().apply(ALL)
    assert [item.code for item in caught.value.problems] == ["TUN-4404", "TUN-4402"]
    assert picture(root) == before
    node = Node(root)
    assert [item.number for item in node.generations().recover()] == [1]
    assert node.ran == [RELOAD, GRUB, START, ACTIVE, ACTIVE, ACTIVE]
    assert node.generations().history()[0]["state"] == "undone"


def test_the_boot_loader_is_updated_with_the_program_that_the_node_has(root: Path) -> None:
    node = Node(root, programs=("systemctl", "grub2-mkconfig"))
    node.generations().apply(Request(ALL.files, actions=("update-grub",)))
    assert node.ran == ["grub2-mkconfig -o /boot/grub2/grub.cfg"]


def test_a_program_that_is_not_there_a_slow_one_and_a_talking_one() -> None:
    assert run_command(["tunectl-no-such-program"], 5).code == 127
    assert run_command([sys.executable, "-c", "import time; time.sleep(60)"], 0.05).code == 124
    result = run_command([sys.executable, "-c", "import sys; print('why'); sys.exit(3)"], 30)
    assert (result.code, result.output) == (3, "why")
