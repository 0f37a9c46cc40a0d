"""Inventories as Ansible reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunectl.adapters.inventory import inventory_groups
from tunectl.core.errors import InputError

pytestmark = pytest.mark.ansible


def test_groups_with_their_children(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yaml"
    path.write_text("all: {children: {hpc: {children: {big: {hosts: {a: , b: }}}, hosts: {c: }}}, hosts: {d: }}")
    groups = inventory_groups(path)
    assert groups["hpc"] == ["c", "a", "b"]
    assert groups["big"] == ["a", "b"]
    assert groups["ungrouped"] == ["d"]


@pytest.mark.parametrize("text", [None, "all: [", "[hpc\nx"])
def test_an_inventory_that_cannot_be_read_is_named(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "hosts.ini"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        inventory_groups(path)
    (one,) = caught.value.problems
    assert (one.code, one.where) == ("TUN-1030", str(path))
    assert one.why
    assert "\n" not in one.why
