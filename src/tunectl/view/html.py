"""Pages: one file that needs nothing else, light or dark as the reader's system is, readable without colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root{color-scheme:light dark;--ink:#1c2733;--soft:#5b6b79;--paper:#fff;--line:#d4dce3;--panel:#f5f7f9;
--good:#1f7a3d;--bad:#b3261e;--attention:#8a5a00}
@media (prefers-color-scheme:dark){:root{--ink:#e4eaf0;--soft:#9fb0be;--paper:#12181e;--line:#34424e;--panel:#1a222a;
--good:#6fcf8b;--bad:#ff8a80;--attention:#f0c060}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;
color:var(--ink);background:var(--paper)}
h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
code,td.mono,.mono{font:13px ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
header p{color:var(--soft);margin:.2rem 0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--soft)}
.wide{overflow-x:auto}
.good{color:var(--good)}.bad{color:var(--bad)}.attention{color:var(--attention)}.dim{color:var(--soft)}
.label{border:1px solid var(--attention);color:var(--attention);border-radius:1rem;padding:.1rem .7rem;font-size:.85rem}
.tiles{display:flex;flex-wrap:wrap;gap:.7rem;margin:1rem 0}
.tile{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem;min-width:7rem}
.tile b{display:block;font-size:1.5rem;line-height:1.2}
details{border:1px solid var(--line);border-radius:.5rem;padding:.4rem .8rem;margin:.5rem 0}
summary{cursor:pointer;font-weight:600}
.card{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.6rem 1rem;margin:.6rem 0}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.4rem 0}dt{color:var(--soft)}dd{margin:0}
pre{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.7rem;overflow-x:auto}
""".strip()


def page(title: str, subtitle: str, body: Iterable[str], *, simulated: bool) -> str:
    """Return a whole page. Shape: `title` and `subtitle` are text, `body` is markup."""
    label = ' <span class="label">simulated</span>' if simulated else ""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
            f"<header><h1>{escape(title)}{label}</h1><p>{escape(subtitle)}</p></header>",
            *body,
            "</body></html>",
            "",
        ]
    )


def mark(text: str, role: str) -> str:
    """Return text in the colour of a role."""
    return f'<span class="{role}">{escape(text)}</span>'


def tiles(items: Sequence[tuple[str, str, str]]) -> str:
    """Return large numbers with their words; items are (number, words, role)."""
    inner = "".join(
        f'<div class="tile"><b class="{role}">{escape(number)}</b>{escape(words)}</div>'
        for number, words, role in items
    )
    return f'<div class="tiles">{inner}</div>'


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are markup."""
    head = "".join(f"<th scope=col>{escape(title)}</th>" for title in titles)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def definitions(items: Iterable[tuple[str, str]]) -> str:
    """Return labels with texts; empty texts are left out."""
    inner = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in items if text)
    return f"<dl>{inner}</dl>"


def mono(text: str) -> str:
    """Return text in the letters of code."""
    return f"<code>{escape(text)}</code>"
