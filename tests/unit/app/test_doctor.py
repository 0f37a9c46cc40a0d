"""Doctor: what is missing is named, with what to do; nothing is changed by looking."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tunectl.app.doctor import Surroundings, examine
from tunectl.core.errors import InputError, problem
from tunectl.core.findings import Finding, Verdict


def _groups(_path: Path) -> Mapping[str, list[str]]:
    return {"hpc": ["a", "b"], "other": ["b"], "empty": []}


def _examine(folder: Path, **changes: object) -> dict[str, Finding]:
    values: dict[str, object] = {"folder": folder, "inventory": None, "hosts": _groups, "path": "/usr/bin:/bin"}
    around = Surroundings(**(values | changes))  # type: ignore[arg-type]
    return {finding.id: finding for finding in examine(around)}


def test_a_good_computer(tmp_path: Path) -> None:
    findings = _examine(tmp_path, inventory=tmp_path / "hosts")
    for check in ("controller.python", "controller.ansible", "controller.collection", "controller.folder"):
        assert findings[check].verdict is Verdict.PASS, findings[check]
    assert findings["controller.inventory"].message.endswith("has 2 nodes")
    assert list(tmp_path.iterdir()) == []


def test_an_old_python_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 10, 0, "final", 0))
    finding = _examine(tmp_path)["controller.python"]
    assert (finding.verdict, finding.expected) == (Verdict.FAIL, ">= 3.11")


@pytest.mark.parametrize(
    ("version", "verdict"), [("2.18.9", Verdict.FAIL), ("2.19.0rc1", Verdict.PASS), ("3.0", Verdict.PASS)]
)
def test_the_version_of_ansible(
    version: str, verdict: Verdict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tunectl.app.doctor.installed_version", lambda _name: version)
    finding = _examine(tmp_path)["controller.ansible"]
    assert finding.verdict is verdict
    assert bool(finding.remedy) is (verdict is Verdict.FAIL)


def test_a_missing_ssh_is_unknown_and_a_missing_ansible_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    findings = _examine(tmp_path, path=str(tmp_path))
    assert findings["controller.program.ssh"].verdict is Verdict.UNKNOWN
    assert findings["controller.program.ansible-playbook"].verdict is Verdict.FAIL


def test_a_file_where_the_state_belongs_fails(tmp_path: Path) -> None:
    (tmp_path / ".tunectl").write_text("")
    assert _examine(tmp_path)["controller.folder"].verdict is Verdict.FAIL


def test_an_unreadable_inventory_fails_with_the_reason(tmp_path: Path) -> None:
    def refuse(path: Path) -> Mapping[str, list[str]]:
        raise InputError((problem("TUN-1030", "the inventory cannot be read", where=str(path), why="line 3", fix="x"),))

    finding = _examine(tmp_path, inventory=tmp_path / "hosts", hosts=refuse)["controller.inventory"]
    assert (finding.verdict, finding.actual) == (Verdict.FAIL, "line 3")


def test_no_inventory_is_not_a_failure(tmp_path: Path) -> None:
    assert _examine(tmp_path)["controller.inventory"].verdict is Verdict.NOT_APPLICABLE


def test_an_empty_inventory_fails(tmp_path: Path) -> None:
    finding = _examine(tmp_path, inventory=tmp_path / "hosts", hosts=lambda _path: {})["controller.inventory"]
    assert finding.verdict is Verdict.FAIL
