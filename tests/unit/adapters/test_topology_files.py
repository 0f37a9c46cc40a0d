"""Machines that are named or described: shipped ones, shapes, files; and files that describe none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tunectl.adapters.topology_files import load_topology
from tunectl.core.errors import InputError
from tunectl.lab.machines import machine_names, machines_directory, parse_shape


@pytest.mark.parametrize("name", machine_names())
def test_shipped_machines_by_name_and_by_file(name: str) -> None:
    topology = load_topology(name)
    assert topology.online
    assert load_topology(str(machines_directory() / f"{name}.json")) == topology


def test_shapes() -> None:
    topology = load_topology("2s4c2t4n")
    assert (len(topology.online), len(topology.numa_nodes), len(topology.sockets)) == (16, 4, 2)


def test_a_file_with_a_row_a_cpu(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text(json.dumps(parse_shape("1s2c2t")))
    assert load_topology(str(file)) == load_topology("1s2c2t")


def test_a_file_that_is_called_like_a_shape_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("2s4c2t").write_text(json.dumps(parse_shape("1s2c2t")))
    assert len(load_topology("2s4c2t").online) == 4


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"cpus": 3}', '{"layout": {}}', '{"name": "x"}', '"\\ud800"'])
def test_files_that_describe_no_machine(text: str, tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_topology(str(file))
    (one,) = caught.value.problems
    assert (one.code, one.where) == ("TUN-1805", str(file))


@pytest.mark.parametrize(("reference", "code"), [("nowhere.json", "TUN-1805"), ("2s4c", "TUN-1601"), (".", "TUN-1805")])
def test_references_to_nothing(reference: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        load_topology(reference)
    assert caught.value.problems[0].code == code


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError):
        load_topology(str(file))
