"""Manifests: every kind that makes pods, every way to write them, and errors that name file and line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tunectl.core.codes import CODES
from tunectl.core.errors import InputError, Problem
from tunectl.planning.manifests import API_VERSIONS, TEMPLATES, Manifests, manifests_of, read_manifests

_SPEC: dict[str, Any] = {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}]}


def _object(kind: str, name: str = "w", **fields: Any) -> dict[str, Any]:
    """Return an object of a kind with the pod spec where it belongs."""
    item: dict[str, Any] = {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": {"name": name}}
    place = item
    for key in (*TEMPLATES[kind], "spec"):
        place = place.setdefault(key, {})
    place.update(_SPEC)
    if fields:
        item.setdefault("spec", {}).update(fields)
    return item


def _read(text: str) -> Manifests:
    return manifests_of([("pods.yaml", text)])


def _problem(text: str) -> Problem:
    with pytest.raises(InputError) as caught:
        _read(text)
    (one,) = caught.value.problems
    assert one.code in CODES
    assert one.fix
    return one


@pytest.mark.parametrize("kind", sorted(TEMPLATES))
def test_every_kind_that_makes_pods(kind: str) -> None:
    (one,) = _read(yaml.safe_dump(_object(kind))).workloads
    assert (one.kind, one.name, one.replicas, str(one.origin)) == (kind, "w", 1, "pods.yaml:1:1")
    assert one.spec == _SPEC


@pytest.mark.parametrize(
    ("kind", "fields", "replicas"),
    [
        ("Deployment", {"replicas": 3}, 3),
        ("Deployment", {"replicas": 0}, 0),
        ("Deployment", {"replicas": None}, 1),
        ("StatefulSet", {"replicas": 2}, 2),
        ("Job", {"parallelism": 4, "completions": 9}, 4),
        ("Job", {"replicas": 9}, 1),
        ("DaemonSet", {"replicas": 9}, 1),
        ("CronJob", {"parallelism": 9}, 1),
        ("Pod", {"replicas": 9}, 1),
    ],
)
def test_replicas(kind: str, fields: dict[str, Any], replicas: int) -> None:
    (one,) = _read(yaml.safe_dump(_object(kind, **fields))).workloads
    assert one.replicas == replicas


def test_several_documents_in_their_order_with_their_lines() -> None:
    text = "---\n# nothing\n---\n" + "---\n".join(yaml.safe_dump(_object("Pod", name)) for name in ("b", "a")) + "---\n"
    found = _read(text).workloads
    assert [one.name for one in found] == ["b", "a"]
    for one in found:
        assert text.splitlines()[one.origin.line - 1].startswith("apiVersion")


def test_members_of_lists_have_lines_of_their_own() -> None:
    inner = {"apiVersion": "v1", "kind": "PodList", "items": [_object("Pod", "inner")]}
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [_object("Pod", "first"), inner]})
    found = _read(text).workloads
    assert [one.name for one in found] == ["first", "inner"]
    assert [text.splitlines()[one.origin.line - 1].strip() for one in found] == ["- apiVersion: v1"] * 2
    assert found[0].origin.line < found[1].origin.line


@pytest.mark.parametrize(
    "text", ["", "\n", "---\n---\n", "# words\n", "null\n", "apiVersion: v1\nkind: List\nitems: []\n"]
)
def test_nothing_makes_nothing(text: str) -> None:
    assert _read(text) == Manifests(texts={"pods.yaml": text})


def test_json_is_yaml() -> None:
    (one,) = _read(json.dumps(_object("Deployment", replicas=2), indent=1)).workloads
    assert one.replicas == 2


def test_anchors_and_merge_keys_mean_what_they_say() -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - &first
      name: a
      resources: &size {limits: {cpu: 2, memory: 1Gi}}
    - <<: *first
      name: b
    - name: c
      resources: *size
"""
    (one,) = _read(text).workloads
    assert [(c["name"], c["resources"]["limits"]["cpu"]) for c in one.spec["containers"]] == [
        ("a", 2),
        ("b", 2),
        ("c", 2),
    ]


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("1500m", "1500m"),
        ("2e3", "2e3"),
        ("0.1", 0.1),
        ("010", 8),
        ("0x10", 16),
        ("1_000", 1000),
        ("'2'", "2"),
        ("~", None),
    ],
)
def test_scalars_are_read_as_kubernetes_does(scalar: str, value: object) -> None:
    text = yaml.safe_dump(_object("Pod")) + f"extra: {scalar}\n"
    assert _read(text).workloads[0].document["extra"] == value


def test_objects_that_make_no_pods_are_skipped_with_their_place() -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\napiVersion: v1\nkind: ConfigMap\n"
    found = _read(text)
    assert found.workloads == ()
    assert [(name, origin.line) for name, origin in found.skipped] == [("Service/s", 1), ("ConfigMap/unnamed", 5)]


def test_kinds_of_other_groups_are_not_the_built_in_ones() -> None:
    item = {**_object("Job"), "apiVersion": "batch.volcano.sh/v1alpha1"}
    item["spec"] = {"tasks": []}
    assert [name for name, _ in _read(yaml.safe_dump(item)).skipped] == ["Job/w"]


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("Deployment", "apps/v1beta1"),
        ("Deployment", "extensions/v1beta1"),
        ("Deployment", "v1"),
        ("CronJob", "batch/v1beta1"),
        ("Pod", "v2"),
        ("Pod", "apps/v1"),
    ],
)
def test_versions_that_are_not_served(kind: str, version: str) -> None:
    one = _problem("# a comment\n" + yaml.safe_dump({**_object(kind), "apiVersion": version}))
    assert (one.code, one.where) == ("TUN-1807", "pods.yaml:2:1")
    assert API_VERSIONS[kind] in one.fix


@pytest.mark.parametrize(
    ("text", "code", "where", "why"),
    [
        ("kind: Pod\n\tspec: {}\n", "TUN-1802", "pods.yaml:2:1", "never with tabs"),
        ("a: [1, 2\n", "TUN-1802", "pods.yaml:2:1", "expected"),
        ("a: *nobody\n", "TUN-1802", "pods.yaml:1:4", "undefined alias"),
        ("a: 1\nb: 2\na: 3\n", "TUN-1802", "pods.yaml:3:1", "first in line 1"),
        ("a:\n  b: 1\n  b: 2\n", "TUN-1802", "pods.yaml:3:3", "'b' stands twice"),
        ("a: \x07\n", "TUN-1802", "pods.yaml:1:4", "U+0007"),
        ("? {a: 1}\n: 2\n", "TUN-1802", "pods.yaml:1:3", "unhashable"),
        ("a: !!python/object:os.system x\n", "TUN-1802", "pods.yaml:1:4", "could not determine a constructor"),
        ("just words\n", "TUN-1803", "pods.yaml:1:1", "apiVersion and kind"),
        ("- a\n", "TUN-1803", "pods.yaml:1:1", "apiVersion and kind"),
        ("apiVersion: v1\nkind: 3\n", "TUN-1803", "pods.yaml:1:1", "apiVersion and kind"),
        ("kind: Pod\nspec: {}\n", "TUN-1803", "pods.yaml:1:1", "names one"),
        ("apiVersion: v1\nkind: List\nitems: 3\n", "TUN-1803", "pods.yaml:1:1", "list of objects"),
        ("apiVersion: v1\nkind: List\nitems:\n- x\n", "TUN-1803", "pods.yaml:4:3", "apiVersion and kind"),
        ("apiVersion: v1\nkind: Pod\n", "TUN-1803", "pods.yaml:1:1", "expected at spec"),
        ("---\n---\napiVersion: batch/v1\nkind: CronJob\n", "TUN-1803", "pods.yaml:3:1", "jobTemplate.spec.template"),
        ("apiVersion: v1\nkind: List\nitems: &a\n- {apiVersion: v1, kind: List, items: *a}\n", "TUN-1803", "1:1", ""),
    ],
)
def test_what_cannot_be_read_names_its_place(text: str, code: str, where: str, why: str) -> None:
    one = _problem(text)
    assert one.code == code
    assert one.where.endswith(where)
    assert why in one.why


@pytest.mark.parametrize("value", ["-1", "two", "1.5", "true", "[]", "-0x" + "f" * 9000])
def test_replicas_that_are_no_number_of_pods(value: str) -> None:
    text = yaml.safe_dump(_object("Deployment")).replace("spec:\n", f"spec:\n  replicas: {value}\n", 1)
    assert _problem(text).code == "TUN-1803"


def test_lists_in_lists_of_aliases_end() -> None:
    lines = ["apiVersion: v1", "kind: List", "items:"]
    lines += ["- &l0 {apiVersion: v1, kind: List, items: []}"]
    for level in range(1, 12):
        members = ", ".join([f"*l{level - 1}"] * 9)
        lines.append(f"- &l{level} {{apiVersion: v1, kind: List, items: [{members}]}}")
    lines[3] = "- &l0 {apiVersion: v1, kind: Service}"
    one = _problem("\n".join(lines) + "\n")
    assert (one.code, one.what) == ("TUN-1803", "the manifests mean too many objects")


def test_files_directories_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.yml").write_text(yaml.safe_dump(_object("Pod", "b")))
    (tmp_path / "a.json").write_text(json.dumps(_object("Pod", "a")))
    (tmp_path / "notes.txt").write_text("no manifest")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(yaml.safe_dump(_object("Pod", "c")).encode())))
    found = read_manifests([str(tmp_path), "-"]).workloads
    assert [(one.name, one.origin.file) for one in found] == [
        ("a", str(tmp_path / "a.json")),
        ("b", str(tmp_path / "deep" / "b.yml")),
        ("c", "standard input"),
    ]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + yaml.safe_dump(_object("Pod")).encode())
    assert len(read_manifests([str(file)]).workloads) == 1


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\x00", b"a: 1\nb: \xc3\x28\n"])
def test_paths_that_cannot_be_read(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    if content:
        file.write_bytes(content)
    if content == b"":
        file = tmp_path / "empty"
        file.mkdir()
    with pytest.raises(InputError) as caught:
        read_manifests([str(file)])
    (one,) = caught.value.problems
    assert one.code == "TUN-1801"
    assert str(file) in one.where


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["v1", "Pod", "List", "apps/v1", "Deployment", "2", "1500m", "1Gi", "Always"]),
)
_KEYS = st.one_of(
    st.sampled_from(
        ["apiVersion", "kind", "metadata", "name", "spec", "items", "template", "containers", "replicas", "resources"]
    ),
    st.text(max_size=4),
)
_TREES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=5))


def _faults(text: str) -> list[str]:
    """Return what is wrong with how a text is read or refused."""
    try:
        found = _read(text)
    except InputError as error:
        refused = [one for one in error.problems if one.code not in CODES or not one.where.startswith("pods.yaml:")]
        return [f"badly refused: {one}" for one in refused] + ([] if error.problems else ["refused without a reason"])
    return [f"badly read: {one}" for one in found.workloads if one.replicas < 0 or one.spec is None]


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    assert _faults(text) == []


@settings(max_examples=300, deadline=None)
@given(st.lists(_TREES, max_size=3))
def test_any_data_is_read_or_refused(trees: list[object]) -> None:
    assert _faults(yaml.safe_dump_all(trees)) == []


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(TEMPLATES)), st.data())
def test_damaged_manifests_are_read_or_refused(kind: str, data: st.DataObject) -> None:
    text = yaml.safe_dump(_object(kind))
    at = data.draw(st.integers(0, len(text)))
    assert _faults(text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 8)) :]) == []
