"""The configuration that the real kubelet made of main file, drop-ins and flags is the one that is observed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.oracles import missing, oracle_dir, oracle_files

from tunectl.core.kubelet.config_merge import UNKNOWN_GATE, MergedConfig, merge_config
from tunectl.core.kubelet.config_types import FIELDS, Kind
from tunectl.core.kubelet.go_values import go_duration
from tunectl.core.kubelet_command import kubelet_command
from tunectl.core.kubelet_flags import read_flags
from tunectl.core.kubelet_state import KubeletState, configuration_inputs, kubelet_state
from tunectl.core.quantity import parse_quantity
from tunectl.core.snapshot import Snapshot
from tunectl.planning.documents import snapshot_documents

_MAIN = "/var/lib/kubelet/config.yaml"
_DROPINS = "/etc/kubernetes/kubelet.conf.d"
_HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}


def _cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = []
    for path in oracle_files("kubelet-validation", "dropins*.jsonl"):
        cases += [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return cases


_CASES = _cases()
# Whoever only tells the configuration hides nothing behind a gate that is not known.
_TOLD = [case for case in _CASES if case.get("error") != UNKNOWN_GATE]


def _text(document: Any) -> str:
    return document if isinstance(document, str) else json.dumps({**_HEAD, **document})


def _snapshot(case: dict[str, Any]) -> Snapshot:
    words = ["kubelet", f"--config={_MAIN}", f"--config-dir={_DROPINS}", *case.get("flags", ())]
    files = {_MAIN: _text(case["config"]), "/proc/7/comm": "kubelet\n", "/proc/7/cmdline": "\0".join(words) + "\0"}
    listings: dict[str, list[str]] = {_DROPINS: []}
    for name, document in case["dropins"].items():
        path = Path(_DROPINS) / name
        files[str(path)] = _text(document)
        listings.setdefault(str(path.parent), []).append(path.name)
        if str(path.parent) != _DROPINS:
            listings[_DROPINS].append(path.parent.name)
    return Snapshot("n", files, listings={path: tuple(sorted(names)) for path, names in listings.items()})


def _observed(case: dict[str, Any]) -> KubeletState:
    snapshot = _snapshot(case)
    return kubelet_state(snapshot, snapshot_documents(snapshot))


def _merged(case: dict[str, Any]) -> MergedConfig:
    snapshot = _snapshot(case)
    command = kubelet_command(snapshot)
    return merge_config(*configuration_inputs(snapshot, snapshot_documents(snapshot), command), read_flags(command))


def _normal(value: Any, kind: Any) -> Any:
    """Return a value as it counts: nothing for what is empty, durations and quantities as numbers."""
    if value in (None, {}, [], ""):
        return None
    if kind == "duration":
        return go_duration(value)
    if kind == "quantity":
        return parse_quantity(str(value))
    if isinstance(kind, Kind) and kind.name == "list":
        return [_normal(one, kind.item) for one in value]
    if isinstance(kind, Kind):
        return {name: _normal(one, kind.item) for name, one in value.items()}
    return {name: _normal(one, kind[name]) for name, one in value.items()} if isinstance(kind, Mapping) else value


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_files_and_flags_are_merged_as_the_kubelet_does(case: dict[str, Any]) -> None:
    merged = _merged(case)
    assert {reason.rule for reason in merged.reasons} == ({case["error"]} if "error" in case else set())
    for field, value in case.get("effective", {}).items():
        assert _normal(merged.config.get(field), FIELDS[field]) == _normal(value, FIELDS[field]), field


def test_there_are_cases() -> None:
    if not _CASES:
        oracle_dir("kubelet-validation")
        missing("the directory has no dropins*.jsonl")
    assert any("error" in case for case in _CASES)


@pytest.mark.parametrize("case", _TOLD, ids=lambda case: case["id"])
def test_the_effective_configuration(case: dict[str, Any]) -> None:
    state = _observed(case)
    if "error" in case:
        assert state.trouble, case["error"]
        assert not state.config
        return
    assert not state.trouble
    for field, value in case["effective"].items():
        assert _normal(state.config.get(field), FIELDS[field]) == _normal(value, FIELDS[field]), field


@pytest.mark.parametrize("case", [case for case in _CASES if case.get("skipped")], ids=lambda case: case["id"])
def test_skipped_files_are_no_source(case: dict[str, Any]) -> None:
    sources = _observed({**case, "flags": []}).sources.values()
    assert not any(source.endswith(name) for source in sources for name in case["skipped"])


def test_the_source_is_the_file_that_counts() -> None:
    state = _observed(
        {
            "config": {"maxPods": 1, "cpuManagerPolicy": "none"},
            "dropins": {"10-a.conf": {"maxPods": 2}, "20-b.conf": {"maxPods": 3, "reservedSystemCPUs": "0"}},
            "flags": ["--reserved-cpus=1"],
        }
    )
    assert state.sources == {
        "maxPods": f"{_DROPINS}/20-b.conf",
        "cpuManagerPolicy": _MAIN,
        "reservedSystemCPUs": "/proc/7/cmdline",
    }
