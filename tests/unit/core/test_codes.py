"""Every error code has its sentence, and every sentence its error."""

import re
from pathlib import Path

from tunectl.core.codes import CODES

_REPOSITORY = Path(__file__).resolve().parents[3]
_CODE = re.compile(r"TUN-\d{4}")
_LIST = "codes.py"


def _used() -> set[str]:
    files = [*(_REPOSITORY / "plugins").rglob("*.py"), *(_REPOSITORY / "src" / "tunectl").rglob("*.py")]
    return {code for path in files if path.name != _LIST for code in _CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_code_is_explained() -> None:
    assert sorted(_used() - set(CODES)) == []


def test_every_explanation_is_of_a_code_that_occurs() -> None:
    assert sorted(set(CODES) - _used()) == []


def test_codes_are_sorted_and_say_a_sentence() -> None:
    assert list(CODES) == sorted(CODES)
    assert [code for code, text in CODES.items() if not text.endswith(".")] == []
