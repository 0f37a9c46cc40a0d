"""Transactions on a node: what changes, what is said about it, and the way back."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import (
    BusyError,
    FailedError,
    InputError,
    RefusedError,
    UnknownError,
)
from ansible_collections.tunectl.node.plugins.module_utils.core.plan import NodeFile, RuntimeValue
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import ForeignChangeError, Request
from support.node_trees import build, picture, quick_directory

SYSCTL = "/etc/sysctl.d/99-tunectl.conf"
KUBELET = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
SWAPPINESS = "/proc/sys/vm/swappiness"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
IRQ = "/proc/irq/7/smp_affinity_list"
BEFORE = {
    "/etc/sysctl.d/10-other.conf": (b"vm.overcommit_memory = 1\n", 0o644),
    SWAPPINESS: (b"60\n", 0o644),
    THP: (b"always [madvise] never\n", 0o644),
    IRQ: (b"0-7\n", 0o644),
}
FIRST = Request(
    files=(NodeFile(SYSCTL, "vm.swappiness = 10\n"), NodeFile(KUBELET, "a: 1\n", 0o600)),
    runtime=(RuntimeValue(SWAPPINESS, "10"), RuntimeValue(THP, "never"), RuntimeValue(IRQ, "0,1")),
    actions=("daemon-reload", "reboot"),
    tier="first",
    plan_id="aaaa",
)
SECOND = Request(
    files=(NodeFile(SYSCTL, "vm.swappiness = 20\n"),),
    runtime=(RuntimeValue(SWAPPINESS, "20"),),
    tier="second",
    plan_id="bbbb",
)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A place where syncing costs little."""
    with quick_directory() as where:
        yield where


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "node", BEFORE)


def text(root: Path, path: str) -> str:
    return (root / path.lstrip("/")).read_text(encoding="utf-8")


def test_the_first_apply_makes_everything_so(root: Path) -> None:
    result = Generations(str(root)).apply(FIRST)
    assert result.changed
    assert (result.generation, result.previous) == (1, 0)
    assert [(item.after.path, item.kind) for item in result.files] == [(SYSCTL, "created"), (KUBELET, "created")]
    assert result.values == ((SWAPPINESS, "60", "10"), (THP, "madvise", "never"), (IRQ, "0-7", "0,1"))
    assert text(root, SYSCTL) == "vm.swappiness = 10\n"
    assert (root / KUBELET[1:]).stat().st_mode & 0o7777 == 0o600
    assert text(root, SWAPPINESS) == "10\n"
    assert text(root, THP) == "always madvise [never]\n"
    assert result.needs_reboot
    assert [item["action"] for item in result.skipped_actions] == ["daemon-reload"]


def test_the_second_apply_changes_nothing_and_leaves_no_trace(root: Path) -> None:
    Generations(str(root)).apply(FIRST)
    before = picture(root, without="/nothing")
    times = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    result = Generations(str(root)).apply(FIRST)
    assert not result.changed
    assert (result.generation, result.files, result.values) == (1, (), ())
    assert picture(root, without="/nothing") == before
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == times


def test_check_mode_says_the_same_and_writes_nothing(root: Path) -> None:
    before = picture(root, without="/nothing")
    said = Generations(str(root)).apply(FIRST, check=True)
    assert picture(root, without="/nothing") == before
    done = Generations(str(root)).apply(FIRST)
    assert (said.changed, said.files, said.values) == (done.changed, done.files, done.values)
    assert said.needs_reboot is done.needs_reboot
    assert said.generation == 0


@pytest.mark.parametrize("value", ["0-1", "0,1", "1,0"])
def test_runtime_values_are_compared_by_meaning(root: Path, value: str) -> None:
    Generations(str(root)).apply(FIRST)
    same = (*FIRST.runtime[:2], RuntimeValue(IRQ, value))
    assert not Generations(str(root)).apply(Request(FIRST.files, same)).changed


def test_a_changed_mode_alone_is_a_change(root: Path) -> None:
    Generations(str(root)).apply(FIRST)
    (root / KUBELET[1:]).chmod(0o644)
    result = Generations(str(root)).apply(FIRST)
    assert [(item.after.path, item.kind) for item in result.files] == [(KUBELET, "mode")]
    assert (root / KUBELET[1:]).stat().st_mode & 0o7777 == 0o600


def test_what_the_new_generation_does_not_name_goes_back_to_before_tunectl(root: Path) -> None:
    Generations(str(root)).apply(FIRST)
    result = Generations(str(root)).apply(SECOND)
    assert [(item.after.path, item.kind) for item in result.files] == [(SYSCTL, "updated"), (KUBELET, "removed")]
    assert not (root / "etc/kubernetes").exists()
    assert text(root, THP) == "always [madvise] never\n"
    assert text(root, IRQ) == "0-7\n"
    assert text(root, SWAPPINESS) == "20\n"


def test_a_file_that_was_there_before_tunectl_comes_back_when_it_is_not_owned_any_more(tmp_path: Path) -> None:
    root = build(tmp_path, {**BEFORE, KUBELET: (b"theirs: \xff\n", 0o640)})
    before = picture(root)
    node = Generations(str(root))
    node.apply(Request(FIRST.files, FIRST.runtime, overwrite=True))
    node.apply(Request(FIRST.files, (), overwrite=True))
    node.apply(Request())
    assert {path: item for path, item in picture(root).items() if path in before} == before


def test_forget_leaves_everything_and_owns_nothing(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    kept = picture(root)
    result = node.apply(Request(forget=True))
    assert result.changed
    assert result.generation == 2
    assert picture(root) == kept
    assert not node.apply(Request()).changed
    assert text(root, SYSCTL) == "vm.swappiness = 10\n"


def test_rollback_goes_back_one_generation_at_a_time(root: Path) -> None:
    pictures = [picture(root)]
    node = Generations(str(root))
    for request in (FIRST, SECOND):
        node.apply(request)
        pictures.append(picture(root))
    result = node.rollback()
    assert picture(root) == pictures[1]
    assert (result.generation, result.previous, result.needs_reboot) == (3, 2, False)
    result = node.rollback()
    assert picture(root) == pictures[0]
    assert (result.generation, result.needs_reboot) == (4, True)
    with pytest.raises(RefusedError, match="TUN-3408"):
        node.rollback()


def test_rollback_reaches_any_earlier_generation(root: Path) -> None:
    pictures = [picture(root)]
    node = Generations(str(root))
    for request in (FIRST, SECOND, Request(FIRST.files, ()), Request()):
        node.apply(request)
        pictures.append(picture(root))
    for to in (3, 1, 2, 0, 4):
        node.rollback(to)
        assert picture(root) == pictures[to], to
    assert [item["restores"] for item in node.history()[4:]] == [3, 1, 2, 0, 4]


@pytest.mark.parametrize("to", [0, 1])
def test_going_back_to_where_the_node_is_already_does_nothing_until_it_has_moved(root: Path, to: int) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    node.apply(SECOND)
    assert node.rollback(to).changed
    before = picture(root)
    assert not node.rollback(to).changed
    assert not node.rollback(3).changed
    assert len(node.history()) == 3
    assert picture(root) == before
    node.apply(SECOND)
    assert node.rollback(to).changed
    assert picture(root) == before


def test_after_a_rollback_ownership_is_that_of_the_earlier_generation(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    node.apply(SECOND)
    node.rollback()
    assert not node.apply(FIRST).changed
    node.apply(Request())
    assert not (root / SYSCTL[1:]).exists()
    assert text(root, THP) == "always [madvise] never\n"


def test_rollback_in_check_mode_writes_nothing(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    before = picture(root, without="/nothing")
    said = node.rollback(check=True)
    assert said.changed
    assert said.generation == 1
    assert picture(root, without="/nothing") == before


def test_rollback_leaves_alone_what_somebody_else_set_since(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    (root / SWAPPINESS[1:]).write_text("33\n", encoding="utf-8")
    result = node.rollback()
    assert result.left_alone == (SWAPPINESS,)
    assert text(root, SWAPPINESS) == "33\n"
    assert text(root, THP) == "always [madvise] never\n"


@pytest.mark.parametrize("to", [7, -3])
def test_rollback_to_a_generation_that_is_not_there_is_refused(root: Path, to: int) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    before = picture(root, without="/nothing")
    with pytest.raises(RefusedError, match="TUN-3408"):
        node.rollback(to)
    assert picture(root, without="/nothing") == before


def test_rollback_of_a_node_that_tunectl_never_touched_is_refused(root: Path) -> None:
    with pytest.raises(RefusedError, match="nothing to go back to"):
        Generations(str(root)).rollback()
    assert not (root / "var").exists()


def test_a_file_that_somebody_edited_is_not_overwritten_unasked(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    (root / SYSCTL[1:]).write_text("vm.swappiness = 10\nmine = 1\n", encoding="utf-8")
    before = picture(root, without="/nothing")
    with pytest.raises(ForeignChangeError, match="TUN-3402") as caught:
        node.apply(SECOND)
    assert [item.before.path for item in caught.value.files] == [SYSCTL]
    assert picture(root, without="/nothing") == before
    result = node.apply(Request(SECOND.files, SECOND.runtime, overwrite=True))
    assert result.foreign == (SYSCTL,)
    assert text(root, SYSCTL) == "vm.swappiness = 20\n"
    node.rollback()
    assert text(root, SYSCTL) == "vm.swappiness = 10\nmine = 1\n"


def test_a_foreign_file_in_our_place_is_not_overwritten_unasked(root: Path) -> None:
    build(root, {SYSCTL: (b"theirs\n", 0o644)})
    with pytest.raises(ForeignChangeError, match="TUN-3402"):
        Generations(str(root)).apply(FIRST)
    assert text(root, SYSCTL) == "theirs\n"
    assert not (root / "var").exists()


def test_a_file_that_is_already_as_wanted_is_taken_over_whoever_wrote_it(root: Path) -> None:
    build(root, {SYSCTL: (b"vm.swappiness = 10\n", 0o644)})
    result = Generations(str(root)).apply(FIRST)
    assert [item.after.path for item in result.files] == [KUBELET]
    Generations(str(root)).apply(Request())
    assert text(root, SYSCTL) == "vm.swappiness = 10\n"


def test_a_file_that_somebody_removed_is_written_again_and_reported(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    (root / SYSCTL[1:]).unlink()
    result = node.apply(FIRST)
    assert result.foreign == (SYSCTL,)
    assert text(root, SYSCTL) == "vm.swappiness = 10\n"


def test_rollback_does_not_overwrite_a_foreign_edit_unasked(root: Path) -> None:
    before = picture(root)
    node = Generations(str(root))
    node.apply(FIRST)
    (root / SYSCTL[1:]).write_text("mine\n", encoding="utf-8")
    with pytest.raises(ForeignChangeError, match="TUN-3402"):
        node.rollback()
    assert text(root, SYSCTL) == "mine\n"
    node.rollback(overwrite=True)
    assert picture(root) == before


def test_rollback_brings_back_owner_and_time_too(root: Path) -> None:
    where = build(root, {SYSCTL: (b"theirs\n", 0o640)}) / SYSCTL[1:]
    owner = (1234, 4321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(where, *owner)
    os.utime(where, ns=(10**18, 10**18 + 7))
    node = Generations(str(root))
    node.apply(Request(SECOND.files, overwrite=True))
    assert (where.stat().st_uid, where.stat().st_mode & 0o7777) == (os.geteuid(), 0o644)
    node.rollback()
    found = where.stat()
    assert (found.st_uid, found.st_gid, found.st_mtime_ns, found.st_mode & 0o7777) == (*owner, 10**18 + 7, 0o640)


def test_directories_stay_while_somebody_else_has_files_in_them(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    build(root, {"/etc/kubernetes/kubelet.conf.d/50-mine.conf": (b"x\n", 0o644)})
    node.rollback()
    assert text(root, "/etc/kubernetes/kubelet.conf.d/50-mine.conf") == "x\n"
    assert not (root / KUBELET[1:]).exists()


def test_an_optional_value_of_another_kernel_is_skipped_with_a_note(root: Path) -> None:
    result = Generations(str(root)).apply(Request(runtime=(RuntimeValue("/sys/kernel/gone", "1", optional=True),)))
    assert not result.changed
    assert len(result.notes) == 1
    assert "/sys/kernel/gone" in result.notes[0]


def test_every_missing_value_is_named_before_anything_is_written(root: Path) -> None:
    before = picture(root, without="/nothing")
    values = (RuntimeValue("/sys/a", "1"), RuntimeValue("/proc/sys/b", "1"), *FIRST.runtime)
    with pytest.raises(RefusedError) as caught:
        Generations(str(root)).apply(Request(FIRST.files, values))
    assert [item.where for item in caught.value.problems] == ["/sys/a", "/proc/sys/b"]
    assert picture(root, without="/nothing") == before


def test_a_choice_that_the_kernel_does_not_offer_undoes_everything(root: Path) -> None:
    before = picture(root)
    request = Request(FIRST.files, (FIRST.runtime[0], RuntimeValue(THP, "sometimes")))
    with pytest.raises(Exception, match="TUN-4403") as caught:
        Generations(str(root)).apply(request)
    assert "always madvise never" in str(caught.value)
    assert picture(root) == before
    assert [item["state"] for item in Generations(str(root)).history()] == ["undone"]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/../usr/bin/x",
        "etc/x",
        "/usr/lib/x",
        "//etc/x",
        "/etc//x",
        "/etc/./x",
        "/etc/",
        "/etc/x/",
        "/etc/a\nb",
        "/proc/sys/vm/x",
        "/etcetera/x",
        "/var/lib/tunectl/current",
    ],
)
def test_files_outside_of_etc_are_refused(root: Path, path: str) -> None:
    before = picture(root, without="/nothing")
    with pytest.raises(InputError, match="TUN-3403"):
        Generations(str(root)).apply(Request((NodeFile(path, "x\n"),)))
    assert picture(root, without="/nothing") == before


@pytest.mark.parametrize(
    "path", ["/proc/sysrq-trigger", "/proc/1/oom_adj", "/dev/sda", "/sys/../etc/passwd", "/proc/sys"]
)
def test_values_outside_of_the_kernel_settings_are_refused(root: Path, path: str) -> None:
    with pytest.raises(InputError, match="TUN-3403"):
        Generations(str(root)).apply(Request(runtime=(RuntimeValue(path, "1"),)))


def test_a_path_that_is_named_twice_is_refused(root: Path) -> None:
    with pytest.raises(InputError, match="named twice"):
        Generations(str(root)).apply(Request((NodeFile(SYSCTL, "a\n"), NodeFile(SYSCTL, "b\n"))))


def test_an_action_that_nobody_knows_is_refused(root: Path) -> None:
    with pytest.raises(RefusedError, match="TUN-3407") as caught:
        Generations(str(root)).apply(Request(FIRST.files, actions=("rm -rf",)))
    assert "daemon-reload" in caught.value.problems[0].fix


def test_directories_that_are_links_stay_below_the_root(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "etc/kubernetes").symlink_to("/data/kubernetes")
    (root / "data/kubernetes").mkdir(parents=True)
    (root / "etc/modprobe.d").symlink_to("../../../../../../data")
    Generations(str(root)).apply(Request((NodeFile(KUBELET, "a\n"), NodeFile("/etc/modprobe.d/tunectl.conf", "b\n"))))
    assert (root / "data/kubernetes/kubelet.conf.d/99-tunectl.conf").read_text(encoding="utf-8") == "a\n"
    assert (root / "data/tunectl.conf").read_text(encoding="utf-8") == "b\n"
    assert list(outside.iterdir()) == []
    Generations(str(root)).rollback()
    assert list((root / "data").iterdir()) == [root / "data/kubernetes"]
    assert list((root / "data/kubernetes").iterdir()) == []


def test_links_that_go_in_circles_are_an_error_with_a_path(root: Path) -> None:
    (root / "etc/kubernetes").symlink_to("/etc/kubernetes")
    with pytest.raises(UnknownError, match="TUN-5402") as caught:
        Generations(str(root)).apply(FIRST)
    assert caught.value.problems[0].where == KUBELET


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_only_regular_files_are_replaced(root: Path, kind: str) -> None:
    where = root / SYSCTL[1:]
    if kind == "link":
        where.symlink_to("10-other.conf")
    elif kind == "directory":
        where.mkdir()
    else:
        os.mkfifo(where)
    before = where.lstat()
    with pytest.raises(UnknownError, match="TUN-5402"):
        Generations(str(root)).apply(FIRST)
    assert where.lstat().st_ino == before.st_ino


def test_a_root_that_is_no_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownError, match="TUN-5401"):
        Generations(str(tmp_path / "missing"))


def test_a_held_lock_says_who_and_since_when(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    before = picture(root)
    holder = {"what": "apply first", "user": "operator", "pid": "4711", "since": "2026-03-02T10:51:00Z"}
    lock = root / "var/lib/tunectl/lock"
    with lock.open("w", encoding="utf-8") as stream:
        json.dump(holder, stream)
        stream.flush()
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match="TUN-3401") as caught:
            node.apply(SECOND)
        why = caught.value.problems[0].why
        assert "operator" in why
        assert "2026-03-02T10:51:00Z" in why
        assert not node.apply(FIRST).changed
    assert picture(root) == before
    assert node.apply(SECOND).changed


def test_while_one_transaction_is_at_work_another_is_refused(root: Path) -> None:
    refused: list[str] = []

    def interfere(label: str) -> None:
        if label == f"rename {SYSCTL}":
            with pytest.raises(BusyError, match="apply first by") as caught:
                Generations(str(root)).apply(SECOND)
            refused.append(caught.value.problems[0].code)

    Generations(str(root), step=interfere).apply(FIRST)
    assert refused == ["TUN-3401"]
    assert text(root, SYSCTL) == "vm.swappiness = 10\n"


def test_history_tells_what_was_done(root: Path) -> None:
    node = Generations(str(root))
    assert node.history() == []
    node.apply(FIRST)
    node.apply(SECOND)
    node.rollback()
    history = node.history()
    assert [item["generation"] for item in history] == [1, 2, 3]
    assert [item["kind"] for item in history] == ["apply", "apply", "rollback"]
    assert [item["tier"] for item in history] == ["first", "second", "first"]
    assert [item["plan_id"] for item in history] == ["aaaa", "bbbb", ""]
    assert [item["current"] for item in history] == [False, False, True]
    assert {item["state"] for item in history} == {"committed"}
    assert history[0]["files"] == [SYSCTL, KUBELET]
    assert text(root, "/var/lib/tunectl/current") == "3\n"


def test_the_records_are_for_root_alone(root: Path) -> None:
    Generations(str(root)).apply(FIRST)
    generation = root / "var/lib/tunectl/generations/0001"
    assert generation.stat().st_mode & 0o7777 == 0o700
    assert {path.stat().st_mode & 0o7777 for path in generation.iterdir()} == {0o600}


def test_a_damaged_record_is_an_error_that_names_it(root: Path) -> None:
    node = Generations(str(root))
    node.apply(FIRST)
    record = root / "var/lib/tunectl/generations/0001/manifest.json"
    record.write_text('{"state": "committed"}', encoding="utf-8")
    with pytest.raises(FailedError, match="TUN-4405") as caught:
        node.apply(SECOND)
    assert caught.value.problems[0].where == "/var/lib/tunectl/generations/0001/manifest.json"
    assert text(root, SYSCTL) == "vm.swappiness = 10\n"


def test_the_result_never_holds_contents_and_the_diff_does(root: Path) -> None:
    result = Generations(str(root)).apply(FIRST, check=True)
    assert "vm.swappiness = 10" not in json.dumps(result.to_json())
    diff = result.diff()
    assert diff[0] == {
        "before_header": f"{SYSCTL} (absent)",
        "after_header": f"{SYSCTL} (mode 0644)",
        "before": "",
        "after": "vm.swappiness = 10\n",
    }
    assert {"before_header": THP, "after_header": THP, "before": "madvise\n", "after": "never\n"} in diff


def test_checkpoints_move_into_the_generation_and_come_back(root: Path) -> None:
    state = "/var/lib/kubelet/cpu_manager_state"
    build(root, {state: (b'{"policyName":"none"}', 0o600)})
    before = picture(root)
    node = Generations(str(root))
    node.apply(Request(FIRST.files, (), ("kubelet-checkpoints", "kubelet-restart")))
    assert not (root / state[1:]).exists()
    build(root, {state: (b'{"policyName":"static"}', 0o600)})
    assert not node.apply(Request(FIRST.files, (), ("kubelet-checkpoints", "kubelet-restart"))).changed
    assert text(root, state) == '{"policyName":"static"}'
    node.rollback()
    assert picture(root) == before
