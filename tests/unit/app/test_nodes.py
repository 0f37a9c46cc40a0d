"""Where snapshots come from: files win over nodes, and nobody is read by mistake."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tunectl.app.nodes import Selection, read_nodes
from tunectl.core.errors import InputError
from tunectl.core.snapshot import Snapshot
from tunectl.ports import NodeReader, OnEvent

_A, _B = Snapshot("worker-a", {}), Snapshot("worker-b", {})


class _Reader:
    def snapshots(self, pool: str | None, patterns: Sequence[str], on_event: OnEvent | None = None) -> list[Snapshot]:
        del on_event
        assert (pool, list(patterns)) == ("hpc", ["worker-*"])
        return [_B]


def _no_reader() -> NodeReader:
    raise AssertionError("a saved snapshot needs no node")


def _load(path: Path) -> list[Snapshot]:
    return {"one": [_A], "two": [_B], "both": [_A, _B]}[path.name]


def test_without_files_the_nodes_are_read() -> None:
    assert read_nodes(Selection(pool="hpc", patterns=("worker-*",)), _load, _Reader) == [_B]


def test_files_are_read_in_order_and_no_node_is_contacted() -> None:
    assert read_nodes(Selection((Path("two"), Path("one"))), _load, _no_reader) == [_B, _A]


def test_patterns_choose_among_the_snapshots() -> None:
    assert read_nodes(Selection((Path("both"),), patterns=("*-b",)), _load, _no_reader) == [_B]


@pytest.mark.parametrize(
    ("selection", "code"),
    [
        (Selection((Path("one"), Path("both"))), "TUN-1011"),
        (Selection((Path("both"),), patterns=("worker-a", "worker-c")), "TUN-1010"),
    ],
)
def test_what_is_refused(selection: Selection, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_nodes(selection, _load, _no_reader)
    assert caught.value.problems[0].code == code
