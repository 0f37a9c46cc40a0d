# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The Jinja2 environment over `templates/`: strict, and with one escaping filter for each file format."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .escape import comment, tmpfiles_argument, unit_word
from .yaml_text import yaml_text


def templates_dir(start: Path | None = None) -> Path:
    """Return the directory of the templates; `start` is the file to start from, this one by default.

    Shape: beside `plugins/` in the collection and in a checkout (where `tunectl.render` is a link into it);
    inside the collection that the wheel carries otherwise.
    Sad paths: `FileNotFoundError` in a broken installation.
    """
    here = (start or Path(__file__)).resolve().parent
    candidates = (
        here.parents[2] / "templates",
        here.parent / "_collections" / "ansible_collections" / "tunectl" / "node" / "templates",
    )
    for candidate in candidates:
        if (candidate / "node").is_dir():
            return candidate
    raise FileNotFoundError(f"no templates in {candidates[0]} or {candidates[1]}: reinstall tunectl")


def render_template(name: str, **data: Any) -> str:
    """Return the text of a template; the data must hold everything that it names.

    Sad paths: `jinja2.UndefinedError` for a name that the data lacks, which is a defect of the caller.
    """
    return _environment().get_template(name).render(data)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(  # noqa: S701  configuration files, not HTML: each format has its own filter
        loader=FileSystemLoader(templates_dir()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters.update(
        comment=comment, tmpfiles_argument=tmpfiles_argument, unit_word=unit_word, yaml_text=yaml_text
    )
    return environment
