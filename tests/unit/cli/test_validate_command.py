"""`tunectl validate` as its users meet it: what it says, where it points, how it exits."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from support.labs import node_tree

from tunectl.cli.main import run
from tunectl.core.check_catalogue import CHECKS

Capture = pytest.CaptureFixture[str]
HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
STATIC = HEAD + 'cpuManagerPolicy: static\nreservedSystemCPUs: "0,8"\n'
# Written by the kubelet on 16 CPUs, cores of CPUs n and n+8, with 0 and 8 reserved and one pod of four CPUs.
STATE = '{"policyName":"static","defaultCpuSet":"0,3-8,11-15","entries":{"pod-1":{"app":"1-2,9-10"}},"checksum":0}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("TUNECTL_INVENTORY", raising=False)
    return tmp_path


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def document(capsys: Capture, *args: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = run(["validate", *args, "-o", "json"])
    return code, dict(json.loads(capsys.readouterr().out))


def failed(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {item["check"]: item for item in found["items"] if item["verdict"] == "fail"}


def place(item: dict[str, Any]) -> tuple[str, int, int]:
    asked = item["askedIn"]
    return (Path(asked["file"]).name, asked["line"], asked["column"])


def test_a_good_file_on_a_machine_starts(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", STATIC)
    assert run(["validate", "k.yaml", "--topology", "1s8c2t"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("✓ 1s8c2t: kubelet 1.36 (upstream) starts\n")
    assert "cpu 14" in said.out
    assert "exit 0" in said.out
    assert said.err == ""


def test_without_a_machine_what_needs_one_is_unknown(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + 'reservedSystemCPUs: "900"\n')
    code, found = document(capsys, "k.yaml")
    assert code == 0
    verdicts = {item["check"]: item["verdict"] for item in found["items"]}
    assert verdicts == {"kubelet.start.invalid": "pass", "kubelet.start.machine": "unknown"}
    code, found = document(capsys, "k.yaml", "--topology", "1s8c2t")
    assert code == 3
    assert found["summary"]["kubelets"][0]["stage"] == "startup"


def test_the_line_at_fault_and_the_fix_are_named(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + "topologyManagerPolicy: single-numa\nevictionSoft:\n  memory.available: 1Gi\n")
    code, found = document(capsys, "k.yaml", "--topology", "1s8c2t")
    item = failed(found)["kubelet.start.invalid"]
    assert (code, found["status"], found["summary"]["starts"]) == (3, "differs", False)
    assert place(item) == ("k.yaml", 3, 24)
    assert "single-numa-node" in item["fix"]
    write(folder, "k.yaml", HEAD + "evictionSoft:\n  memory.available: 1Gi\n")
    item = failed(document(capsys, "k.yaml", "--topology", "1s8c2t")[1])["kubelet.start.machine"]
    assert place(item) == ("k.yaml", 4, 21)
    assert "evictionSoftGracePeriod" in item["fix"]


def test_an_ignored_field_names_the_nearest_and_the_release_that_has_it(folder: Path, capsys: Capture) -> None:
    text = HEAD + "cpuManagerPolice: static\nCPUManagerPolicy: static\nmemorySwap: {swapBehaviour: NoSwap}\n"
    write(folder, "k.yaml", text + "failCgroupV1: false\n")
    code, found = document(capsys, "k.yaml", "--kubelet-version", "1.30")
    ignored = {item["field"]: item["fix"] for item in found["items"] if item["check"] == "kubelet.config.ignored"}
    assert code == 0
    assert ignored == {
        "cpuManagerPolice": "write cpuManagerPolicy",
        "CPUManagerPolicy": "write cpuManagerPolicy",
        "memorySwap.swapBehaviour": "write swapBehavior",
        "failCgroupV1": "remove failCgroupV1: kubelet 1.31 is the first that has it",
    }


def test_drop_ins_are_merged_and_blamed(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + "maxPods: 10\n")
    write(folder, "d/20-b.conf", HEAD + "oomScoreAdj: -5000\n")
    write(folder, "d/10-a/x.conf", HEAD + "maxPods: 20\n")
    write(folder, "d/30-c.yaml", "no: [yaml")
    code, found = document(capsys, "k.yaml", "--drop-in", "d")
    assert code == 3
    assert place(failed(found)["kubelet.start.invalid"]) == ("20-b.conf", 3, 14)
    write(folder, "d/20-b.conf", "")
    item = failed(document(capsys, "k.yaml", "--drop-in", "d")[1])["kubelet.start.load"]
    assert place(item)[0] == "20-b.conf"
    assert "empty" in item["message"]


def test_flags_that_beat_files_are_told_with_the_line_that_they_beat(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", STATIC + "kubeReserved:\n  memory: 1Gi\n")
    flags = "--cpu-manager-policy=none --kube-reserved=cpu=1 --max-pods=5"
    code, found = document(capsys, "k.yaml", "--topology", "1s8c2t", "--flags", flags)
    beaten = [item for item in found["items"] if item["check"] == "kubelet.flag.wins"]
    assert code == 0
    assert [(place(item), item["field"]) for item in beaten] == [
        (("k.yaml", 3, 19), "cpuManagerPolicy"),
        (("k.yaml", 5, 1), "kubeReserved"),
    ]
    assert "--cpu-manager-policy" in beaten[0]["fix"]
    code, found = document(capsys, "k.yaml", "--flags", "--max-pods=many")
    assert "--max-pods=many" in failed(found)["kubelet.start.load"]["message"]


def test_a_partial_eviction_map_and_a_share_with_static_memory(folder: Path, capsys: Capture) -> None:
    text = HEAD + "memoryManagerPolicy: Static\nevictionHard:\n  memory.available: 5%\n"
    write(folder, "k.yaml", text + "kubeReserved: {memory: 1Gi}\n")
    found = failed(document(capsys, "k.yaml")[1])
    assert place(found["kubelet.eviction.partial"]) == ("k.yaml", 4, 1)
    assert "imagefs.available" in found["kubelet.eviction.partial"]["fix"]
    assert place(found["kubelet.config.eviction-percent"]) == ("k.yaml", 5, 21)


def test_a_stale_checkpoint_is_told_with_the_remedy(folder: Path, capsys: Capture) -> None:
    write(folder, "state/cpu_manager_state", STATE)
    write(folder, "k.yaml", STATIC)
    assert document(capsys, "k.yaml", "--topology", "1s8c2t", "--checkpoints", "state")[0] == 0
    write(folder, "k.yaml", STATIC.replace("0,8", "0-1,8-9"))
    code, found = document(capsys, "k.yaml", "--topology", "1s8c2t", "--checkpoints", "state")
    item = failed(found)["kubelet.start.checkpoint"]
    assert code == 3
    assert "reserved CPUs 1,9" in item["message"]
    assert "delete /var/lib/kubelet/cpu_manager_state" in item["fix"]
    # With other hardware as well.
    write(folder, "k.yaml", STATIC)
    assert document(capsys, "k.yaml", "--topology", "1s16c2t", "--checkpoints", "state")[0] == 3


def test_running_pods_that_would_be_ended(folder: Path, capsys: Capture) -> None:
    write(folder, "state/cpu_manager_state", STATE.replace("1-2,9-10", "1-6,9-14").replace("0,3-8,11-15", "0,7-8,15"))
    write(folder, "k.yaml", STATIC + 'cpuManagerPolicyOptions: {full-pcpus-only: "true"}\n')
    code, found = document(capsys, "k.yaml", "--topology", "1s8c2t", "--checkpoints", "state")
    item = failed(found)["kubelet.start.readmission"]
    assert code == 3
    assert "pod-1: SMTAlignmentError" in item["message"]


def test_gates_by_release_and_flavor(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + "featureGates:\n  MemoryManager: true\n")
    assert document(capsys, "k.yaml", "--kubelet-version", "1.35")[0] == 0
    code, found = document(capsys, "k.yaml", "--kubelet-version", "1.36")
    assert (code, place(failed(found)["kubelet.start.load"])) == (3, ("k.yaml", 4, 18))
    code, found = document(capsys, "k.yaml", "--flavor", "openshift")
    assert (code, list(failed(found))) == (0, ["kubelet.config.gate"])
    # Of releases whose gates are not all known here, nothing is claimed.
    write(folder, "k.yaml", HEAD + "featureGates:\n  Elder: true\n")
    code, found = document(capsys, "k.yaml", "--kubelet-version", "1.29")
    assert (code, failed(found)) == (0, {})
    assert "kubelet.start.load" in {item["check"] for item in found["items"] if item["verdict"] == "unknown"}


def test_keys_that_stand_twice(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + "maxPods: 1\nmaxPods: 2\n")
    code, found = document(capsys, "k.yaml")
    assert (code, place(failed(found)["kubelet.config.twice"])) == (0, ("k.yaml", 4, 10))


@pytest.mark.parametrize("text", ["", "\t", "a: [\n", "{", "- a\n", "---\na: 1\n---\nb: 2\n", "kind: Deployment\n"])
def test_what_is_no_configuration_does_not_start(text: str, folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", text)
    code, found = document(capsys, "k.yaml")
    assert (code, list(failed(found))) == (3, ["kubelet.start.load"])


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("nowhere.yaml",), "TUN-1810"),
        ((".",), "TUN-1810"),
        (("binary",), "TUN-1810"),
        (("k.yaml", "--drop-in", "nowhere"), "TUN-1810"),
        (("k.yaml", "--checkpoints", "."), "TUN-1810"),
        (("k.yaml", "--kubelet-version", "1.12"), "TUN-1811"),
        (("k.yaml", "--kubelet-version", "new"), "TUN-1811"),
        (("k.yaml", "--flags", "--a='"), "TUN-1812"),
        (("k.yaml", "--tier", "batch"), "TUN-1813"),
        (("k.yaml", "--topology", "nothing.json"), "TUN-1805"),
    ],
)
def test_what_cannot_be_read(args: tuple[str, ...], error: str, folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", STATIC)
    (folder / "binary").write_bytes(b"\xff\xfe\x00")
    code, found = document(capsys, *args)
    assert (code, found["errors"][0]["code"]) == (2, error)


def test_standard_input(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with write(folder, "k.yaml", HEAD + "maxPods: -1\n").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        code, found = document(capsys, "-")
    assert (code, place(failed(found)["kubelet.start.invalid"])) == (3, ("<stdin>", 3, 10))


def test_a_tier_on_a_described_machine(folder: Path, capsys: Capture) -> None:
    del folder
    code, found = document(capsys, "--tier", "hpc-standard", "--topology", "2s32c2t", "--kubelet-version", "1.31")
    assert (code, found["summary"]["kubelets"][0]["version"]) == (0, "1.31")
    tight = ("--tier", "hpc-standard", "--topology", "1s2c1t", "--set", 'kubelet.system_reserved={"cpu": "9"}')
    code, found = document(capsys, *tight)
    assert code == 3
    assert any(check.startswith("kubelet.") for check in failed(found))


def test_a_node_with_its_own_files(folder: Path, capsys: Capture) -> None:
    node_tree(folder / "n1", "2s4c2t", "debian13")
    code, found = document(capsys, "--snapshot", "n1")
    assert (code, found["simulated"], found["summary"]["kubelets"][0]["name"]) == (0, True, "n1")
    dropin = folder / "n1/etc/kubernetes/kubelet.conf.d/10-mine.conf"
    dropin.write_text(HEAD + "cpuManagerPolicy: static\nreservedSystemCPUs: '0'\n")
    code, found = document(capsys, "--snapshot", "n1")
    assert (code, list(failed(found))) == (3, ["kubelet.start.checkpoint"])
    code, found = document(capsys, "--snapshot", "n1", "--tier", "batch")
    assert found["summary"]["kubelets"][0]["onMachine"] is True


def test_junit_has_a_case_for_each_finding(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + "maxPods: -1\ncpuManagerPolice: x\n")
    assert run(["validate", "k.yaml", "-o", "junit"]) == 3
    suite = ET.fromstring(capsys.readouterr().out)  # noqa: S314  our own output
    assert {case.get("name") for case in suite.iter("testcase")} == {
        "kubelet.start.invalid",
        "kubelet.config.ignored",
    }


def test_every_check_is_explained(folder: Path, capsys: Capture) -> None:
    write(folder, "k.yaml", HEAD + "maxPods: -1\ncpuManagerPolice: x\nmaxPods: -2\n")
    _code, found = document(capsys, "k.yaml", "--flags", "--max-pods=-3")
    assert {item["check"] for item in found["items"]} <= set(CHECKS)
    assert len(found["items"]) >= 4
