"""Options, declared once as data, and the decorator that makes a command out of a function."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from tunectl.app.settings import load_settings
from tunectl.cli import complete
from tunectl.cli.output import parse_outputs
from tunectl.cli.session import Session, TierChoice, Where
from tunectl.core.errors import InputError, problem

Body = Callable[..., int | None]


@dataclass(frozen=True)
class Option:
    """One option: its spellings and click's settings for it. `parameter` is the name it is passed by."""

    parameter: str
    spellings: tuple[str, ...]
    settings: Mapping[str, Any]


def _option(parameter: str, *spellings: str, **settings: Any) -> Option:
    return Option(parameter, spellings, settings)


_FILE = click.Path(path_type=Path)

TALK = (
    _option("quiet", "-q", "--quiet", is_flag=True, help="Print the result only."),
    _option("verbose", "-v", "--verbose", count=True, help="Show more: -v steps, -vv Ansible's output."),
    _option("debug", "--debug", is_flag=True, help="Show everything, with tracebacks."),
    _option(
        "colour",
        "--color",
        type=click.Choice(("auto", "always", "never")),
        help="Colours; NO_COLOR and FORCE_COLOR are followed too.",
    ),
    _option(
        "progress",
        "--progress",
        type=click.Choice(("auto", "plain", "json", "off")),
        help="How progress is shown on stderr.",
    ),
    _option("no_input", "--no-input", is_flag=True, help="Never ask; a needed answer is an error."),
    _option("timeout", "--timeout", metavar="DURATION", help="Limit for the whole command, like 90s, 10m or 1h30m."),
)

WHERE = (
    _option("inventory", "-i", "--inventory", type=_FILE, metavar="PATH", help="Ansible inventory."),
    _option(
        "nodes",
        "-n",
        "--node",
        multiple=True,
        metavar="PATTERN",
        help="Only these nodes; repeatable.",
        shell_complete=complete.nodes,
    ),
    _option("pool", "--pool", metavar="NAME", help="Only the nodes of this pool."),
)

SNAPSHOT = (
    _option(
        "snapshots",
        "--snapshot",
        multiple=True,
        type=_FILE,
        metavar="FILE",
        help="Read this snapshot instead of nodes; repeatable.",
    ),
)

TIER = (
    _option(
        "tier",
        "--tier",
        metavar="NAME|FILE",
        help="The tier: a name, or a file.",
        shell_complete=complete.tiers,
    ),
    _option(
        "overrides",
        "--set",
        multiple=True,
        metavar="PATH=VALUE",
        help="Set a field of the tier, like cpu.reserved=0-3; repeatable.",
    ),
)

PLATFORM = (
    _option(
        "platform",
        "--platform",
        type=click.Choice(("kubeadm", "openshift")),
        help="How the tier reaches its nodes.",
    ),
)

_BUNDLES: dict[str, tuple[Option, ...]] = {
    "inventory": WHERE[:1],
    "where": WHERE,
    "snapshot": SNAPSHOT,
    "tier": TIER,
    "platform": PLATFORM,
}


def command(  # noqa: PLR0913  the frame of a command has this many independent parts
    name: str,
    *,
    kind: str,
    formats: Sequence[str] = ("table", "json", "yaml"),
    options: Sequence[str] = (),
    parent: click.Group | None = None,
    help: str | None = None,  # noqa: A002  click's own word
) -> Callable[[Body], click.Command]:
    """Return a decorator that makes a command of a function.

    Shape: the function is called with the `Session` and the options declared on it by click; the common ones are
    in the session (`where`, `tier`, `outputs`, …). `options` names bundles: inventory, where, snapshot, tier,
    platform. `formats` are the outputs the command has, the default first; none means that it has no `-o`. The function
    returns the exit code, None for 0. `kind` names the document of the command, on failure too.
    """

    def decorate(body: Body) -> click.Command:
        bundles = tuple(option for bundle in options for option in _BUNDLES[bundle])
        shared = bundles + _output_option(formats) + TALK

        @functools.wraps(body)
        def run(**values: Any) -> int:
            session = click.get_current_context().find_object(Session) or Session()
            common = {option.parameter: values.pop(option.parameter) for option in shared}
            _fill(session, common, kind, formats)
            return body(session, **values) or 0

        for option in reversed(shared):
            click.option(*option.spellings, option.parameter, **option.settings)(run)
        params = _in_order(_declared(run), len(bundles), len(shared))
        made = DocumentedCommand(name, kind=kind, callback=run, params=params, help=help or body.__doc__)
        if parent is not None:
            parent.add_command(made)
        return made

    return decorate


class DocumentedCommand(click.Command):
    """A command that knows the kind of its document before it has parsed anything."""

    def __init__(self, name: str, *, kind: str, **settings: Any) -> None:
        """Make the command; `settings` are click's."""
        super().__init__(name, context_settings={"help_option_names": ["-h", "--help"]}, **settings)
        self.kind = kind


def _declared(run: Callable[..., Any]) -> list[click.Parameter]:
    params: list[click.Parameter] = run.__dict__.pop("__click_params__", [])
    return params[::-1]


def _in_order(params: list[click.Parameter], bundled: int, shared: int) -> list[click.Parameter]:
    """Return the parameters as the help lists them: what is worked on, the command's own, how it talks."""
    return [*params[:bundled], *params[shared:], *params[bundled:shared]]


def _output_option(formats: Sequence[str]) -> tuple[Option, ...]:
    if not formats:
        return ()
    return (
        _option(
            "outputs",
            "-o",
            "--output",
            multiple=True,
            metavar="FORMAT[=FILE]",
            help=f"Output: {', '.join(formats)}; repeatable.",
        ),
    )


def _fill(session: Session, values: Mapping[str, Any], kind: str, formats: Sequence[str]) -> None:
    session.kind = kind
    session.quiet, session.verbose, session.debug = values["quiet"], values["verbose"], values["debug"]
    if formats:
        session.outputs = parse_outputs(values["outputs"], formats, quiet=session.quiet)
    flags = {
        "inventory": None if values.get("inventory") is None else str(values["inventory"]),
        "platform": values.get("platform"),
        "color": values["colour"],
        "progress": values["progress"],
        "no_input": "true" if values["no_input"] else None,
        "timeout": values["timeout"],
    }
    session.settings = load_settings(Path.cwd(), user_settings_file(), os.environ).with_flags(flags)
    session.colour, session.progress = session.settings["color"], session.settings["progress"]
    session.no_input, session.timeout_s = session.settings["no_input"], session.settings["timeout"]
    session.start_timer()
    session.where = Where(
        inventory=session.settings["inventory"],
        nodes=tuple(values.get("nodes", ())),
        pool=values.get("pool"),
        snapshots=tuple(values.get("snapshots", ())),
    )
    session.tier = TierChoice(
        name=values.get("tier") or "",
        overrides=dict(parse_override(text) for text in values.get("overrides", ())),
    )


def user_settings_file() -> Path:
    """Return where the user's own settings are, by the custom of the operating system."""
    import platformdirs  # noqa: PLC0415  commands need it, the help does not

    return platformdirs.user_config_path("tunectl") / "config.yaml"


def parse_override(text: str) -> tuple[str, object]:
    """Return path and typed value of a `PATH=VALUE`: true, false, null, whole numbers, JSON, else text.

    Sad paths: `InputError` TUN-1005 without `=`, with a path that is none, or for JSON that does not parse.
    """
    path, equals, raw = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_][\w./-]*", path):
        raise _bad_override(text, "it is written PATH=VALUE, the path as in a tier file, like cpu.reserved=0-3")
    if raw in ("true", "false", "null") or raw[:1] in ("[", "{", '"') or re.fullmatch(r"-?(0|[1-9]\d*)", raw):
        try:
            return path, json.loads(raw)
        except ValueError as error:
            raise _bad_override(text, f"the value is not JSON: {error}") from error
    return path, raw


def _bad_override(text: str, why: str) -> InputError:
    return InputError(
        (
            problem(
                "TUN-1005",
                "a value on the command line cannot be read",
                where=f"--set {text}",
                why=why,
                fix="--set cpu.reserved=0-3",
            ),
        )
    )
