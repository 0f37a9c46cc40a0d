"""The documentation of every module says what the module takes."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.tunectl.node.plugins.module_utils.generation_actions import ACTIONS
from ansible_collections.tunectl.node.plugins.modules.node_generation import ARGUMENTS
from support.plays import REPOSITORY

MODULES = sorted((REPOSITORY / "plugins/modules").glob("*.py"))
KINDS = {"str", "bool", "int", "path", "list", "dict", "raw"}


def constant(path: Path, name: str) -> str:
    """Return a text constant of a Python file without importing it."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == [name]:
            return str(ast.literal_eval(node.value))
    raise AssertionError(f"{path.name} has no {name}")


def taken_by_action(name: str) -> set[str] | None:
    """Return the arguments that the action plugin of that name names as all it takes."""
    path = REPOSITORY / "plugins/action" / f"{name}.py"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and [getattr(target, "id", "") for target in node.targets] == ["_VALID_ARGS"]:
            assert isinstance(node.value, ast.Call)
            return set(ast.literal_eval(node.value.args[0]))
    return None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_is_documented_in_full(path: Path) -> None:
    document = yaml.safe_load(constant(path, "DOCUMENTATION"))
    assert document["module"] == path.stem
    assert document["short_description"][-1] != "."
    assert {"check_mode", "diff_mode"} <= set(document["attributes"])
    for option in document["options"].values():
        assert option["type"] in KINDS
        assert option["description"]
        assert not (option.get("required") and "default" in option)
    taken = taken_by_action(path.stem)
    assert taken is None or taken == set(document["options"])
    for task in yaml.safe_load(constant(path, "EXAMPLES")):
        assert task["name"][0].isupper()
    assert any(f"tunectl.node.{path.stem}" in task for task in yaml.safe_load(constant(path, "EXAMPLES")))
    for value in yaml.safe_load(constant(path, "RETURN")).values():
        assert value["type"] in {*KINDS, "float"}
        assert value["description"]
        assert value["returned"]


def compare(options: dict[str, Any], spec: dict[str, Any]) -> None:
    assert set(options) == set(spec)
    for name, option in options.items():
        for key in ("type", "default", "choices", "elements", "required"):
            assert option.get(key) == spec[name].get(key), (name, key)
        if "suboptions" in option:
            compare(option["suboptions"], spec[name]["options"])


def test_the_transaction_module_takes_exactly_what_it_documents() -> None:
    path = REPOSITORY / "plugins/modules/node_generation.py"
    compare(yaml.safe_load(constant(path, "DOCUMENTATION"))["options"], ARGUMENTS)


def test_the_module_takes_every_action_that_a_plan_can_have() -> None:
    schema = json.loads((REPOSITORY / "schemas/v1alpha1/plan.json").read_text(encoding="utf-8"))
    document = yaml.safe_load(constant(REPOSITORY / "plugins/modules/node_generation.py", "DOCUMENTATION"))
    assert set(document["options"]["actions"]["choices"]) == set(ACTIONS)
    assert set(ARGUMENTS["actions"]["choices"]) == set(ACTIONS)
    found = [one for one in _enums(schema) if "kubelet-restart" in one]
    assert [set(one) for one in found] == [set(ACTIONS)]


def _enums(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, dict):
        if isinstance(value.get("enum"), list):
            yield value["enum"]
        for one in value.values():
            yield from _enums(one)
    elif isinstance(value, list):
        for one in value:
            yield from _enums(one)
