# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Host patterns as Ansible's limits write them: names, groups, globs, regular expressions, `:`, `&` and `!`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

_SUBSCRIPT = re.compile(r"(?P<name>.+)\[(?P<first>-?\d+)?(?P<range>[:-])?(?P<last>-?\d+)?\]\Z")
_SEPARATORS = re.compile(r"[,:](?![^\[]*\])")


def match_hosts(
    patterns: Iterable[str], hosts: Sequence[str], groups: Mapping[str, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Return the hosts that the patterns name, in the order of `hosts`, and the patterns that name none.

    Shape: `all` and `*` are every host; terms with `&` narrow and terms with `!` take away, whatever their order;
    without any other term they start from every host.
    """
    terms = [term.strip() for pattern in patterns for term in _SEPARATORS.split(pattern) if term.strip()]
    unknown = [term for term in terms if not _named(term.lstrip("&!"), hosts, groups)]
    wanted = [term for term in terms if term[0] not in "&!"]
    found = {host for term in wanted or ["all"] for host in _named(term, hosts, groups)}
    for term in terms:
        if term[0] == "&":
            found &= _named(term[1:], hosts, groups)
        elif term[0] == "!":
            found -= _named(term[1:], hosts, groups)
    return [host for host in hosts if host in found], unknown


def _named(term: str, hosts: Sequence[str], groups: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the hosts that one term names; raises nothing: a broken regular expression names none."""
    subscript = _SUBSCRIPT.match(term)
    if subscript and not term.startswith("~") and term not in groups:
        ordered = _ordered(_matching(subscript["name"], hosts, groups), hosts)
        return set(_picked(ordered, subscript))
    return _matching(term, hosts, groups)


def _matching(term: str, hosts: Sequence[str], groups: Mapping[str, Sequence[str]]) -> set[str]:
    if term in ("all", "*"):
        return set(hosts)
    test = _test(term)
    members = {host for name, inside in groups.items() if test(name) for host in inside}
    return {host for host in hosts if host in members or test(host)}


def _test(term: str) -> Callable[[str], object]:
    if term.startswith("~"):
        try:
            return re.compile(term[1:]).match
        except re.error:
            return re.compile(r"(?!)").match
    return re.compile(fnmatch.translate(term)).match


def _ordered(found: set[str], hosts: Sequence[str]) -> list[str]:
    return [host for host in hosts if host in found]


def _picked(ordered: list[str], subscript: re.Match[str]) -> list[str]:
    first = int(subscript["first"] or 0)
    if not subscript["range"]:
        return ordered[first : first + 1 or None]
    last = int(subscript["last"]) if subscript["last"] else -1
    return ordered[first : last + 1 or None]
