"""The pages of docs/reference, made from the program itself: fields, checks, codes, refusals, settings, commands."""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import click

from tunectl.app.explain import STAGES
from tunectl.app.settings import PROJECT_FILE, SETTINGS
from tunectl.cli.commands import COMMANDS, LazyGroup
from tunectl.cli.options import PLATFORM, TALK, WHERE
from tunectl.core.check_catalogue import CHECKS
from tunectl.core.codes import CODES
from tunectl.core.kubelet.refusal_catalogue import REFUSALS
from tunectl.core.tier_describe import FieldDoc, describe_fields
from tunectl.view.envelope import EXIT_MEANINGS, PRECEDENCE

DIRECTORY = Path(__file__).resolve().parents[1] / "docs" / "reference"
_MADE = "<!-- Made by tools/reference; do not edit. -->"


def _page(title: str, intro: str, body: Iterable[str]) -> str:
    return "\n".join([_MADE, f"# {title}", "", intro, "", *body]).rstrip("\n") + "\n"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(titles)} |"
    yield f"| {' | '.join('---' for _ in titles)} |"
    for row in rows:
        yield f"| {' | '.join(_cell(cell) for cell in row)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def tier_fields() -> str:
    """Return the page of all fields of a tier, a section for each part of it."""
    sections: dict[str, list[FieldDoc]] = {}
    for field in describe_fields():
        top = field.path.partition(".")[0]
        has_parts = field.type == "map" and "." not in field.path
        sections.setdefault(top if has_parts or "." in field.path else "", []).append(field)
    body = [line for name, fields in sections.items() for line in _field_section(name, fields)]
    intro = (
        "A tier is a YAML file. Unknown keys are errors; `[]` stands for each item of a list. `tunectl schema tier` "
        "has the same for editors, `tunectl explain FIELD` one at a time, `tunectl tier new NAME` a commented file to "
        "start from."
    )
    return _page("Fields of a tier", intro, body)


def _field_section(name: str, fields: Sequence[FieldDoc]) -> Iterator[str]:
    yield f"## {name or 'The file itself'}"
    yield ""
    head = [field for field in fields if field.path == name]
    if head:
        yield from (head[0].doc, "")
    rows = [
        (_code(field.path), field.type, _meaning(field), field.allowed, _code(field.default), field.source)
        for field in fields
        if field.path != name
    ]
    yield from _table(("field", "type", "meaning", "allowed", "default", "becomes"), rows)
    yield ""


def _meaning(field: FieldDoc) -> str:
    unit = f" Unit: {field.unit}." if field.unit else ""
    since = f" Since {field.since}." if field.since else ""
    return f"{field.doc}{unit}{since}"


def checks() -> str:
    """Return the page of all checks, a section for each topic."""
    topics: dict[str, list[str]] = {}
    for check in CHECKS:
        topics.setdefault(check.partition(".")[0], []).append(check)
    body: list[str] = []
    for topic in sorted(topics):
        body += [f"## {topic}", ""]
        for check in sorted(topics[topic]):
            doc = CHECKS[check]
            body += [f"### {check}", "", f"**{doc.title}.** {doc.why}", "", f"*Remedy:* {doc.remedy}"]
            body += ["", f"*Source:* {doc.source}"] if doc.source else []
            body.append("")
    intro = "What `plan`, `verify`, `validate` and `audit` look at, by their stable ids."
    return _page("Checks", intro, body)


def error_codes() -> str:
    """Return the page of all error codes, a section for each stage."""
    body: list[str] = []
    for digit, stage in STAGES.items():
        codes = {code: text for code, text in CODES.items() if code.removeprefix("TUN-").startswith(digit)}
        if codes:
            body += [f"## TUN-{digit}xxx: {stage}", "", *_table(("code", "meaning"), codes.items()), ""]
    intro = "Every error has one of these codes, says where it is, why, and what to do."
    return _page("Error codes", intro, body)


def refusals() -> str:
    """Return the page of all ways in which a pod is refused."""
    rows = [
        (f"[{code}](../how-to/why-was-my-pod-refused.md#{code})", _code(doc.reason), doc.title, doc.why, doc.ways_out)
        for code, doc in REFUSALS.items()
    ]
    intro = "The codes that `tunectl simulate` prints, finer than the reason that `kubectl get pod` shows."
    return _page("Refusals of pods", intro, _table(("code", "reason", "what", "why", "ways out"), rows))


def settings() -> str:
    """Return the page of the settings of the command line, and of the exit codes."""
    rows = [
        (_code(one.name), one.help, _code(one.default) or "empty", _flag(one.name), _code(one.variable))
        for one in SETTINGS
    ]
    order = ", ".join(str(code) for code in PRECEDENCE if code)
    body = [
        *_table(("setting", "what it is", "default", "flag", "variable"), rows),
        "",
        "## Exit codes",
        "",
        *_table(("code", "name", "when"), [(str(code), name, when) for code, (name, when) in EXIT_MEANINGS.items()]),
        "",
        f"If several apply, the first of {order} wins. The code is also in every JSON document.",
    ]
    intro = (
        f"A flag wins over the environment, that over `{PROJECT_FILE}` in the folder, that over `config.yaml` in the "
        "user's configuration directory (`~/.config/tunectl` on Linux). `tunectl doctor --settings` shows each with "
        "its source. Files are maps of the names below; relative paths count from the file."
    )
    return _page("Settings and exit codes", intro, body)


def _flag(name: str) -> str:
    flags = {option.parameter: option.spellings[-1] for option in (*TALK, *WHERE, *PLATFORM)}
    return _code(flags.get({"color": "colour"}.get(name, name), "")) or "none"


def commands() -> str:
    """Return the page of all commands with their own options; those that every command has stand once."""
    everywhere = _options(_command("version"))
    body = ["## Options of every command", "", *_table(("option", "what it does"), everywhere.items()), ""]
    for entry in COMMANDS:
        body += list(_command_section(entry.name, _command(entry.name), everywhere))
    return _page("Commands", "`tunectl COMMAND --help`, or `-h`, says the same.", body)


def _command(name: str) -> click.Command:
    found = LazyGroup().get_command(click.Context(click.Group()), name)
    if found is None:
        raise LookupError(name)
    return found


def _command_section(name: str, command: click.Command, everywhere: dict[str, str]) -> Iterator[str]:
    context = click.Context(command, info_name=f"tunectl {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    level = "#" * (2 + name.count(" "))
    yield from (f"{level} tunectl {name}", "", _code(f"tunectl {name} {usage}"), "")
    yield from (*(command.help or "").strip().splitlines(), "")
    own = {option: text for option, text in _options(command).items() if option not in everywhere}
    if own:
        yield from (*_table(("option", "what it does"), own.items()), "")
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            inner = command.get_command(context, sub)
            if inner is not None:
                yield from _command_section(f"{name} {sub}", inner, everywhere)


def _options(command: click.Command) -> dict[str, str]:
    context = click.Context(command)
    # The help option is made anew, or not, by whoever asked before.
    options = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    records = [option.get_help_record(context) for option in options if "--help" not in option.opts]
    return {_code(record[0]): record[1] for record in records if record is not None}


PAGES: dict[str, Callable[[], str]] = {
    "checks.md": checks,
    "commands.md": commands,
    "error-codes.md": error_codes,
    "refusals.md": refusals,
    "settings.md": settings,
    "tier-fields.md": tier_fields,
}


def main() -> int:
    """Write the pages, or say which are stale and return 1."""
    parser = argparse.ArgumentParser(prog="tools/reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when a page is not what it would be")
    options = parser.parse_args()
    stale = [
        name
        for name, make in PAGES.items()
        if not (DIRECTORY / name).is_file() or (DIRECTORY / name).read_text(encoding="utf-8") != make()
    ]
    if options.check:
        sys.stdout.write("".join(f"docs/reference/{name} is stale: run tools/reference\n" for name in stale))
        return 1 if stale else 0
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (DIRECTORY / name).write_text(PAGES[name](), encoding="utf-8")
        sys.stdout.write(f"wrote docs/reference/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
