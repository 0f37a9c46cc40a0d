"""The collection's data is found in a checkout, in an installed collection and inside the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunectl.core.errors import FailedError
from tunectl.planning.paths import collection_root, machines_dir, schemas_dir, templates_dir, tiers_dir


def make_collection(root: Path, mark: str) -> Path:
    """Make the least that a collection has, and return where its copy of the file lies."""
    (root / "tiers").mkdir(parents=True)
    (root / mark).touch()
    here = root / "plugins" / "module_utils" / "planning"
    here.mkdir(parents=True)
    (here / "paths.py").touch()
    return here / "paths.py"


@pytest.mark.parametrize("mark", ["galaxy.yml", "MANIFEST.json"])
def test_a_collection_is_found_from_inside(mark: str, tmp_path: Path) -> None:
    assert collection_root(make_collection(tmp_path / "node", mark)) == tmp_path / "node"


def test_the_link_of_a_checkout_leads_to_the_collection(tmp_path: Path) -> None:
    real = make_collection(tmp_path / "repo", "galaxy.yml").parent
    (tmp_path / "repo" / "src" / "tunectl").mkdir(parents=True)
    link = tmp_path / "repo" / "src" / "tunectl" / "planning"
    link.symlink_to(real)
    assert collection_root(link / "paths.py") == tmp_path / "repo"


def test_the_wheel_carries_its_own(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "tunectl"
    make_collection(package / "_collections" / "ansible_collections" / "tunectl" / "node", "galaxy.yml")
    (package / "planning").mkdir()
    (package / "planning" / "paths.py").touch()
    root = package / "_collections" / "ansible_collections" / "tunectl" / "node"
    assert collection_root(package / "planning" / "paths.py") == root


def test_a_broken_installation_says_so(tmp_path: Path) -> None:
    (tmp_path / "a" / "b" / "c" / "d").mkdir(parents=True)
    with pytest.raises(FailedError, match="TUN-9001"):
        collection_root(tmp_path / "a" / "b" / "c" / "d" / "paths.py")


def test_this_checkout_has_all_of_it() -> None:
    for directory in (tiers_dir(), schemas_dir(), templates_dir(), machines_dir()):
        assert directory.is_dir()
        assert directory.parent == collection_root()
