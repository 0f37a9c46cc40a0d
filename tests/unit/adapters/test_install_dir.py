"""The manifests of an installation: ours among those of others, at the one stage where the installer takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunectl.adapters.install_dir import write_manifests
from tunectl.core.errors import RefusedError

FILES = {"99_tunectl-a-pool.yaml": "kind: A\n", "99_tunectl-a-profile.yaml": "kind: B\n"}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("manifests", "openshift"):
        (tmp_path / name).mkdir()
    (tmp_path / "openshift/99_kubeadmin.yaml").write_text("theirs\n", encoding="utf-8")
    return tmp_path


def picture(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in (directory / "openshift").iterdir()}


def test_manifests_are_written_once_and_stale_ones_go(directory: Path) -> None:
    first = write_manifests(directory, FILES)
    assert first.written == tuple(sorted(FILES))
    before = picture(directory)
    assert before["99_kubeadmin.yaml"] == "theirs\n"
    assert before["99_tunectl-a-pool.yaml"].endswith("kind: A\n")
    second = write_manifests(directory, FILES)
    assert (second.written, second.unchanged) == ((), tuple(sorted(FILES)))
    assert picture(directory) == before
    third = write_manifests(directory, {"99_tunectl-a-pool.yaml": "kind: C\n"})
    assert (third.written, third.removed) == (("99_tunectl-a-pool.yaml",), ("99_tunectl-a-profile.yaml",))
    assert set(picture(directory)) == {"99_kubeadmin.yaml", "99_tunectl-a-pool.yaml"}


@pytest.mark.parametrize("text", ["kind: mine\n", None])
def test_a_file_that_was_edited_or_is_of_others_is_never_touched(directory: Path, text: str | None) -> None:
    write_manifests(directory, FILES)
    path = directory / "openshift/99_tunectl-a-pool.yaml"
    path.write_text(text or path.read_text(encoding="utf-8") + "more: 1\n", encoding="utf-8")
    before = picture(directory)
    with pytest.raises(RefusedError, match="TUN-3742"):
        write_manifests(directory, {**FILES, "99_tunectl-a-pool.yaml": "kind: New\n"})
    assert picture(directory) == before


def test_the_stage_of_the_installation_must_be_right(directory: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(RefusedError, match="TUN-3740"):
        write_manifests(empty, FILES)
    (directory / "worker.ign").write_text("{}", encoding="utf-8")
    before = picture(directory)
    with pytest.raises(RefusedError, match="TUN-3741"):
        write_manifests(directory, FILES)
    assert picture(directory) == before
