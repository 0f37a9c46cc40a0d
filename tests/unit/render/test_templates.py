"""Templates only format: they are short, take no decision, and miss nothing silently; and they are found everywhere."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from tunectl.planning import paths
from tunectl.render.jinja_env import render_template, templates_dir

TEMPLATES = sorted(templates_dir().rglob("*.j2"))


def test_there_are_templates() -> None:
    assert len(TEMPLATES) >= 10


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_is_short_and_takes_no_decision(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 30
    statements = set(re.findall(r"{%-?\s*(\w+)", text))
    assert statements <= {"for", "endfor", "include"}
    expressions = re.findall(r"{{(.*?)}}", text)
    assert not [one for one in expressions if re.search(r"\b(if|else|default|is|not|and|or)\b", one)]


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="what"):
        render_template("header.j2", tier="t")


def test_a_header_stays_a_comment() -> None:
    lines = render_template("header.j2", tier="a\nrm -rf /", what="b\rc").splitlines()
    assert all(line.startswith("# ") for line in lines)


def test_the_templates_are_those_of_the_collection() -> None:
    assert templates_dir() == paths.templates_dir()


def test_the_templates_are_found_in_a_wheel(tmp_path: Path) -> None:
    carried = tmp_path / "tunectl" / "_collections" / "ansible_collections" / "tunectl" / "node" / "templates"
    (carried / "node").mkdir(parents=True)
    assert templates_dir(tmp_path / "tunectl" / "render" / "jinja_env.py") == carried


def test_a_broken_installation_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="reinstall tunectl"):
        templates_dir(tmp_path / "a" / "b" / "c" / "d.py")
