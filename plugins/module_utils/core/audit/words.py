# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The words that a container starts with, each with the place it is written at."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .paths import Path, as_list, as_map, as_text
from .subject import ContainerView

_SEPARATORS = (";", "&&", "||", "|", "&")


@dataclass(frozen=True)
class Word:
    """One word of a command line, and the field it stands in."""

    text: str
    path: Path


def command_words(one: ContainerView) -> list[Word]:
    """Return the words of command and arguments; texts that shells would split are split like that.

    Words with a `$` are kept as they are: what they become is not known here.
    """
    return [word for key in ("command", "args") for word in _words(one, key)]


def _words(one: ContainerView, key: str) -> Iterator[Word]:
    for index, item in enumerate(as_list(one.written.get(key))):
        for text in _split(as_text(item)):
            yield Word(text, (*one.path, key, index))


def _split(text: str) -> list[str]:
    if not any(blank in text for blank in " \t\n"):
        return [text]
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        return list(lexer)
    except ValueError:  # an odd quote: no shell would run it, words are still words
        return text.split()


def environment(one: ContainerView) -> Iterator[tuple[str, Word]]:
    """Yield the variables whose values are written in the manifest; those from elsewhere are not known."""
    for index, item in enumerate(as_list(one.written.get("env"))):
        variable: Mapping[str, Any] = as_map(item)
        if "value" in variable:
            yield as_text(variable.get("name")), Word(as_text(variable["value"]), (*one.path, "env", index, "value"))


def option_values(words: list[Word], *names: str) -> Iterator[tuple[str, Word]]:
    """Yield option and value wherever one of the options is given: `-c 0-3`, `-c0-3` for one letter, `--cpus=0-3`."""
    for index, word in enumerate(words):
        for name in names:
            if word.text == name and index + 1 < len(words) and words[index + 1].text not in _SEPARATORS:
                yield name, words[index + 1]
            elif name.startswith("--") and word.text.startswith(name + "="):
                yield name, Word(word.text.partition("=")[2], word.path)
            elif not name.startswith("--") and word.text.startswith(name) and word.text[len(name) :][:1].isdigit():
                yield name, Word(word.text[len(name) :], word.path)


def commands(words: list[Word], *programs: str) -> Iterator[tuple[str, list[Word]]]:
    """Yield each of the programs that is run, with the words up to the end of its command."""
    for index, word in enumerate(words):
        program = word.text.rpartition("/")[2]
        if program in programs:
            rest = words[index + 1 :]
            end = next((number for number, one in enumerate(rest) if one.text in _SEPARATORS), len(rest))
            yield program, rest[:end]
