"""Saved plans: found again by id, by the start of an id, or by path; never half written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunectl.adapters.plan_files import load_plan, plans_folder, save_plan, saved_ids
from tunectl.core.errors import InputError
from tunectl.core.plan import PoolPlan


def _save(folder: Path, plan_id: str) -> Path:
    return save_plan(PoolPlan(plan_id, "t", "hpc"), plans_folder(folder) / f"{plan_id}.json").path


def _code(reference: str, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_plan(reference, folder)
    return caught.value.problems[0].code


def test_a_plan_comes_back_by_every_name(tmp_path: Path) -> None:
    path = _save(tmp_path, "7f3c0000")
    for reference in ("7f3c0000", "7f3c", str(path)):
        assert load_plan(reference, tmp_path) == PoolPlan("7f3c0000", "t", "hpc")
    assert saved_ids(tmp_path) == ["7f3c0000"]
    assert [one.name for one in path.parent.iterdir()] == ["7f3c0000.json"]


def test_an_exact_id_wins_over_a_longer_one(tmp_path: Path) -> None:
    _save(tmp_path, "7f3c")
    _save(tmp_path, "7f3c0000")
    assert load_plan("7f3c", tmp_path).id == "7f3c"


def test_a_start_that_several_plans_share_names_none(tmp_path: Path) -> None:
    _save(tmp_path, "7f3c0000")
    _save(tmp_path, "7f3d0000")
    assert _code("7f3", tmp_path) == "TUN-1041"


def test_what_cannot_be_found_or_read(tmp_path: Path) -> None:
    assert _code("7f3c", tmp_path) == "TUN-1041"
    assert _code(str(tmp_path / "nowhere.json"), tmp_path) == "TUN-1042"
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert _code(str(broken), tmp_path) == "TUN-1042"
    broken.write_text('{"kind": "Plan"}')
    assert _code(str(broken), tmp_path) == "TUN-2301"


def test_a_plan_that_was_edited_is_refused(tmp_path: Path) -> None:
    path = _save(tmp_path, "7f3c0000")
    path.write_text(path.read_text().replace('"hpc"', '"other"'))
    assert _code("7f3c", tmp_path) == "TUN-2302"


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        save_plan(PoolPlan("i", "t", "p"), tmp_path / "file" / "plan.json")
    assert caught.value.problems[0].code == "TUN-1040"
    directory = tmp_path / "directory.json"
    directory.mkdir()
    with pytest.raises(InputError):
        save_plan(PoolPlan("i", "t", "p"), directory)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["directory.json", "file"]
