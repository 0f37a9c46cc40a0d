"""Corrections in place: the text means what the edit says, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from tunectl.core.audit.edits import Edit, compatible, edited
from tunectl.planning.manifest_edit import Change, edited_text
from tunectl.planning.manifest_yaml import read_documents
from tunectl.planning.manifests import manifests_of

_POD = """\
# a pod
apiVersion: v1
kind: Pod
metadata:
  name: p   # its name
spec:
  # the only one
  containers:
  - name: c
    image: i
    resources:
      limits:
        cpu: 5    # five
        memory: "2Gi"
      requests: {memory: '1Gi'}   # less
    args: []
    env:   # nothing yet
  # at the end
  volumes:

# after the pod
"""


def _edit(text: str, *edits: Edit) -> tuple[str, list[str]]:
    start = next(iter(read_documents(text, ""))).node.start_mark.index
    written, left = edited_text(text, [Change(start, edit) for edit in edits])
    return written, [why for _, why in left]


def _at(*path: str | int) -> tuple[str | int, ...]:
    return ("spec", "containers", 0, *path)


@pytest.mark.parametrize(
    ("edit", "old", "new"),
    [
        (Edit(_at("resources", "limits", "cpu"), "6"), "        cpu: 5    # five", "        cpu: 6    # five"),
        (Edit(_at("resources", "limits", "cpu"), "500m"), "cpu: 5 ", "cpu: 500m "),
        (Edit(_at("resources", "limits", "memory"), "4Gi"), '"2Gi"', '"4Gi"'),
        (Edit(_at("resources", "requests", "memory"), "2Gi"), "'1Gi'", "'2Gi'"),
        (Edit(_at("resources", "requests", "cpu"), "5"), "{memory: '1Gi'}", "{memory: '1Gi', cpu: \"5\"}"),
        (
            Edit(_at("resources", "limits", "hugepages-2Mi"), "4Mi"),
            '        memory: "2Gi"\n',
            '        memory: "2Gi"\n        hugepages-2Mi: "4Mi"\n',
        ),
        (Edit(_at("args"), "-v", append=True), "args: []", 'args: ["-v"]'),
        (Edit(_at("env"), {"name": "A", "value": "1"}, append=True), "env:   #", 'env: [{name: A, value: "1"}]   #'),
        (Edit(("metadata", "labels", "app"), "x"), "# its name\n", "# its name\n  labels:\n    app: x\n"),
        (
            Edit(("spec", "tolerations"), {"key": "a", "operator": "Exists"}, append=True),
            "  volumes:\n",
            "  volumes:\n  tolerations:\n    - key: a\n      operator: Exists\n",
        ),
        (
            Edit(("spec", "containers"), {"name": "d"}, append=True),
            "    env:   # nothing yet\n",
            "    env:   # nothing yet\n  - name: d\n",
        ),
        (Edit(("spec", "volumes"), {"name": "v"}, append=True), "  volumes:\n", "  volumes: [{name: v}]\n"),
    ],
)
def test_an_edit_changes_its_place_only(edit: Edit, old: str, new: str) -> None:
    assert _POD.count(old) == 1
    written, left = _edit(_POD, edit)
    assert left == []
    assert written == _POD.replace(old, new)


def test_line_ends_are_kept() -> None:
    text = _POD.replace("\n", "\r\n")
    written, left = _edit(text, Edit(("metadata", "labels", "app"), "x"))
    assert left == []
    assert written.count("\r\n") == written.count("\n") == _POD.count("\n") + 2


def test_a_file_without_a_last_line_end() -> None:
    text = "apiVersion: v1\nkind: Pod\nspec:\n  containers: []"
    written, _ = _edit(text, Edit(("spec", "runtimeClassName"), "fast"))
    assert written == text + "\n  runtimeClassName: fast"


def test_a_file_without_a_last_line_end_is_appended_to_inside_too() -> None:
    text = "apiVersion: v1\nkind: Pod\nspec:\n  args:\n  - a\nlast: 1"
    written, _ = _edit(text, Edit(("spec", "args"), "b", append=True))
    assert written == text.replace("  - a\n", "  - a\n  - b\n")


def test_a_block_of_text_at_the_end() -> None:
    text = "kind: Pod\nspec:\n  note: |\n    words\n    more\nlast: 1\n"
    written, _ = _edit(text, Edit(("spec", "new"), "b"))
    assert written == text.replace("    more\n", "    more\n  new: b\n")
    ended = "kind: Pod\nspec:\n  note: |\n    words\n"
    assert _edit(ended, Edit(("spec", "new"), "b"))[0] == ended + "  new: b\n"


def test_an_empty_value_is_written_after_its_colon() -> None:
    text = "kind: Pod\nspec:\n  name:\n  other: ~\n"
    assert _edit(text, Edit(("spec", "name"), "x"))[0] == text.replace("name:", "name: x")
    assert _edit(text, Edit(("spec", "other"), "x"))[0] == text.replace("~", "x")
    assert _edit(text, Edit(("spec", "other", "y"), "x"))[0] == text.replace("~", '{"y": x}')


def test_lists_of_lists() -> None:
    text = "kind: Pod\nm:\n- - a\n  - b\n- c\n"
    assert _edit(text, Edit(("m", 0), "x", append=True))[0] == "kind: Pod\nm:\n- - a\n  - b\n  - x\n- c\n"


def test_json_stays_json() -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c"}]}}, indent=2)
    written, left = _edit(
        text,
        Edit(("spec", "nodeSelector", "pool"), "fast"),
        Edit(_at("resources", "limits", "cpu"), "2"),
        Edit(("spec", "tolerations"), {"operator": "Exists"}, append=True),
    )
    assert left == []
    spec = json.loads(written)["spec"]
    assert spec["nodeSelector"] == {"pool": "fast"}
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "2"}}


def test_edits_that_build_on_each_other() -> None:
    text = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: c}\n"
    edits = [Edit(_at("resources", part, name), "1") for part in ("limits", "requests") for name in ("cpu", "memory")]
    written, left = _edit(text, *edits)
    assert left == []
    assert yaml.safe_load(written)["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1"},
        "requests": {"cpu": "1", "memory": "1"},
    }


_ALIASED = """\
apiVersion: v1
kind: Pod
x: &shared
  limits: {cpu: 1, memory: 1Gi}
spec:
  containers:
  - name: a
    resources: *shared
  - name: b
    resources:
      <<: *shared
  - name: c
    command: [sh, -c, &script "run"]
    args: [*script]
  - name: d
    resources: !!map
      limits: {cpu: 1}
    lifecycle: |
      text
"""


@pytest.mark.parametrize(
    "edit",
    [
        Edit(("spec", "containers", 0, "resources", "limits", "cpu"), "2"),
        Edit(("spec", "containers", 0, "resources", "requests", "cpu"), "2"),
        Edit(("spec", "containers", 1, "resources", "limits", "cpu"), "2"),
        Edit(("spec", "containers", 1, "resources", "requests", "cpu"), "2"),
        Edit(("spec", "containers", 2, "command", 2), "stop"),
        Edit(("spec", "containers", 2, "args", 0), "stop"),
        Edit(("spec", "containers", 3, "resources", "limits", "cpu"), "2"),
        Edit(("spec", "containers", 3, "lifecycle"), "other"),
        Edit(("spec", "containers", 9, "name"), "x"),
        Edit(("spec", "containers", 0, "name", "deeper"), "x"),
    ],
)
def test_what_is_written_in_several_places_is_left_to_its_author(edit: Edit) -> None:
    written, left = _edit(_ALIASED, edit)
    assert written == _ALIASED
    assert len(left) == 1


def test_members_of_lists_and_later_documents_are_found() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n---\n"
        "apiVersion: v1\nkind: List\nitems:\n"
        "- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec:\n    containers: [{name: c}]\n"
        "- apiVersion: v1\n  kind: Pod\n  metadata: {name: b}\n  spec:\n    containers: [{name: c}]\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: d}\nspec:\n  containers: [{name: c}]\n"
    )
    workloads = manifests_of([("f", text)]).workloads
    sources = [one.source for one in workloads]
    edit = Edit(("spec", "runtimeClassName"), "fast")
    changes = [Change(source.node.start_mark.index, edit) for source in sources[1:] if source is not None]
    written, left = edited_text(text, changes)
    assert left == []
    again = manifests_of([("f", written)]).workloads
    assert [one.spec.get("runtimeClassName") for one in again] == [None, "fast", "fast"]


_WORDS = st.text("ab1 :#-'\"{}[],&*!|>%@\n", max_size=5)
_KEYS = st.sampled_from(["a", "b-c", "d.e/f", "g"])
_LEAVES = st.none() | st.booleans() | st.integers(-3, 30) | _WORDS
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8
)
_OBJECTS = st.dictionaries(_KEYS, _VALUES, min_size=1, max_size=4)
_STYLES = st.sampled_from([{"default_flow_style": False}, {"default_flow_style": None}, {"default_flow_style": True}])
_PATHS = st.lists(_KEYS | st.integers(0, 2), max_size=3)


@st.composite
def _edits(draw: st.DrawFn) -> Edit:
    path = (draw(_KEYS), *draw(_PATHS))
    return Edit(path, draw(_WORDS | st.dictionaries(_KEYS, _WORDS, max_size=2)), append=draw(st.booleans()))


@given(value=_OBJECTS, style=_STYLES, edit=_edits(), commented=st.booleans())
def test_the_text_means_what_the_edit_says(
    value: dict[str, Any], style: dict[str, Any], edit: Edit, *, commented: bool
) -> None:
    text = yaml.safe_dump(value, sort_keys=False, **style)
    if commented and "\n " not in text:
        text = "".join(f"{line}   # kept\n" if line[-1:] not in "|>" else f"{line}\n" for line in text.splitlines())
        assume(yaml.safe_load(text) == value)
    written, left = _edit(text, edit)
    if left:
        assert written == text
        return
    assert next(iter(read_documents(written, ""))).data == edited(next(iter(read_documents(text, ""))).data, edit)
    assert written.count("# kept") == text.count("# kept")


@given(_OBJECTS, _STYLES, _WORDS)
def test_a_new_key_of_the_object_can_always_be_written(value: dict[str, Any], style: dict[str, Any], new: str) -> None:
    written, left = _edit(yaml.safe_dump(value, sort_keys=False, **style), Edit(("new", "key"), new))
    assert left == []
    assert next(iter(read_documents(written, ""))).data["new"] == {"key": new}


def test_edits_of_one_place_are_made_one_at_a_time() -> None:
    one, same = Edit(("a", "b"), "1"), Edit(("a",), "2")
    first, second = Edit(("l",), "1", append=True), Edit(("l",), "2", append=True)
    assert compatible([one, same, first, second, first]) == [one, first, second]
