"""One run of the command line: when it started, where its output goes, how it talks."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from tunectl.app.settings import Settings
from tunectl.cli.output import OutputSpec, Renderer, document_text, write_file, write_stdout
from tunectl.view.envelope import Result, envelope
from tunectl.view.screen import Screen, screen_for


@dataclass(frozen=True)
class Where:
    """Which nodes: an inventory, or snapshots instead of it, and what restricts them."""

    inventory: Path | None = None
    nodes: tuple[str, ...] = ()
    pool: str | None = None
    snapshots: tuple[Path, ...] = ()


@dataclass(frozen=True)
class TierChoice:
    """Which tier, and values set over it on the command line, by dotted path."""

    name: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)


@dataclass
class Session:
    """The state of one run.

    `kind` and `outputs` are set when the command is known; `failure_outputs` are read from the raw command
    line, so that every failure has its document.
    """

    args: tuple[str, ...] = ()
    kind: str = "Result"
    outputs: tuple[OutputSpec, ...] = ()
    failure_outputs: tuple[OutputSpec, ...] = ()
    where: Where = Where()
    tier: TierChoice = TierChoice()
    settings: Settings = field(default_factory=lambda: Settings({}))
    quiet: bool = False
    verbose: int = 0
    debug: bool = False
    colour: str = "auto"
    progress: str = "auto"
    no_input: bool = False
    timeout_s: float | None = None
    timed_out: bool = False
    started_at: str = field(default_factory=lambda: datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    started: float = field(default_factory=time.monotonic)

    @property
    def screen(self) -> Screen:
        """The screen behind stdout."""
        return screen_for(sys.stdout, self.colour)

    @property
    def talk_screen(self) -> Screen:
        """The screen behind stderr."""
        return screen_for(sys.stderr, self.colour)

    @property
    def interactive(self) -> bool:
        """Whether a question may be asked: at a terminal, and not forbidden."""
        return not self.no_input and sys.stdin.isatty() and sys.stderr.isatty()

    def start_timer(self) -> None:
        """Interrupt the run, as Ctrl-C would, when its time is over."""
        if self.timeout_s is not None:
            signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, max(self.timeout_s - (time.monotonic() - self.started), 0.001))

    def stop_timer(self) -> None:
        """Let the run take as long as it takes."""
        if self.timeout_s is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _number: int, _frame: FrameType | None) -> None:
        self.timed_out = True
        raise KeyboardInterrupt

    def say(self, text: str) -> None:
        """Tell something on stderr, unless the result alone is wanted."""
        if not self.quiet:
            sys.stderr.write(self.talk_screen.text(text) + "\n")
            sys.stderr.flush()

    def next_step(self, command: str) -> None:
        """Tell what to type next, when a person reads the output."""
        if self.outputs and self.outputs[0].format == "table":
            self.say(f"Next: {command}")

    def emit(self, result: Result, renderers: Mapping[str, Renderer]) -> int:
        """Write the result in every format asked for, files first, and return its exit code.

        Shape: `renderers` has a function for each format besides json and yaml.
        """
        texts = [(spec, self._render(result, spec, renderers)) for spec in self.outputs]
        for spec, text in texts:
            if spec.target is not None:
                write_file(spec.target, text)
        for spec, text in texts:
            if spec.target is None:
                write_stdout(text)
        return result.exit_code

    def document(self, result: Result) -> dict[str, object]:
        """Return the envelope of a result."""
        return envelope(result, self.started_at, time.monotonic() - self.started)

    def _render(self, result: Result, spec: OutputSpec, renderers: Mapping[str, Renderer]) -> str:
        if spec.format in ("json", "yaml"):
            return document_text(self.document(result), spec.format)
        return renderers[spec.format](self.screen if spec.target is None else Screen(width=100))
