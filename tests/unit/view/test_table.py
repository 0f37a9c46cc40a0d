"""Tables and labels: everything lines up and fits, whatever is in it."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tunectl.view.quantities import duration_text, memory_text, middle_cut, plural
from tunectl.view.screen import Screen
from tunectl.view.table import Cell, Column, Row, column_widths, labelled, table_lines

_TEXTS = st.text(alphabet="abcxyz0123456789,-…", max_size=60)


@given(st.text(max_size=80), st.integers(1, 90))
def test_a_cut_text_keeps_both_ends_and_fits(text: str, width: int) -> None:
    cut = middle_cut(text, width)
    assert len(cut) <= width
    if len(text) <= width:
        assert cut == text
    else:
        head, _, tail = cut.partition("…") if "…" not in text else (cut[: width - 1 - (width - 1) // 2], "", "")
        assert text.startswith(head)
        assert text.endswith(tail)


@given(st.lists(st.tuples(_TEXTS, _TEXTS, _TEXTS), max_size=6), st.integers(60, 120))
def test_columns_line_up_and_the_table_fits(rows: list[tuple[str, str, str]], width: int) -> None:
    columns = [Column("NAME"), Column("NOW", elastic=True), Column("WANTED", elastic=True)]
    short = [(name[:10], now, wanted) for name, now, wanted in rows]
    lines = table_lines(columns, short, Screen(width=width))
    assert len(lines) == len(rows) + 1
    assert all(len(line) <= width for line in lines)
    start = lines[0].index("WANTED")
    for line, row in zip(lines[1:], short, strict=True):
        assert line[start - 2 : start].strip() == ""
        assert line[start:].split("…")[0] in row[2]


def test_the_widest_elastic_column_gives_way_first() -> None:
    columns = [Column("A"), Column("B", elastic=True), Column("C", elastic=True)]
    assert column_widths(columns, [["12345", "x" * 10, "y" * 40]], 40) == [5, 10, 21]


def test_numbers_are_right_aligned_and_roles_do_not_move_anything() -> None:
    columns = [Column("N", right=True), Column("X")]
    rows: list[Row] = [[Cell("7", "bad"), "a"], ["123", "b"]]
    painted = table_lines(columns, rows, Screen(colour=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(painted)).splitlines() == ["    N  X", "    7  a", "  123  b"]
    assert "\x1b[31m7\x1b[0m" in painted[1]


@given(st.text(alphabet="ab ", max_size=300))
def test_a_labelled_text_fits_and_loses_nothing(text: str) -> None:
    lines = labelled("why", text, Screen(width=80))
    assert lines[0].startswith("  why")
    assert "".join("".join(lines).split())[3:] == "".join(text.split())
    assert all(len(line) <= 80 for line in lines)


def test_amounts() -> None:
    assert [memory_text(kib) for kib in (0, 2048, 1048576, 268435456)] == ["0 MiB", "2 MiB", "1 GiB", "256 GiB"]
    assert [duration_text(one) for one in (0.84, 9.94, 9.96, 59.4, 61, 3599.6, 3900)] == [
        "0.8 s",
        "9.9 s",
        "10.0 s",
        "59 s",
        "1m01s",
        "1h00m",
        "1h05m",
    ]
    assert [plural(1, "node"), plural(0, "node"), plural(2, "entry", "entries")] == ["1 node", "0 nodes", "2 entries"]
