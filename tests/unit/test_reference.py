"""The reference says what the program says of itself today."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tunectl.cli.commands import COMMANDS
from tunectl.core.check_catalogue import CHECKS
from tunectl.core.codes import CODES
from tunectl.core.kubelet.refusal_catalogue import REFUSALS
from tunectl.core.tier_describe import describe_fields

_REPOSITORY = Path(__file__).resolve().parents[2]
_PAGES = ("checks.md", "commands.md", "error-codes.md", "refusals.md", "settings.md", "tier-fields.md")


def _made() -> Mapping[str, Callable[[], str]]:
    spec = importlib.util.spec_from_file_location("reference_pages", _REPOSITORY / "tools" / "reference_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages: Mapping[str, Callable[[], str]] = module.PAGES
    return pages


@pytest.mark.parametrize("name", _PAGES)
def test_the_page_is_current(name: str, pytestconfig: pytest.Config) -> None:
    page = _REPOSITORY / "docs" / "reference" / name
    text = _made()[name]()
    if pytestconfig.getoption("--update-golden"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, "run tools/reference and commit what it writes"


def test_there_are_no_other_pages() -> None:
    assert set(_made()) == set(_PAGES) == {path.name for path in (_REPOSITORY / "docs" / "reference").glob("*")}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("checks.md", list(CHECKS)),
        ("error-codes.md", list(CODES)),
        ("refusals.md", list(REFUSALS)),
        ("commands.md", [f"## tunectl {entry.name}" for entry in COMMANDS]),
        ("tier-fields.md", [field.path for field in describe_fields() if field.type != "map"]),
    ],
)
def test_nothing_is_left_out(name: str, words: list[str]) -> None:
    text = (_REPOSITORY / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []


def test_the_generator_says_which_pages_are_stale() -> None:
    command = [sys.executable, str(_REPOSITORY / "tools" / "reference_pages.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
