"""A transaction that is killed or fails at any of its steps leaves the old or the new state, never a mixture."""

from __future__ import annotations

import errno
import functools
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, TunectlError, UndoneError
from ansible_collections.tunectl.node.plugins.module_utils.core.plan import NodeFile, RuntimeValue
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_disk import TEMPORARY_SUFFIX
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import Request
from support.node_trees import build, picture, quick_directory

KEPT = "/etc/sysctl.d/99-tunectl.conf"
DROPPED = "/etc/modprobe.d/tunectl.conf"
ADDED = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
SWAPPINESS = "/proc/sys/vm/swappiness"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
BEFORE = {
    DROPPED: (b"theirs\n", 0o640),
    SWAPPINESS: (b"60\n", 0o644),
    THP: (b"always [madvise] never\n", 0o644),
    "/var/lib/kubelet/cpu_manager_state": (b"{}", 0o600),
}
OLD = Request(
    (NodeFile(KEPT, "vm.swappiness = 10\n"), NodeFile(DROPPED, "options a b=1\n")),
    (RuntimeValue(SWAPPINESS, "10"),),
    tier="old",
    overwrite=True,
)
NEW = Request(
    (NodeFile(KEPT, "vm.swappiness = 20\n", 0o600), NodeFile(ADDED, "b: 2\n")),
    (RuntimeValue(THP, "never"),),
    ("kubelet-checkpoints",),
    tier="new",
)
Picture = dict[str, tuple[str, int, bytes]]
Work = Callable[[Generations], object]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A place where syncing costs little."""
    with quick_directory() as where:
        yield where


class Killed(BaseException):
    """Stands for the end of the process: nothing that handles errors may see it."""


@dataclass
class Countdown:
    """Counts the steps of a transaction, and does something at one of them."""

    at: int = 0
    strike: Callable[[], None] = lambda: None
    persistent: bool = False
    seen: list[str] = field(default_factory=list)

    def __call__(self, label: str) -> None:
        self.seen.append(label)
        if len(self.seen) == self.at or (self.persistent and len(self.seen) > self.at > 0):
            self.strike()


def die() -> None:
    raise Killed


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def forked(work: Callable[[], object]) -> int:
    """Start `work` in a process of its own and return the process."""
    with warnings.catch_warnings():
        # newer Pythons warn of threads; the child starts none and takes no lock
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child


def fail(number: int) -> Callable[[], None]:
    def strike() -> None:
        raise OSError(number, os.strerror(number))

    return strike


@functools.cache
def pattern() -> tempfile.TemporaryDirectory[str]:
    """Return the directory of a node that an old generation was applied to."""
    where = tempfile.TemporaryDirectory()
    root = build(Path(where.name) / "node", BEFORE)
    Generations(str(root)).apply(OLD)
    build(root, {"/var/lib/kubelet/memory_manager_state": (b"[]", 0o600)})
    return where


def fresh(where: Path) -> Path:
    """Return a node that an old generation was applied to."""
    return shutil.copytree(Path(pattern().name) / "node", where, symlinks=True)


def roll_back(node: Generations) -> object:
    return node.rollback()


def apply_new(node: Generations) -> object:
    return node.apply(NEW)


WORKS = [apply_new, roll_back]


def states(
    tmp_path: Path, work: Work
) -> tuple[dict[str, tuple[str, int, bytes]], dict[str, tuple[str, int, bytes]], int]:
    """Return the pictures before and after, and how many steps lie between them."""
    root = fresh(tmp_path / "model")
    before = picture(root)
    steps = Countdown()
    work(Generations(str(root), step=steps))
    after = picture(root)
    assert before != after
    return before, after, len(steps.seen)


def leftovers(root: Path) -> list[Path]:
    return list(root.rglob(f"*{TEMPORARY_SUFFIX}*"))


def attempt(work: Work, node: Generations) -> TunectlError | None:
    """Return the error with which the work ended, None when it went well."""
    try:
        work(node)
    except TunectlError as error:
        return error
    return None


def steps_of(work: Work, tmp_path: Path) -> Iterator[tuple[int, Path]]:
    _before, _after, count = states(tmp_path, work)
    assert count > 20
    for at in range(1, count + 1):
        yield at, fresh(tmp_path / f"node-{at}")


@pytest.mark.parametrize("work", WORKS)
def test_killed_at_any_step_the_next_contact_finds_old_or_new(work: Work, tmp_path: Path) -> None:
    before, after, _count = states(tmp_path / "states", work)
    seen = set()
    for at, root in steps_of(work, tmp_path):
        with pytest.raises(Killed):
            work(Generations(str(root), step=Countdown(at, die)))
        node = Generations(str(root))
        node.recover()
        found = picture(root)
        assert found in (before, after), at
        assert leftovers(root) == [], at
        assert node.recover() == ()
        seen.add(found == after)
        work(node) if found == before else None
        assert picture(root) == after, at
        assert {item["state"] for item in node.history()} <= {"committed", "undone"}
    assert seen == {True, False}


@pytest.mark.parametrize("work", WORKS)
def test_killed_by_the_system_at_any_step_it_is_the_same(work: Work, tmp_path: Path) -> None:
    before, after, _count = states(tmp_path / "states", work)
    for at, root in steps_of(work, tmp_path):
        child = forked(functools.partial(work, Generations(str(root), step=Countdown(at, kill_myself))))
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        result = Generations(str(root)).apply(OLD if work is roll_back else NEW)
        if work is apply_new:
            assert picture(root) == after, at
        else:
            assert picture(root) == before, at
        assert leftovers(root) == [], at
        assert result.generation >= 1


@pytest.mark.parametrize("work", WORKS)
def test_killed_again_while_it_is_being_undone_nothing_is_lost(work: Work, tmp_path: Path) -> None:
    before, after, count = states(tmp_path / "states", work)
    for at in range(8, count, 5):
        for second in range(1, 30, 2):
            root = fresh(tmp_path / f"node-{at}-{second}")
            with pytest.raises(Killed):
                work(Generations(str(root), step=Countdown(at, die)))
            steps = Countdown(second, die)
            try:
                Generations(str(root), step=steps).recover()
            except Killed:
                Generations(str(root)).recover()
            assert picture(root) in (before, after), (at, second)
            assert leftovers(root) == [], (at, second)
            if len(steps.seen) < second:
                break


@pytest.mark.parametrize(
    ("work", "number"), [(apply_new, errno.ENOSPC), (apply_new, errno.EACCES), (roll_back, errno.EROFS)]
)
def test_an_error_at_any_step_undoes_everything_and_names_the_file(work: Work, number: int, tmp_path: Path) -> None:
    before, after, _count = states(tmp_path / "states", work)
    failures = 0
    for at, root in steps_of(work, tmp_path):
        steps = Countdown(at, fail(number))
        error = attempt(work, Generations(str(root), step=steps))
        assert picture(root) == (after if error is None else before), (at, steps.seen[at - 1])
        if error is not None:
            failures += 1
            assert isinstance(error, UndoneError), (at, steps.seen[at - 1], str(error))
            assert os.strerror(number) in str(error)
            assert error.problems[0].where.startswith("/")
        assert leftovers(root) == [], at
        node = Generations(str(root))
        node.recover()
        assert picture(root) in (before, after)
    assert failures > 20


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_an_error_that_stays_is_told_honestly_and_finished_later(number: int, tmp_path: Path) -> None:
    before, after, _count = states(tmp_path / "states", apply_new)
    outcomes = set()
    for at, root in steps_of(apply_new, tmp_path):
        error = attempt(apply_new, Generations(str(root), step=Countdown(at, fail(number), persistent=True)))
        outcomes.add(type(error))
        if not isinstance(error, FailedError):
            assert picture(root) == (after if error is None else before), at
        else:
            assert "TUN-4402" in str(error)
            assert "unfinished" in error.state
        Generations(str(root)).recover()
        assert picture(root) in (before, after), at
        assert leftovers(root) == [], at
    assert outcomes == {UndoneError, FailedError, type(None)}


def test_a_full_disk_is_noticed_before_any_file_is_touched(tmp_path: Path) -> None:
    """Whatever cannot be written is known while all of it still lies beside its place."""
    root = fresh(tmp_path / "node")
    steps = Countdown()
    Generations(str(root), step=steps).apply(NEW)
    places = [KEPT, ADDED]
    last_byte = max(at for at, label in enumerate(steps.seen) if label in [f"write {path}" for path in places])
    first_switch = min(at for at, label in enumerate(steps.seen) if label in [f"rename {path}" for path in places])
    assert last_byte < first_switch


def test_what_is_in_a_new_place_is_on_the_disk_before(tmp_path: Path) -> None:
    root = fresh(tmp_path / "node")
    steps = Countdown()
    Generations(str(root), step=steps).apply(NEW)
    journal = steps.seen.index("sync directory of /var/lib/tunectl/generations/0002/journal.json")
    manifest = steps.seen.index("rename /var/lib/tunectl/generations/0002/manifest.json")
    for path in (KEPT, ADDED):
        created, synced = steps.seen.index(f"create {path}"), steps.seen.index(f"sync {path}")
        renamed = steps.seen.index(f"rename {path}")
        settled = max(at for at, label in enumerate(steps.seen) if label == f"sync directory of {path}")
        assert journal < created < synced < renamed < settled < manifest


def test_bytes_and_names_really_are_brought_onto_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = fresh(tmp_path / "node")
    synced: set[str] = set()

    def recorded(handle: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{handle}").removeprefix(str(root)))  # noqa: PTH115 - of a handle

    monkeypatch.setattr(os, "fsync", recorded)
    Generations(str(root)).apply(NEW)
    records = "/var/lib/tunectl/generations/0002"
    places = [KEPT, ADDED, f"{records}/journal.json", f"{records}/manifest.json"]
    for place in map(Path, places):
        assert str(place.with_name(f".{place.name}{TEMPORARY_SUFFIX}")) in synced
        assert str(place.parent) in synced
    assert str(Path(DROPPED).parent) in synced
    assert "/var/lib/tunectl/generations" in synced


def test_an_interrupt_from_the_keyboard_undoes_everything(tmp_path: Path) -> None:
    def strike() -> None:
        raise KeyboardInterrupt

    root = fresh(tmp_path / "node")
    before = picture(root)
    with pytest.raises(UndoneError, match="TUN-4406"):
        Generations(str(root), step=Countdown(25, strike)).apply(NEW)
    assert picture(root) == before


def test_what_somebody_changed_after_the_crash_is_left_alone_and_reported(tmp_path: Path) -> None:
    root = fresh(tmp_path / "node")
    steps = Countdown()
    Generations(str(fresh(tmp_path / "model")), step=steps).apply(NEW)
    at = steps.seen.index("remove /etc/modprobe.d/tunectl.conf") if f"remove {DROPPED}" in steps.seen else 0
    at = at or max(at for at, label in enumerate(steps.seen) if label == f"rename {ADDED}") + 2
    with pytest.raises(Killed):
        Generations(str(root), step=Countdown(at, die)).apply(NEW)
    build(root, {KEPT: (b"by hand\n", 0o644)})
    recovered = Generations(str(root)).recover()
    assert [(item.number, item.left_alone) for item in recovered] == [(2, (KEPT,))]
    assert (root / KEPT[1:]).read_bytes() == b"by hand\n"


def test_unfinished_work_shows_in_history_and_in_check_mode_and_is_reported(tmp_path: Path) -> None:
    root = fresh(tmp_path / "node")
    with pytest.raises(Killed):
        Generations(str(root), step=Countdown(30, die)).apply(NEW)
    node = Generations(str(root))
    assert [item["state"] for item in node.history()] == ["committed", "unfinished"]
    frozen = picture(root, without="/nothing")
    said = node.apply(OLD, check=True)
    assert said.changed
    assert "unfinished work" in said.notes[-1]
    assert picture(root, without="/nothing") == frozen
    result = node.apply(OLD)
    assert result.changed
    assert [item.number for item in result.recovered] == [2]
    assert [item["state"] for item in node.history()] == ["committed", "undone"]
    assert node.history()[1]["problem"] == "it was interrupted"
