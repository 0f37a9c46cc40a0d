"""The command line of audit and of render --workload: formats, exit codes, standard input, diffs that apply."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from tunectl.cli.main import run

_APP = """\
# keep me
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      - name: main
        command: [taskset, -c, 0-3, ./app]
        resources:
          limits: {cpu: 2500m, memory: 1Gi}   # half a CPU too much
"""
_PINNED = ("--tier", "latency-sensitive", "--topology", "2s8c1t")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a manifest, and one in a directory."""
    (tmp_path / "app.yaml").write_text(_APP)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "pod.yml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}"
    )
    (tmp_path / "more" / "crd.yaml").write_text("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n")
    with chdir(tmp_path):
        yield tmp_path


def _json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_directories_and_unknown_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "more", "app.yaml", "-o", "json"]) == 3
    document = _json(capsys)
    assert [item["workload"] for item in document["items"]] == ["Pod/p", "Deployment/app"]
    assert document["summary"]["skippedObjects"] == ["Gadget/g"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(_APP.encode())))
    assert run(["audit", "-", "-o", "sarif"]) == 3
    for result in _json(capsys)["runs"][0]["results"]:
        assert "physicalLocation" not in result["locations"][0]


@pytest.mark.parametrize(("level", "code"), [("critical", 0), ("warning", 3), ("info", 3)])
def test_fail_on(level: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "app.yaml", "--fail-on", level, "-o", "json"]) == code
    assert _json(capsys)["summary"]["failOn"] == level


def test_containers_are_told_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    run(["audit", "app.yaml", "--node-memory", "16Gi", "-o", "json"])
    document = _json(capsys)
    assert document["summary"]["nodeMemoryBytes"] == 16 * 2**30
    assert document["items"][0]["containers"] == [
        {
            "name": "main",
            "kind": "app",
            "exclusiveCpus": 0,
            "whyShared": "2500m is not a whole number of CPUs",
            "oomScoreAdj": -997,
            "culprits": [],
            "requests": {"cpu": "2500m", "memory": "1Gi"},
            "limits": {"cpu": "2500m", "memory": "1Gi"},
        }
    ]


def test_every_finding_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    run(["audit", "app.yaml", *_PINNED, "-o", "json"])
    lines = _APP.splitlines()
    findings = {one["check"]: one for item in _json(capsys)["items"] for one in item["findings"]}
    assert "2500m" in lines[findings["pod.cpu.not-whole"]["writtenIn"]["line"] - 1]
    assert "taskset" in lines[findings["pod.args.fixed-cpus"]["writtenIn"]["line"] - 1]
    assert lines[findings["pod.selector.missing"]["writtenIn"]["line"] - 1] == "    spec:"


def test_a_topology_alone_gives_the_memory(capsys: pytest.CaptureFixture[str]) -> None:
    run(["audit", "app.yaml", "--topology", "2s8c1t", "-o", "json"])
    document = _json(capsys)
    assert (document["summary"]["nodeMemoryBytes"], document["summary"]["tiers"]) == (64 * 2**30, [])


def test_junit_has_a_suite_for_each_workload(capsys: pytest.CaptureFixture[str]) -> None:
    run(["audit", "app.yaml", "more", "-o", "junit"])
    root = ET.fromstring(capsys.readouterr().out)  # noqa: S314  written just now
    assert [suite.get("name") for suite in root] == ["Deployment/app", "Pod/p"]
    failed = {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None}
    assert {"pod.args.fixed-cpus", "pod.qos.best-effort"} <= failed


def test_the_diff_applies_and_mends(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["audit", "app.yaml", *_PINNED, "--fix"])
    out, err = capsys.readouterr()
    assert (folder / "app.yaml").read_text() == _APP  # nothing is written
    subprocess.run(["git", "apply", "-"], input=out.encode(), cwd=folder, check=True)
    mended = (folder / "app.yaml").read_text()
    assert {"# keep me", "# half a CPU too much"} <= {line[line.find("#") :] for line in mended.splitlines()}
    spec = yaml.safe_load(mended)["spec"]["template"]["spec"]
    assert spec["containers"][0]["resources"]["limits"]["cpu"] in (3, "3")
    assert "app.yaml:12:32  pod.args.fixed-cpus" in err
    assert run(["audit", "app.yaml", *_PINNED, "-o", "json"]) == 3
    checks = {one["check"] for item in _json(capsys)["items"] for one in item["findings"] if one["level"] != "info"}
    assert checks == {"pod.args.fixed-cpus"}


def test_the_diff_of_a_file_without_a_last_line_end_applies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "more" / "pod.yml"
    run(["audit", str(path.relative_to(folder)), *_PINNED, "--fix"])
    out = capsys.readouterr().out
    assert "No newline at end of file" in out
    subprocess.run(["git", "apply", "-"], input=out.encode(), cwd=folder, check=True)
    assert yaml.safe_load(path.read_text())["spec"]["nodeSelector"] == {"pool": "latency-sensitive"}


def test_a_failure_is_one_document_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "nowhere.yaml", "-o", "sarif"]) == 2
    assert _json(capsys)["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert run(["audit", "more/crd.yaml", "-o", "json"]) == 2
    assert _json(capsys)["errors"][0]["code"] == "TUN-1804"


def test_workloads_are_rendered_as_a_patch_and_merged(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["render", "--workload", "app.yaml", "--tier", "latency-sensitive"]) == 0
    (patch,) = yaml.safe_load_all(capsys.readouterr().out)
    assert patch["metadata"] == {"name": "app"}
    assert patch["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "latency-sensitive"}
    assert "containers" not in patch["spec"]["template"]["spec"]
    assert run(["render", "--workload", "app.yaml", "--tier", "latency-sensitive", "-o", "yaml"]) == 0
    merged = capsys.readouterr().out
    assert "# half a CPU too much" in merged
    assert yaml.safe_load(merged)["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "latency-sensitive"}


def test_a_workload_has_no_directory_of_files(folder: Path) -> None:
    assert run(["render", "--workload", "app.yaml", "--tier", "latency-sensitive", "-o", f"dir={folder / 'x'}"]) == 2
    assert run(["render", "--workload", "app.yaml", "--tier", "shared", "-o", "yaml=merged.yaml"]) == 0
    assert (folder / "merged.yaml").read_text().startswith("# keep me")
