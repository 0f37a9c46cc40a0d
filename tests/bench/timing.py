"""Times whole commands in turn and compares their medians."""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """One thing to time: what it is called, its argument list, where it runs, and what precedes each run untimed."""

    name: str
    argv: Sequence[str]
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], None] | None = None
    exit_codes: tuple[int, ...] = (0,)


def run(command: Command) -> float:
    """Return the seconds that one run took; raises `RuntimeError` with the output when it failed."""
    if command.before is not None:
        command.before()
    env = {**os.environ, **command.env}
    start = time.perf_counter()
    done = subprocess.run(
        command.argv, cwd=command.folder, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    took = time.perf_counter() - start
    if done.returncode not in command.exit_codes:
        raise RuntimeError(f"{command.name} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return took


def in_turn(commands: Sequence[Command], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each command by name; the order turns round every time (A B C, C B A, …)."""
    for command in commands:
        run(command)
    seconds: dict[str, list[float]] = {command.name: [] for command in commands}
    for turn in range(rounds):
        for command in commands if turn % 2 == 0 else list(reversed(commands)):
            seconds[command.name].append(run(command))
    return seconds


def spread(values: Sequence[float]) -> str:
    """Return median and range, in seconds."""
    return f"{statistics.median(values):7.3f}  ({min(values):.3f} to {max(values):.3f})"
