"""The picture of a simulated node: its CPUs by the pod that has them to itself."""

from __future__ import annotations

from tunectl.app.simulate import Simulated
from tunectl.view.cpumap import CpuMap, Legend, map_cpus
from tunectl.view.quantities import plural

_LETTERS = "abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQTUVWXYZ"  # without those of the other roles
_COLOURS = 6
_MOST_NAMED = 12
_MORE = "pod5.more"
_POOL = "unassigned.pool"


class _PodRoles:
    """Colours CPUs by the pod that has them to itself; from some number on, pods share one letter."""

    def __init__(self, run: Simulated) -> None:
        owners = {
            outcome.pod: [cpu for placement in outcome.placements for cpu in placement.cpus]
            for outcome in run.result.outcomes
        }
        holding = {pod: cpus for pod, cpus in owners.items() if cpus}
        self._owner: dict[int, str] = {}
        self._reserved = run.result.reserved
        self._offline = run.target.topology.online - run.result.planned.machine.cpus
        self.legend: dict[str, tuple[str, str]] = {}
        for number, (pod, cpus) in enumerate(holding.items()):
            role = f"pod{number % _COLOURS}.{number}"
            if number < _MOST_NAMED or len(holding) == _MOST_NAMED + 1:
                self.legend[role] = (_LETTERS[number], pod)
            else:
                role = _MORE
                self.legend[role] = ("+", plural(len(holding) - _MOST_NAMED, "more pod"))
            self._owner.update(dict.fromkeys(cpus, role))

    def role_of(self, cpu: int) -> str:
        """Return the role of a CPU."""
        if cpu in self._owner:
            return self._owner[cpu]
        if cpu in self._reserved:
            return "reserved"
        return "offlined" if cpu in self._offline else _POOL


def simulation_map(run: Simulated) -> CpuMap:
    """Return the machine with every CPU in the colour of its pod; reserved CPUs say whether containers run there."""
    roles = _PodRoles(run)
    return map_cpus(run.target.topology, roles, _legend(run, roles))


def _legend(run: Simulated, roles: _PodRoles) -> Legend:
    result = run.result
    runs_there = not result.reserved.isdisjoint(result.shared)
    return {
        "reserved": ("R", "reserved and shared" if runs_there else "reserved, no containers"),
        **roles.legend,
        _POOL: ("·", "shared pool" if result.planned.settings.is_static else "all containers"),
        "offlined": ("x", "offline after boot"),
    }
