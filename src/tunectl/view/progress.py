"""Shows a run while it goes on: a live table, dated lines, JSON lines, or nothing. Always on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TextIO

from tunectl.steps import Step, StepEvent, StepState

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

_SIGNS = {
    StepState.START: "▸",
    StepState.OK: "✓",
    StepState.UNCHANGED: "=",
    StepState.FAILED: "✗",
    StepState.UNREACHABLE: "?",
}
_STYLES = {StepState.OK: "green", StepState.FAILED: "red", StepState.UNREACHABLE: "yellow", StepState.UNCHANGED: "dim"}
_BAR_WIDTH = 28
_DONE = (StepState.OK, StepState.UNCHANGED)


class Progress(Protocol):
    """A display of a run."""

    def begin(self, title: str, nodes: Sequence[str], last: Step) -> None:
        """Show a run over `nodes`; a node is done when its step `last` ended."""

    def step(self, event: StepEvent) -> None:
        """Show that a step began or ended."""

    def end(self) -> None:
        """Leave the final state on the screen."""


class SilentProgress:
    """Shows nothing."""

    def begin(self, title: str, nodes: Sequence[str], last: Step) -> None:
        """Do nothing."""

    def step(self, event: StepEvent) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Do nothing."""


class LineProgress:
    """One dated line per event, in the form `time run=… node=… step=… state=…`, or one JSON object per line."""

    def __init__(self, stream: TextIO, *, as_json: bool = False, clock: Callable[[], datetime] | None = None) -> None:
        """Write to `stream`; `clock` gives the time of each line."""
        self._stream = stream
        self._as_json = as_json
        self._clock = clock or (lambda: datetime.now(UTC))
        self._title = ""

    def begin(self, title: str, nodes: Sequence[str], last: Step) -> None:
        """Remember the run's title for the lines; the nodes show up with their steps."""
        del nodes, last
        self._title = title

    def step(self, event: StepEvent) -> None:
        """Write one line."""
        fields: dict[str, str | float] = {
            **({"run": self._title} if self._title else {}),
            "node": event.node,
            "step": event.step.value,
            "state": event.state.value,
        }
        if event.ended:
            fields["duration_s"] = round(event.duration_s, 1)
        if event.simulated:
            fields["simulated"] = "yes"
        if event.note:
            fields["note"] = event.note
        stamp = self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        if self._as_json:
            line = json.dumps({"time": stamp, **fields})
        else:
            line = stamp + "".join(f" {key}={_quoted(value)}" for key, value in fields.items())
        self._stream.write(line + "\n")
        self._stream.flush()

    def end(self) -> None:
        """Nothing stays to be drawn."""


class LiveProgress:
    """A bar over the pool and one line per node, redrawn in place."""

    def __init__(self, stream: TextIO, *, color: bool = True) -> None:
        """Draw on `stream`, which is a terminal."""
        from rich.console import Console  # noqa: PLC0415 - heavy; only when a terminal watches
        from rich.live import Live  # noqa: PLC0415

        self._console = Console(file=stream, no_color=not color, highlight=False)
        self._new = Live
        self._live: Live | None = None
        self._title = ""
        self._last = Step.VERIFY
        self._nodes: dict[str, list[StepEvent]] = {}
        self._started = 0.0

    def begin(self, title: str, nodes: Sequence[str], last: Step) -> None:
        """Start to draw; a display that is open is finished first."""
        self.end()
        self._title, self._last = title, last
        self._nodes = {node: [] for node in nodes}
        self._started = time.monotonic()
        self._live = self._new(console=self._console, refresh_per_second=8, get_renderable=self._draw)
        self._live.start()

    def step(self, event: StepEvent) -> None:
        """Note the event; the next redraw shows it."""
        events = self._nodes.setdefault(event.node, [])
        if events and not events[-1].ended and events[-1].step is event.step:
            events.pop()
        events.append(event)

    def end(self) -> None:
        """Draw once more and leave it on the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _draw(self) -> Table:
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        outer = Table.grid(padding=(0, 1))
        done = sum(1 for events in self._nodes.values() if _is_done(events, self._last))
        elapsed = _span(time.monotonic() - self._started)
        outer.add_row(Text(f"{self._title}  {bar(done, len(self._nodes))}   {done} of {len(self._nodes)}   {elapsed}"))
        width = max((len(node) for node in self._nodes), default=0)
        for node, events in self._nodes.items():
            outer.add_row(self._line(node.ljust(width), events))
        return outer

    def _line(self, node: str, events: Sequence[StepEvent]) -> Text:
        from rich.text import Text  # noqa: PLC0415

        if not events:
            return Text(f"  · {node}", style="dim")
        last = events[-1]
        sign = _SIGNS[last.state] if not last.ended or _is_done(events, self._last) or last.state not in _DONE else "▸"
        text = Text(f"  {sign} ", style=_STYLES.get(last.state, "")) + Text(node, style="bold")
        for event in events:
            text += Text("   " + describe(event), style=_STYLES.get(event.state, "") if event.ended else "")
        return text


def describe(event: StepEvent) -> str:
    """Return a step as a few words: `write 0.4s`, `reboot (simulated) 0.1s`, `verify 46/46`."""
    name = event.step.value + (" (simulated)" if event.simulated and event.step is Step.REBOOT else "")
    if event.state is StepState.START:
        return f"{name} …"
    if event.state is StepState.OK:
        return f"{name} {event.note}" if event.note else f"{name} {_span(event.duration_s)}"
    return f"{name} {event.note or event.state.value}"


def bar(done: int, total: int) -> str:
    """Return a bar of fixed width, filled in proportion; full only when everything is done."""
    filled = _BAR_WIDTH * done // total if total else _BAR_WIDTH
    return "━" * filled + ("╸" if filled < _BAR_WIDTH else "") + " " * (_BAR_WIDTH - filled - 1)


def make_progress(kind: str, *, quiet: bool = False, color: bool = True, stream: TextIO | None = None) -> Progress:
    """Return the display for `--progress auto|plain|json|off`; auto is live at a terminal and plain elsewhere."""
    target = stream or sys.stderr
    if quiet or kind == "off":
        return SilentProgress()
    if kind == "json":
        return LineProgress(target, as_json=True)
    if kind == "auto" and target.isatty():
        return LiveProgress(target, color=color)
    return LineProgress(target)


def _is_done(events: Sequence[StepEvent], last: Step) -> bool:
    return any(event.step is last and event.state in _DONE for event in events)


def _span(seconds: float) -> str:
    if seconds < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{seconds:.1f}s"
    return f"{int(seconds) // 60}m{int(seconds) % 60:02d}s"


def _quoted(value: str | float) -> str:
    text = str(value)
    return json.dumps(text) if " " in text or not text else text
