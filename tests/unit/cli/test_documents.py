"""Every command, whether it succeeds or fails, leaves exactly one document on stdout, and it validates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from support.labs import node_tree, snapshot_of

from tunectl.adapters.snapshot_files import save_snapshots
from tunectl.cli.commands import COMMANDS
from tunectl.cli.main import run
from tunectl.planning.paths import schemas_dir

_SCHEMAS = {path.stem: json.loads(path.read_text()) for path in (schemas_dir() / "v1alpha1").glob("*.json")}
_REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in _SCHEMAS.values()
)
_BY_KIND = {"Report": "report", "PlanReport": "plan-report", "Simulation": "simulation"}

_SNAPSHOT = ("--snapshot", "node.json")
_TIER = ("--tier", "hpc-standard")

_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 2, memory: 1Gi}}}]}
"""

# Arguments, exit code, kind of the document.
_CASES: list[tuple[tuple[str, ...], int, str]] = [
    (("version",), 0, "Version"),
    (("version", "--nonsense"), 2, "Version"),
    (("doctor",), 0, "Doctor"),
    (("doctor", "--settings"), 0, "Doctor"),
    (("doctor", "-i", "nowhere.yaml"), 3, "Doctor"),
    (("explain", "TUN-2103"), 0, "Explanation"),
    (("explain", "qqqqqq"), 2, "Explanation"),
    (("inspect", *_SNAPSHOT), 0, "Inventory"),
    (("inspect", "--snapshot", "nowhere.json"), 2, "Inventory"),
    (("inspect", "other", *_SNAPSHOT), 2, "Inventory"),
    (("plan", *_TIER, *_SNAPSHOT), 0, "PlanReport"),
    (("plan", *_TIER, *_SNAPSHOT, "--detailed-exitcode"), 3, "PlanReport"),
    (("plan", *_TIER, *_SNAPSHOT, "--max-impact", "live"), 4, "PlanReport"),
    (("plan", *_TIER, *_SNAPSHOT, "--set", "cpu.nonsense=1"), 2, "PlanReport"),
    (("plan", *_TIER, *_SNAPSHOT, "--out", "node.json/plan.json"), 2, "PlanReport"),
    (
        ("plan", "--tier", "hpc-massive", *_SNAPSHOT, "--set", "cpu.isolated=51-999", "--set", "cpu.otherwise=null"),
        4,
        "PlanReport",
    ),
    (("plan", *_SNAPSHOT), 2, "PlanReport"),
    (("plan", "--tier", "nosuch", *_SNAPSHOT), 2, "PlanReport"),
    (("verify", *_TIER, *_SNAPSHOT), 3, "Report"),
    (("verify", *_TIER, *_SNAPSHOT, "--check", "cpuu.*"), 2, "Report"),
    (("verify", "--tier", "hpc-massive", *_SNAPSHOT, "--check", "cpu.*"), 0, "Report"),
    (("verify", *_TIER, *_SNAPSHOT, "--baseline", "node.json"), 2, "Report"),
    (("verify", *_TIER, *_SNAPSHOT, "--level", "nonsense"), 2, "Report"),
    (("simulate", *_TIER, *_SNAPSHOT, "--pods", "pod.yaml"), 0, "Simulation"),
    (("simulate", *_TIER, *_SNAPSHOT, "--pods", "nowhere.yaml"), 2, "Simulation"),
    (("simulate", *_TIER, *_SNAPSHOT, "--pods", "pod.yaml", "--fill"), 3, "Simulation"),
    (("simulate", *_TIER, *_SNAPSHOT, "--pods", "pod.yaml", "--restart", "--compare", "batch"), 0, "Simulation"),
    (("simulate", *_TIER, *_SNAPSHOT, "--restart"), 3, "Simulation"),
    (("simulate", *_TIER, "--topology", "2s32c2t", "--pods", "pod.yaml"), 0, "Simulation"),
    (("simulate", *_TIER, "--topology", "2s32c2t", "--restart"), 2, "Simulation"),
    (("validate", *_SNAPSHOT), 0, "Validation"),
    (("validate", "kubelet.yaml"), 3, "Validation"),
    (("validate", "nowhere.yaml"), 2, "Validation"),
    (("audit", "pod.yaml"), 0, "Audit"),
    (("audit", "pod.yaml", *_TIER, *_SNAPSHOT), 0, "Audit"),
    (("audit", "pod.yaml", "--tier", "latency-sensitive", *_SNAPSHOT), 3, "Audit"),
    (("audit", "pod.yaml", *_TIER, "--fail-on", "critical", "--fix"), 0, "Audit"),
    (("audit", "nowhere.yaml"), 2, "Audit"),
    (("audit", "pod.yaml", "--with", "batch"), 2, "Audit"),
    (("audit", "pod.yaml", "--node-memory", "much"), 2, "Audit"),
    (("audit",), 2, "Audit"),
    (("render", *_TIER, *_SNAPSHOT), 0, "Manifests"),
    (("render", *_TIER, "--workload", "pod.yaml"), 0, "Manifests"),
    (("render", *_TIER, "--workload", "nowhere.yaml"), 2, "Manifests"),
    (("render", "--tier", "nosuch", *_SNAPSHOT), 2, "Manifests"),
    (("snapshot", "show", "node.json"), 0, "SnapshotList"),
    (("snapshot", "show", "nowhere.json"), 2, "SnapshotList"),
    (("snapshot", "diff", "node.json", "node.json"), 0, "SnapshotDifference"),
    (("tier", "list"), 0, "TierList"),
    (("tier", "show", "hpc-massive"), 0, "Tier"),
    (("tier", "show", "nosuch"), 2, "Tier"),
    (("tier", "check", "broken.yaml"), 2, "TierCheck"),
    (("tier", "diff", "hpc-massive", "hpc-standard"), 3, "TierDifference"),
    (("tier", "new", "hpc-massive/x"), 2, "TierFile"),
    (("apply",), 2, "Run"),
    (("apply", "nosuch"), 2, "Run"),
    (("rollback", "99"), 2, "Run"),
    (("rollback", "x"), 2, "Run"),
    (("history",), 0, "History"),
    (("history", "99"), 2, "History"),
    (("status", *_SNAPSHOT), 0, "Status"),
    (("status", "--snapshot", "nowhere.json"), 2, "Status"),
    (("bootstrap", "preflight"), 2, "Preflight"),
    (("bootstrap", "kubeadm", "--from", "verify", "--until", "runtime"), 2, "Run"),
    (("bootstrap", "openshift", "--tier", "hpc-massive", "--install-dir", "nowhere"), 4, "Manifests"),
    (("lab", "list"), 0, "LabList"),
    (("lab", "machines"), 0, "MachineList"),
    (("lab", "down", "nosuch"), 2, "Lab"),
    (("completion", "tcsh"), 2, "Completion"),
    (("schema", "nosuch"), 2, "Schema"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a snapshot of a simulated node and a tier file with mistakes."""
    here = tmp_path_factory.mktemp("folder")
    save_snapshots(here / "node.json", [snapshot_of(node_tree(here / "tree" / "node-1", "2s4c2t"))])
    (here / "broken.yaml").write_text("apiVersion: tunectl.io/v1alpha1\nkind: Tier\nname: broken\nnonsense: 1\n")
    (here / "pod.yaml").write_text(_POD)
    (here / "kubelet.yaml").write_text("maxPods: 5\n")
    with chdir(here):
        yield here


def _faults(document: Any, schema: str) -> list[str]:
    validator = Draft202012Validator(_SCHEMAS[schema], registry=_REGISTRY)
    return [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(document)]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("args", "code", "kind"), _CASES, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_one_valid_document(args: tuple[str, ...], code: int, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    got = run([*args, "-o", "json"])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert _faults(document, "envelope") == []
    assert _faults(document, _BY_KIND.get(kind, "envelope")) == []
    assert (got, document["exitCode"], document["kind"]) == (code, code, kind), err
    assert "Traceback" not in err
    if code in (1, 2, 4):
        assert document["errors"] or document["summary"].get("blocked"), document


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("args", [("verify", *_TIER, *_SNAPSHOT), ("plan", *_TIER, *_SNAPSHOT)], ids=" ".join)
def test_yaml_is_the_same_document(args: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    import yaml  # noqa: PLC0415  only here

    run([*args, "-o", "json", "-q"])
    first = json.loads(capsys.readouterr().out)
    run([*args, "-o", "yaml", "-q"])
    second = yaml.safe_load(capsys.readouterr().out)
    for volatile in ("startedAt", "duration_s"):
        first.pop(volatile)
        second.pop(volatile)
    assert first == second


def test_every_command_is_covered() -> None:
    assert {args[0] for args, _, _ in _CASES} == {entry.name for entry in COMMANDS}


@pytest.mark.parametrize("name", sorted(_SCHEMAS))
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(_SCHEMAS[name])
    assert _SCHEMAS[name]["$id"].endswith(f"/{name}.json")
