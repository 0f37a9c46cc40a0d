"""`make bench`: what tunectl costs, against bare Ansible and against a stock playbook, measured in one run."""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.planning import seconds_to_plan
from bench.simulating import seconds_to_simulate
from bench.timing import Command, in_turn, run, spread

_NODES = 20
_FORKS = "5"
_TIER = "memory-quiet"


@dataclass(frozen=True)
class Line:
    """One result: what was measured, the figure, the goal it is held against."""

    what: str
    figure: float
    goal: float
    unit: str
    detail: str

    @property
    def met(self) -> bool:
        """Whether the figure is within the goal."""
        return self.figure <= self.goal


def _program(name: str) -> str:
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def _help(rounds: int) -> list[Line]:
    here = Path.cwd()
    commands = [
        Command("tunectl --help", [_program("tunectl"), "--help"], here),
        Command("bare interpreter", [sys.executable, "-c", "pass"], here),
    ]
    seconds = in_turn(commands, rounds)
    ours, bare = seconds["tunectl --help"], seconds["bare interpreter"]
    detail = f"{spread(ours)} s, bare interpreter {statistics.median(bare):.3f} s"
    return [Line("tunectl --help", statistics.median(ours), 0.15, "s", detail)]


def _planning(rounds: int) -> list[Line]:
    values = [seconds_to_plan(nodes=1000, topologies=8) for _ in range(rounds)]
    return [Line("plan 1,000 nodes of 8 topologies", statistics.median(values), 2.0, "s", f"{spread(values)} s")]


def _simulating(rounds: int) -> list[Line]:
    lines = []
    for policy in ("restricted", "single-numa-node"):
        results = [seconds_to_simulate(pods=1000, policy=policy) for _ in range(rounds)]
        values = [seconds for seconds, _, _ in results]
        _, exclusive, refused = results[0]
        what = f"simulate 1,000 pods on 256 CPUs, 8 NUMA nodes ({policy})"
        detail = f"{spread(values)} s, memory Static, {exclusive} with CPUs of their own, {refused} refused"
        lines.append(Line(what, statistics.median(values), 1.0, "s", detail))
    return lines


def _ansible(rounds: int, folder: Path) -> list[Line]:
    tunectl, ansible = _program("tunectl"), _program("ansible")
    lab = [tunectl, "lab", "up", "--count", str(_NODES), "--pool", _TIER, "--force"]
    env = {"TUNECTL_FORKS": _FORKS, "ANSIBLE_FORKS": _FORKS, "ANSIBLE_LOCALHOST_WARNING": "False"}

    def fresh() -> None:
        run(Command("lab up", lab, folder))

    apply = [tunectl, "apply", "--tier", _TIER, "--yes", "--progress", "off"]
    fresh()
    inventory = str(next((folder / ".tunectl" / "lab").glob("*/hosts.yaml")))
    peer = str(Path(__file__).with_name("peer.yml"))
    commands = [
        Command("ping", [ansible, "all", "-i", inventory, "-m", "ansible.builtin.ping"], folder, env),
        Command("verify", [tunectl, "verify", "--tier", _TIER, "-o", "json"], folder, env),
        Command("apply again", apply, folder, env),
    ]
    first = Command("first apply", apply, folder, env, before=fresh)
    stock = Command("stock playbook", [_program("ansible-playbook"), "-i", inventory, peer], folder, env, before=fresh)
    run(first)
    seconds = in_turn(commands, rounds)
    seconds["first apply"] = [run(first) for _ in range(rounds)]
    seconds["stock playbook"] = [run(stock)]
    seconds["ping"] += [run(commands[0]) for _ in range(rounds)]
    base = statistics.median(seconds["ping"])
    goals = {"apply again": 2.0, "first apply": 4.0, "verify": 1.5, "stock playbook": float("inf")}
    return [
        Line(
            f"{name}, {_NODES} nodes, against ansible -m ping",
            statistics.median(seconds[name]) / base,
            goal,
            "x",
            f"{spread(seconds[name])} s, ping {base:.3f} s, {_FORKS} forks",
        )
        for name, goal in goals.items()
    ]


def main() -> int:
    """Measure, print a table, write the figures to a file where one is named; 1 when a goal was missed."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="counted runs of each command")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tunectl-bench-"))
    try:
        started = time.strftime("%Y-%m-%d %H:%M:%S")
        lines = (
            _help(options.rounds * 3)
            + _planning(options.rounds)
            + _simulating(options.rounds)
            + _ansible(options.rounds, folder)
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for line in lines:
        goal = "the peer" if line.goal == float("inf") else f"goal {line.goal:g} {line.unit}"
        verdict = "" if line.goal == float("inf") else ("met" if line.met else "MISSED")
        sys.stdout.write(f"{line.what:<64} {line.figure:8.3f} {line.unit}  {goal:<12} {verdict:<7} {line.detail}\n")
    if options.json is not None:
        rows = [{**asdict(line), "goal": None if line.goal == float("inf") else line.goal} for line in lines]
        options.json.write_text(json.dumps({"startedAt": started, "lines": rows}, indent=1) + "\n", encoding="utf-8")
    return 0 if all(line.met for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
