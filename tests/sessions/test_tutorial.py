"""Pages are typed as they stand: every console block of them runs, and says what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pages import FileBlock, Folder, Step, run_page, steps_of, updated

from tunectl.core.kubelet.refusal_catalogue import REFUSALS

_REPOSITORY = Path(__file__).resolve().parents[2]
_DOCS = _REPOSITORY / "docs"
# Pages, and how many commands they have at least.
_PAGES = {
    "tutorial.md": 15,
    "explanation/how-the-kubelet-places-cpus.md": 5,
    "how-to/why-was-my-pod-refused.md": 10,
    "how-to/use-the-collection.md": 3,
}


@pytest.mark.ansible
@pytest.mark.parametrize("name", sorted(_PAGES))
def test_the_page_works_as_written(name: str, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    page = _DOCS / name
    if pytestconfig.getoption("--update-golden"):
        (tmp_path / "before").mkdir()
        page.write_text(updated(page, tmp_path / "before"), encoding="utf-8")
    (tmp_path / "here").mkdir()
    assert len(run_page(page, tmp_path / "here")) >= _PAGES[name]


_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
    - {name: c, image: i, resources: {limits: {cpu: 4, memory: 300Gi}}}
"""


_NEED_MACHINES = ("tunectl bootstrap", "tunectl lab up --kind vm")


def _readme() -> str:
    return (_REPOSITORY / "README.md").read_text(encoding="utf-8")


def _daily_commands() -> list[str]:
    table = _readme().partition("## Every day")[2].partition("\n## ")[0]
    return [command for command in re.findall(r"`(tunectl [^`]+)`", table) if command != "tunectl schema"]


@pytest.mark.ansible
def test_what_the_readme_shows_is_what_is_printed(tmp_path: Path) -> None:
    (step,) = [step for step in steps_of(_readme(), ("text",)) if isinstance(step, Step)]
    code, printed = Folder(tmp_path).type(f"{step.command} --progress off")
    assert code == 0
    for paragraph in step.output.strip().split("\n\n"):
        lines = iter(map(_without_id, printed.splitlines()))
        # In this order: the search goes on where it found the line before.
        assert [line for line in map(_without_id, paragraph.splitlines()) if line not in lines] == []


def _without_id(line: str) -> str:
    return re.sub(r"^plan \w+", "plan", line.strip())


@pytest.mark.ansible
def test_the_daily_commands_of_the_readme_work(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    (tmp_path / "pods.yaml").write_text(_POD)
    (tmp_path / "config.yaml").write_text("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n")
    assert folder.type("tunectl lab up")[0] == 0
    values = {"NODE": "massive-1", "INVENTORY": ".tunectl/lab/default/hosts.yaml", "PLAN": "plan.json"}
    assert folder.type("tunectl plan --tier hpc-massive --out plan.json")[0] == 0
    commands = _daily_commands()
    assert len(commands) > 12
    for command in commands:
        if command.startswith(_NEED_MACHINES):
            # Machines that boot, or that become a cluster: tests/e2e types these.
            assert folder.type(f"{command} --help")[0] == 0
            continue
        typed = re.sub(r"\b(NODE|INVENTORY|PLAN)\b", lambda match: values[match.group(1)], command)
        if typed.startswith(("tunectl apply", "tunectl rollback")):
            typed += " --yes"
        if typed.startswith("tunectl audit"):
            (tmp_path / "manifests" / "pods.yaml").write_text(_POD)
        code, printed = folder.type(typed)
        # Some say by their exit code that something was found.
        assert code in (0, 3), f"{typed}\n{printed}"
        assert "Traceback" not in printed


def test_every_refusal_has_its_section() -> None:
    page = (_DOCS / "how-to" / "why-was-my-pod-refused.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(REFUSALS)
    assert all("**Way" in text or "**Ways out.**" in text for text in sections.values())
    assert all(f"](#{code})" in page for code in REFUSALS)


def test_pages_are_read_as_they_are_written() -> None:
    page = "words\n```yaml a/b.yaml\nx: 1\n```\n```console\n$ one \\\n    two\nsaid\n…\n$ three\n[exit 3]\n```\n"
    assert list(steps_of(page)) == [
        FileBlock("a/b.yaml", "x: 1\n"),
        Step("one \\\n    two", "said\n…\n", 6),
        Step("three", "", 10, 3),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "is_same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("a\n…\n", "a\nb\nc\n", True),
        ("…\nc\n", "a\nb\nc\n", True),
        ("a … c\n", "a b c\n", True),
        ("a … c\n", "a b d\n", False),
        ("a\n…\nc\n", "a\nc\n", True),
        ("took 0.3 s\n", "took 12 s\n", True),
        ("plan 0123abcd\n", "plan ffff0000\n", True),
    ],
)
def test_output_is_as_shown(shown: str, printed: str, is_same: bool) -> None:  # noqa: FBT001  a table
    assert Step("x", shown, 1).matches(0, printed) is is_same
    assert not Step("x", shown, 1).matches(3, printed)
