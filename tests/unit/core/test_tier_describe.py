"""The schema and the reference of tiers follow the table of forms, and the published schema is this one."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tunectl.core import tier as model
from tunectl.core.kubelet_fields import (
    CPU_MANAGER_OPTIONS,
    MANAGED_FIELDS,
    OTHER_FIELDS,
    TOPOLOGY_MANAGER_OPTIONS,
    option_gate,
)
from tunectl.core.tier_describe import describe_fields, tier_json_schema
from tunectl.core.tier_fields import TIER
from tunectl.core.tier_forms import Cpus, Form, Record, Sequence, nearest
from tunectl.planning.paths import schemas_dir
from tunectl.planning.tier_file import tier_files
from tunectl.planning.tier_lookup import read_text

HEAD = {"apiVersion": "tunectl.io/v1alpha1", "kind": "Tier", "name": "mine"}
NOT_IN_FILES = {"Tier": {"origins"}, "CpuIntent": {"percent"}}


def records(form: Form) -> list[Record]:
    """Return every record below a form."""
    if isinstance(form, Cpus):
        return [form.intent]
    if isinstance(form, Sequence):
        return records(form.item)
    if isinstance(form, Record):
        return [form, *(one for item in form.fields.values() for one in records(item))]
    return []


def test_every_field_of_a_tier_has_a_form_and_every_form_a_field() -> None:
    for record in records(TIER):
        names = {item.name for item in dataclasses.fields(record.of)}
        assert set(record.fields) == names - NOT_IN_FILES.get(record.of.__name__, set()), record.of


def test_every_part_of_a_tier_can_be_written() -> None:
    of_model = [value for value in vars(model).values() if getattr(value, "__module__", "") == model.__name__]
    parts = {value for value in of_model if dataclasses.is_dataclass(value)}
    assert parts == {record.of for record in records(TIER)}


def test_the_published_schema_is_the_one_of_the_forms() -> None:
    published = json.loads((schemas_dir() / "v1alpha1" / "tier.json").read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(tier_json_schema()))
    Draft202012Validator.check_schema(published)


def complaints(document: Any) -> list[str]:
    """Return what the schema says against a document."""
    return [error.message for error in Draft202012Validator(tier_json_schema()).iter_errors(document)]


@pytest.mark.parametrize("path", sorted(tier_files().values()), ids=lambda path: path.stem)
def test_the_schema_takes_the_built_in_tiers(path: Path) -> None:
    assert complaints(yaml.safe_load(read_text(path))) == []


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "Teer"},
        {"name": "Mine"},
        {"cpu": {"resrved": "0-3"}},
        {"cpu": {"reserved": "0-x"}},
        {"cpu": {"reserved": "rest"}},
        {"cpu": {"reserved": {"count": "130%"}}},
        {"cpu": {"reserved": {"count": 0}}},
        {"cpu": {"disable_smt": "yes"}},
        {"kubelet": {"cpu_manager_policy": "Static"}},
        {"kubelet": {"cpu_manager_policy_options": {"full-cores": True}}},
        {"kubelet": {"topology_manager_policy_options": {"max-allowable-numa-nodes": True}}},
        {"kubelet": {"topology_manager_policy_options": {"max-allowable-numa-nodes": 4}}},
        {"kubelet": {"system_reserved": {"hugepages-1Gi": "1Gi"}}},
        {"kubelet": {"system_reserved": {"memory": "8GiB"}}},
        {"kubelet": {"cpu_manager_reconcile_period": "10 s"}},
        {"kubelet": {"memory_throttling_factor": 1.5}},
        {"kubelet": {"config": {"maxPods": 5}}},
        {"kubelet": {"reserved_memory": [{"numa_node": 0}]}},
        {"hugepages": {"pages": [{"size": "1Gi", "count": 1}]}},
        {"hugepages": {"pages": [{"size": "1G"}]}},
        {"kernel": {"args": ["a b"]}},
        {"kernel": {"args": "quiet"}},
        {"sysctl": {"vm.swappiness": True}},
        {"sysctl": {"swappiness": 1}},
        {"sysctl": {"vm.swappiness": "1\n2"}},
        {"placement": {"taints": ["a=b"]}},
        {"placement": {"labels": {"-a": "b"}}},
        {"openshift": {"manifest": "profile"}},
        {"resctrl": [{"name": "a", "l3_ways_percent": 0}]},
        {"net": {"devices": [{"vendor_id": "8086"}]}},
        {"extends": ["a"]},
    ],
    ids=str,
)
def test_the_schema_refuses_what_the_loader_refuses(body: dict[str, Any]) -> None:
    assert complaints({**HEAD, **body})


def test_null_stands_for_the_default_everywhere() -> None:
    sections = {name: None for name in TIER.fields if name != "name"}
    assert complaints({**HEAD, **sections, "extends": None}) == []
    fields = {name: dict.fromkeys(form.fields) for name, form in TIER.fields.items() if isinstance(form, Record)}
    assert complaints({**HEAD, **fields}) == []


def test_every_field_is_described() -> None:
    rows = describe_fields()
    assert [row.path for row in rows if not row.doc.endswith(".")] == []
    assert [row.path for row in rows if not row.allowed] == []
    paths = [row.path for row in rows]
    assert len(paths) == len(set(paths))
    for path in ("extends", "cpu.reserved.count", "hugepages.pages[].size", "sysctl", "kernel_instances[].memory"):
        assert path in paths


def test_a_row_says_unit_source_values_default_and_release() -> None:
    rows = {row.path: row for row in describe_fields()}
    assert rows["frequency.isolated_khz"].unit == "kHz"
    assert rows["cpu.reserved"].source == "PerformanceProfile v2 spec.cpu.reserved"
    assert rows["kubelet.cpu_manager_policy"].allowed == "none, static"
    assert rows["cpu.reserve_cpu0"].default == "true"
    option = rows["kubelet.cpu_manager_policy_options.full-pcpus-only"]
    assert option.since == "kubelet: alpha 1.22, beta 1.23, stable 1.33"


# What the kubelet knows by name


@pytest.mark.parametrize(
    ("name", "kubelet", "gate"),
    [
        ("full-pcpus-only", (1, 28), ""),
        ("align-by-socket", (1, 36), "CPUManagerPolicyAlphaOptions"),
        ("distribute-cpus-across-numa", (1, 32), "CPUManagerPolicyAlphaOptions"),
        ("distribute-cpus-across-numa", (1, 33), ""),
        ("strict-cpu-reservation", (1, 32), "CPUManagerPolicyAlphaOptions"),
        ("strict-cpu-reservation", (1, 35), ""),
    ],
)
def test_options_need_the_gate_of_their_stage(name: str, kubelet: tuple[int, int], gate: str) -> None:
    option = next(one for one in CPU_MANAGER_OPTIONS if one.name == name)
    assert option_gate("cpu", option, kubelet) == gate


def test_beta_options_of_the_topology_manager_needed_their_gate_before_1_28() -> None:
    closest, most = TOPOLOGY_MANAGER_OPTIONS
    assert option_gate("topology", closest, (1, 27)) == "TopologyManagerPolicyAlphaOptions"
    assert option_gate("topology", closest, (1, 28)) == ""
    assert (most.stage_in((1, 30)), most.stage_in((1, 31)), most.stage_in((1, 35))) == ("absent", "beta", "stable")
    assert most.since == (1, 31)


def test_fields_of_the_kubelet_are_managed_or_free() -> None:
    assert not set(MANAGED_FIELDS) & set(OTHER_FIELDS)
    assert len(set(OTHER_FIELDS)) == len(OTHER_FIELDS)
    known = {item.path for item in describe_fields()}
    assert {path for path in MANAGED_FIELDS.values() if path} <= known


@pytest.mark.parametrize(
    ("word", "name"),
    [("statik", "static"), ("STATIC", "static"), ("cpuManagerPolicy", "cpu_manager_policy"), ("qqq", "")],
)
def test_the_nearest_name_forgives_case_dashes_and_letters(word: str, name: str) -> None:
    assert nearest(word, ("static", "none", "cpu_manager_policy")) == name
