"""The fleet at a glance: for each node the tier it runs, since when, what drifted, what waits for a reboot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tunectl.app.verify import Scope, verify
from tunectl.core.desired import Platform
from tunectl.core.errors import TunectlError
from tunectl.core.findings import Finding, Verdict
from tunectl.core.plan_files import GENERATIONS
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import Tier

_PENDING = "boot.pending"


@dataclass(frozen=True)
class Generation:
    """The current generation of a node. Scale: `since` ISO 8601 UTC; number 0 = tunectl owns nothing there."""

    number: int = 0
    tier: str = ""
    since: str = ""


@dataclass(frozen=True)
class NodeStatus:
    """One node. `trouble` says why its tier could not be judged, empty when it could."""

    node: str
    generation: Generation
    findings: tuple[Finding, ...] = ()
    trouble: str = ""
    simulated: bool = False

    @property
    def failed(self) -> int:
        """How many checks fail."""
        return self._count(Verdict.FAIL)

    @property
    def passed(self) -> int:
        """How many checks pass."""
        return self._count(Verdict.PASS)

    @property
    def unknown(self) -> int:
        """How many checks could not look."""
        return self._count(Verdict.UNKNOWN)

    @property
    def reboot_pending(self) -> bool:
        """Whether what is written waits for a reboot."""
        return any(one.id == _PENDING and one.verdict is Verdict.FAIL for one in self.findings)

    @property
    def state(self) -> str:
        """Return untuned, in tier, drifted, reboot pending or unknown."""
        if self.generation.number == 0:
            return "untuned"
        if self.trouble:
            return "unknown"
        if self.reboot_pending:
            return "reboot pending"
        if self.failed:
            return "drifted"
        return "unknown" if self.unknown else "in tier"

    def _count(self, verdict: Verdict) -> int:
        return sum(one.verdict is verdict for one in self.findings)


def fleet_status(
    snapshots: Sequence[Snapshot], load: Callable[[str], Tier], platform: Platform
) -> tuple[NodeStatus, ...]:
    """Return the status of each node; `load` finds a tier by name and may raise `TunectlError`."""
    tiers: dict[str, Tier | TunectlError] = {}
    return tuple(_node_status(snapshot, tiers, load, platform) for snapshot in snapshots)


def exit_code(nodes: Sequence[NodeStatus]) -> int:
    """Return 3 when a node drifted or waits for a reboot, 5 when one could not be judged, else 0."""
    states = {node.state for node in nodes}
    if states & {"drifted", "reboot pending"}:
        return 3
    return 5 if "unknown" in states else 0


def current_generation(snapshot: Snapshot) -> Generation:
    """Return the newest committed generation that the snapshot shows."""
    numbers = sorted((int(name) for name in snapshot.names(GENERATIONS) if name.isdecimal()), reverse=True)
    for number in numbers:
        text = snapshot.files.get(f"{GENERATIONS}/{number:04d}/manifest.json")
        try:
            record = json.loads(text) if text else {}
        except ValueError:
            continue
        if record.get("state") == "committed":
            own = bool(record.get("files") or record.get("runtime"))
            return Generation(
                number if own else 0, str(record.get("tier") or "") if own else "", str(record.get("ended") or "")
            )
    return Generation()


def _node_status(
    snapshot: Snapshot, tiers: dict[str, Tier | TunectlError], load: Callable[[str], Tier], platform: Platform
) -> NodeStatus:
    generation = current_generation(snapshot)
    if generation.number == 0:
        return NodeStatus(snapshot.node, generation, simulated=snapshot.simulated)
    tier = _tier(generation.tier, tiers, load)
    if isinstance(tier, TunectlError):
        return NodeStatus(snapshot.node, generation, trouble=str(tier), simulated=snapshot.simulated)
    try:
        findings = verify(tier, [snapshot], platform, Scope()).findings
    except TunectlError as error:
        return NodeStatus(snapshot.node, generation, trouble=str(error), simulated=snapshot.simulated)
    return NodeStatus(snapshot.node, generation, findings, simulated=snapshot.simulated)


def _tier(name: str, tiers: dict[str, Tier | TunectlError], load: Callable[[str], Tier]) -> Tier | TunectlError:
    if name not in tiers:
        try:
            tiers[name] = load(name)
        except TunectlError as error:
            tiers[name] = error
    return tiers[name]
