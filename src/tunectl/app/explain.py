"""Explain a word: an error code, a check, a refusal of a pod, a field of a tier, or what the field writes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tunectl.core.check_catalogue import CHECKS
from tunectl.core.codes import CODES
from tunectl.core.errors import InputError, problem
from tunectl.core.kubelet.refusal_catalogue import REFUSALS
from tunectl.core.tier_describe import FieldDoc, describe_fields

STAGES = {
    "1": "an input file, flag or tier is wrong; nothing was contacted",
    "2": "the plan cannot be made",
    "3": "a guard refused before anything was changed",
    "4": "the work itself failed",
    "5": "something could not be reached or measured",
    "9": "a defect in tunectl",
}
_MOST_SHOWN = 12


@dataclass(frozen=True)
class Explanation:
    """What one word means. Shape: `parts` are labels with texts, none of them empty."""

    name: str
    kind: str
    title: str
    parts: tuple[tuple[str, str], ...] = ()


def names() -> list[str]:
    """Return every word that can be explained."""
    return [*CODES, *CHECKS, *REFUSALS, *(field.path for field in describe_fields())]


def explain(word: str) -> tuple[Explanation, ...]:
    """Return what a word means: what has exactly this name, else all whose name or source has it.

    Sad paths: `InputError` TUN-1014 with the nearest names when nothing has.
    """
    everything = list(_everything())
    exact = tuple(one for one in everything if one.name.lower() == word.lower())
    if exact:
        return exact
    plain = _plain(word)
    near = tuple(one for one in everything if plain and plain in _plain(one.name + " " + _source(one)))
    if near:
        return near[:_MOST_SHOWN]
    raise _unknown(word, (one.name for one in everything))


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", text.lower())


def _source(one: Explanation) -> str:
    parts = dict(one.parts)
    return f"{parts.get('source', '')} {parts.get('reason', '')}"


def _everything() -> Iterator[Explanation]:
    for code, text in CODES.items():
        stage = STAGES.get(code.removeprefix("TUN-")[:1], "")
        yield Explanation(code, "error code", text, (("stage", stage),))
    for check, doc in CHECKS.items():
        yield Explanation(check, "check", doc.title, _parts(why=doc.why, fix=doc.remedy, source=doc.source))
    for code, refusal in REFUSALS.items():
        parts = _parts(reason=refusal.reason, why=refusal.why, fix=refusal.ways_out, source=refusal.source)
        yield Explanation(code, "refusal of a pod", refusal.title, parts)
    for field in describe_fields():
        yield _field(field)


def _field(field: FieldDoc) -> Explanation:
    parts = _parts(
        type=field.type,
        unit=field.unit,
        allowed=field.allowed,
        default=field.default,
        since=field.since,
        source=field.source,
    )
    return Explanation(field.path, "tier field", field.doc, parts)


def _parts(**texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((label, text) for label, text in texts.items() if text)


def _unknown(word: str, known: Iterable[str]) -> InputError:
    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.4)
    return InputError(
        (
            problem(
                "TUN-1014",
                f"nothing is called {word!r}",
                where="tunectl explain",
                why="it explains error codes (TUN-2103), checks (cpu.siblings.split) and tier fields (cpu.reserved)",
                fix=f"did you mean {', '.join(near)}?" if near else "tunectl tier show hpc-massive names the fields",
            ),
        )
    )
