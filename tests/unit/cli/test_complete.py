"""Completion: names from files, nothing contacted, never an error."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tunectl.cli import complete
from tunectl.cli.main import cli


def _items(completer: object, incomplete: str, **params: object) -> list[str]:
    ctx = click.Context(click.Command("x"))
    ctx.params.update(params)
    return [item.value for item in completer(ctx, click.Option(["--x"]), incomplete)]  # type: ignore[operator]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TUNECTL_INVENTORY", raising=False)


def test_tiers_are_those_built_in_and_ones_own(tmp_path: Path) -> None:
    (tmp_path / "tiers").mkdir()
    (tmp_path / "tiers" / "hpc-mine.yaml").write_text("x")
    assert _items(complete.tiers, "hpc-m") == ["hpc-massive", "hpc-mine"]


def test_nodes_of_a_yaml_inventory(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text("all: {hosts: {w0: }, children: {hpc: {hosts: {w1: {}, w2: }}, empty: }}\n")
    assert _items(complete.nodes, "w", inventory=path) == ["w0", "w1", "w2"]


def test_nodes_of_an_ini_inventory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text("# c\nw0\n[hpc]\nw1 ansible_host=192.0.2.1\nw2\n[hpc:vars]\nwhat=ever\n[all:children]\nwrong\n")
    monkeypatch.setenv("TUNECTL_INVENTORY", str(path))
    assert _items(complete.nodes, "w") == ["w0", "w1", "w2"]


def test_nodes_of_the_folders_own_inventory(tmp_path: Path) -> None:
    (tmp_path / "inventories").mkdir()
    (tmp_path / "inventories" / "hosts").write_text("n1\n")
    assert _items(complete.nodes, "") == ["n1"]


@pytest.mark.parametrize("text", ["all: [", "- 1", ""])
def test_a_broken_inventory_completes_nothing(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text(text)
    assert _items(complete.nodes, "", inventory=path) == []


def test_no_inventory_completes_nothing() -> None:
    assert _items(complete.nodes, "") == []


def test_plans_checks_and_words(tmp_path: Path) -> None:
    (tmp_path / ".tunectl" / "plans").mkdir(parents=True)
    (tmp_path / ".tunectl" / "plans" / "7f3c0000.json").write_text("{}")
    assert _items(complete.plans, "7") == ["7f3c0000"]
    assert "cpu.siblings.split" in _items(complete.checks, "cpu.")
    assert _items(complete.words, "TUN-2103") == ["TUN-2103"]


def test_commands_offer_them() -> None:
    verify = cli.get_command(click.Context(cli), "verify")
    assert verify is not None
    options = {option.name: option for option in verify.params}
    found = options["tier"].shell_complete(click.Context(verify), "hpc-s")
    assert [item.value for item in found] == ["hpc-standard"]
