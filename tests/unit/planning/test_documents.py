import pytest

from tunectl.core.errors import InputError
from tunectl.core.snapshot import Snapshot
from tunectl.planning.documents import snapshot_documents

_MAIN = "/var/lib/kubelet/config.yaml"
_DIRECTORY = "/etc/kubernetes/kubelet.conf.d"


def _snapshot(files: dict[str, str]) -> Snapshot:
    process = {
        "/proc/7/comm": "kubelet\n",
        "/proc/7/cmdline": f"kubelet\0--config={_MAIN}\0--config-dir={_DIRECTORY}\0",
    }
    names = tuple(sorted(path.rpartition("/")[2] for path in files if path.startswith(_DIRECTORY)))
    return Snapshot("n1", {**process, **files}, listings={_DIRECTORY: names})


def test_the_kubelets_files_are_decoded() -> None:
    files = {_MAIN: "a: 1\n", f"{_DIRECTORY}/10-a.conf": '{"b": [true]}', f"{_DIRECTORY}/x.txt": "c: 1\n"}
    assert snapshot_documents(_snapshot(files)) == {_MAIN: {"a": 1}, f"{_DIRECTORY}/10-a.conf": {"b": [True]}}


def test_an_empty_file_is_none_and_a_missing_one_is_left_out() -> None:
    assert snapshot_documents(_snapshot({f"{_DIRECTORY}/10-a.conf": ""})) == {f"{_DIRECTORY}/10-a.conf": None}


def test_of_several_documents_the_first_counts() -> None:
    assert snapshot_documents(_snapshot({_MAIN: "a: 1\n---\nb: 2\n"})) == {_MAIN: {"a": 1}}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: 1\nb: [2\n", ":3"), ("a: b: c\n", ":1"), ("\x00", ""), ("a: !!python/object:os.system {}\n", ":1")],
)
def test_every_file_that_is_no_yaml_is_named(text: str, line: str) -> None:
    dropin = f"{_DIRECTORY}/10-a.conf"
    with pytest.raises(InputError) as caught:
        snapshot_documents(_snapshot({_MAIN: text, dropin: text}))
    places = [problem.where for problem in caught.value.problems]
    assert places == [f"n1:{_MAIN}{line}", f"n1:{dropin}{line}"]
    assert {problem.code for problem in caught.value.problems} == {"TUN-1705"}
    assert all(problem.why for problem in caught.value.problems)
