"""Whether a kubelet starts on a configuration, where it ends and for which reasons: the real kubelet's verdicts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.kubelet_machines import load_machines
from support.oracles import oracle_dir, oracle_files

from tunectl.core.kubelet.config_decode import path_text
from tunectl.core.kubelet.config_host import HostFacts
from tunectl.core.kubelet.config_judge import Sources, Verdict, judge_config
from tunectl.core.kubelet.config_merge import ConfigFile
from tunectl.core.kubelet.config_start import Kubelet
from tunectl.core.kubelet.node import Flavor

Case = dict[str, Any]
_HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}


def _cases() -> list[Case]:
    files = oracle_files("kubelet-validation", "cases*.jsonl")
    return [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines() if line]


CASES = _cases()


def _judge(case: Case, flavor: Flavor) -> Verdict:
    document: Any = case["config"]
    if isinstance(document, dict):
        document = {name: value for name, value in {**_HEAD, **document}.items() if value != "__absent__"}
    env = case.get("env") or {}
    machine = load_machines(oracle_dir("kubelet-validation"))[case["machine"]][0]
    host = HostFacts(env.get("cgroupVersion", 2), swap_on=bool(env.get("swapOn")))
    return judge_config(Sources(ConfigFile("config.yaml", document)), machine, host, Kubelet(flavor=flavor))


def _answer(verdict: Verdict, case: Case) -> Case:
    if not verdict.starts:
        return {
            "verdict": "reject",
            "stage": verdict.stage,
            "reasons": sorted({reason.rule for reason in verdict.reasons}),
        }
    answer: Case = {"verdict": "accept"}
    if "derived" in case:
        derived = verdict.derived
        answer["derived"] = {"reservation": dict(derived.reservation), "allocatable": dict(derived.allocatable)}
    return answer


def _expected(case: Case) -> Case:
    expected: Case = {name: case[name] for name in ("verdict", "stage", "derived") if name in case}
    return {**expected, "reasons": sorted(set(case["reasons"]))} if "reasons" in case else expected


def test_there_are_verdicts() -> None:
    oracle_dir("kubelet-validation")
    assert {"accept", "reject"} <= {case["verdict"] for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_kubelet_starts_or_ends_where_the_real_one_does(case: Case) -> None:
    verdict = _judge(case, Flavor.UPSTREAM)
    assert _answer(verdict, case) == _expected(case), case.get("note")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_fields_that_the_kubelet_skips(case: Case) -> None:
    if case.get("stage") == "load":
        return
    ignored = [path_text(one.path) for one in _judge(case, Flavor.UPSTREAM).merged.ignored]
    assert sorted(ignored) == sorted(case.get("ignoredFields", ()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_openshift_kubelet_differs_only_where_it_was_seen_to(case: Case) -> None:
    wanted = {**case, **case["openshift"]} if "openshift" in case else case
    if "openshift" in case and wanted["verdict"] == "accept":
        wanted = {name: value for name, value in wanted.items() if name not in ("stage", "reasons")}
    assert _answer(_judge(case, Flavor.OPENSHIFT), wanted) == _expected(wanted)


@pytest.mark.parametrize("case", [one for one in CASES if one["verdict"] == "reject"], ids=lambda case: case["id"])
def test_every_refusal_names_its_file_and_says_what_to_write(case: Case) -> None:
    for reason in _judge(case, Flavor.UPSTREAM).reasons:
        assert reason.what
        assert reason.file in ("", "config.yaml")
        if reason.path and reason.path[0] in case["config"]:
            assert reason.file == "config.yaml"
