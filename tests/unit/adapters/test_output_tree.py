"""A directory of generated files: ours are replaced as a whole, foreign ones are never touched."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunectl.adapters.output_tree import MARKER, TreeChange, write_tree
from tunectl.core.errors import InputError, RefusedError

ONE = {"a.yaml": "a\n", "n1/etc/b.conf": "b\n"}


def tree(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): path.read_text(encoding="utf-8")
        for path in directory.rglob("*")
        if path.is_file() and path.name != MARKER
    }


def refused(directory: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    with pytest.raises(RefusedError) as caught:
        write_tree(directory, files)
    return [(one.code, Path(one.where).name) for one in caught.value.problems]


def test_files_are_written_once_and_then_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out"
    assert write_tree(target, ONE) == TreeChange(written=("a.yaml", "n1/etc/b.conf"))
    assert tree(target) == ONE
    before = {path: path.stat() for path in target.rglob("*")}
    assert write_tree(target, ONE) == TreeChange(unchanged=("a.yaml", "n1/etc/b.conf"))
    assert {path: path.stat() for path in target.rglob("*")} == before


def test_stale_files_of_ours_go_with_their_directories_and_foreign_ones_stay(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    (tmp_path / "kustomization.yaml").write_text("theirs\n")
    changed = write_tree(tmp_path, {"a.yaml": "new\n"})
    assert changed == TreeChange(written=("a.yaml",), removed=("n1/etc/b.conf",))
    assert tree(tmp_path) == {"a.yaml": "new\n", "kustomization.yaml": "theirs\n"}
    assert not (tmp_path / "n1").exists()


def test_a_directory_keeps_what_others_put_next_to_a_stale_file(tmp_path: Path) -> None:
    write_tree(tmp_path, ONE)
    (tmp_path / "n1" / "notes").write_text("theirs\n")
    write_tree(tmp_path, {})
    assert tree(tmp_path) == {"n1/notes": "theirs\n"}


def test_a_directory_of_others_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("theirs\n")
    assert refused(tmp_path, ONE) == [("TUN-3020", tmp_path.name)]
    assert tree(tmp_path) == {"precious": "theirs\n"}


def test_an_edited_file_and_one_in_the_way_are_refused_together_before_anything_is_written(tmp_path: Path) -> None:
    write_tree(tmp_path, {**ONE, "stale.yaml": "s\n"})
    (tmp_path / "a.yaml").write_text("edited\n")
    (tmp_path / "stale.yaml").write_text("edited\n")
    (tmp_path / "c.yaml").write_text("theirs\n")
    (tmp_path / "link").symlink_to("c.yaml")
    before = tree(tmp_path)
    wanted = {**ONE, "n1/etc/b.conf": "new\n", "c.yaml": "ours\n", "link": "ours\n"}
    found = refused(tmp_path, wanted)
    assert found == [("TUN-3021", name) for name in ("a.yaml", "c.yaml", "link", "stale.yaml")]
    assert tree(tmp_path) == before


def test_a_file_that_holds_what_is_wanted_is_in_nobody_s_way(tmp_path: Path) -> None:
    write_tree(tmp_path, {})
    (tmp_path / "a.yaml").write_text("a\n")
    assert write_tree(tmp_path, {"a.yaml": "a\n"}) == TreeChange(unchanged=("a.yaml",))


def test_interrupted_work_is_finished_by_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path, ONE)
    wanted = {"a.yaml": "new\n", "b.yaml": "new\n", "c.yaml": "new\n"}
    replace, left = Path.replace, iter(range(3))

    def stop(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            write_tree(tmp_path, wanted)
    # The marker and two files were replaced; nothing half written is left behind.
    assert tree(tmp_path) == {"a.yaml": "new\n", "b.yaml": "new\n", "n1/etc/b.conf": "b\n"}
    assert write_tree(tmp_path, wanted).written == ("c.yaml",)
    assert tree(tmp_path) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        '{"format": "other", "files": {}}',
        '{"format": "tunectl.io/rendered/v1", "files": {"../x": []}}',
        '{"format": "tunectl.io/rendered/v1", "files": {"/x": []}}',
        '{"format": "tunectl.io/rendered/v1", "files": []}',
    ],
)
def test_a_marker_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / MARKER).write_text(text)
    with pytest.raises(InputError) as caught:
        write_tree(tmp_path, ONE)
    assert caught.value.problems[0].code == "TUN-1062"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        write_tree(tmp_path / "file", ONE)
    assert caught.value.problems[0].code == "TUN-1062"
    assert "file" in caught.value.problems[0].where


def test_files_are_readable_as_the_user_has_it(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_tree(tmp_path / "out", ONE)
    finally:
        os.umask(old)
    assert (tmp_path / "out" / "a.yaml").stat().st_mode & 0o777 == 0o640


def test_the_marker_has_stable_bytes(tmp_path: Path) -> None:
    write_tree(tmp_path / "a", ONE)
    write_tree(tmp_path / "b", dict(reversed(ONE.items())))
    assert (tmp_path / "a" / MARKER).read_bytes() == (tmp_path / "b" / MARKER).read_bytes()
    assert set(json.loads((tmp_path / "a" / MARKER).read_text())["files"]) == set(ONE)


_PATHS = st.sampled_from(["a", "b", "d/a", "d/e/a"])
_TREES = st.dictionaries(_PATHS, st.text("xy", max_size=2), max_size=4)


@settings(max_examples=25, deadline=None)  # every file is synced to disk
@given(steps=st.lists(_TREES, min_size=1, max_size=4))
def test_after_any_sequence_the_directory_holds_the_last_tree(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, str]]
) -> None:
    target = tmp_path_factory.mktemp("tree")
    for files in steps:
        write_tree(target, files)
        assert tree(target) == files
