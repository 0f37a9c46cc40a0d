# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether machines can form one cluster: what is judged of all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..findings import Evidence, Finding, Verdict
from ..snapshot import Snapshot
from .judgement import statement
from .machine_facts import clock_offset, facts
from .membership import Standing, read_membership
from .places import UUID_FILE

# Certificates, leases and etcd compare times of different machines; NTP keeps them within milliseconds.
CLOCK_LIMIT_S = 2.0


def judge_machines(snapshots: Sequence[Snapshot], first: str, limit_s: float = CLOCK_LIMIT_S) -> tuple[Finding, ...]:
    """Return, for each machine, the findings about it beside the others.

    Shape: `first` is the first control plane, whose clock and certificate authority are the measure.
    Scale: `limit_s` in seconds.
    """
    by_name = {one.node: one for one in snapshots}
    return (
        *(_clock(one, by_name.get(first), limit_s) for one in snapshots),
        *_unique("bootstrap.identity", {one.node: _identity(one) for one in snapshots}),
        *_unique("bootstrap.unique-name", {one.node: _host_name(one) for one in snapshots}),
        *_authorities(snapshots, first),
    )


def _clock(snapshot: Snapshot, first: Snapshot | None, limit_s: float) -> Finding:
    own = clock_offset(snapshot)
    theirs = None if first is None else clock_offset(first)
    if own is None or theirs is None:
        return statement("bootstrap.clock", Verdict.UNKNOWN, snapshot.node, "its clock was not compared")
    if first is not None and first.node == snapshot.node:
        message = "its clock is the measure for the others"
        return statement("bootstrap.clock", Verdict.NOT_APPLICABLE, snapshot.node, message)
    low, high = own[0] - theirs[1], own[1] - theirs[0]
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    farthest = max(abs(low), abs(high))
    unsure = Verdict.PASS if farthest <= limit_s else Verdict.UNKNOWN
    verdict = Verdict.FAIL if nearest > limit_s else unsure
    side = "behind" if high < 0 else "ahead of"
    apart = f"at least {nearest:.1f} s {side}" if nearest else f"within {farthest:.1f} s of"
    return statement(
        "bootstrap.clock",
        verdict,
        snapshot.node,
        f"its clock is {apart} {first.node if first else ''}",
        expected=f"within {limit_s:g} s",
        actual=f"between {low:.1f} s and {high:.1f} s",
    )


def _identity(snapshot: Snapshot) -> dict[str, str]:
    """Return what a machine should share with no other: kind and value -> where it was read."""
    found = {}
    uuid = snapshot.text(UUID_FILE)
    if uuid:
        found[f"product_uuid {uuid.lower()}"] = UUID_FILE
    for interface, address in (facts(snapshot).get("macs") or {}).items():
        found[f"MAC address {str(address).lower()}"] = f"/sys/class/net/{interface}/address"
    return found


def _host_name(snapshot: Snapshot) -> dict[str, str]:
    name = str(facts(snapshot).get("hostname", ""))
    return {f"host name {name.lower()}": "/proc/sys/kernel/hostname"} if name else {}


def _unique(check: str, found: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    holders: dict[str, list[str]] = {}
    for node, values in found.items():
        for value in values:
            holders.setdefault(value, []).append(node)
    for node, values in found.items():
        shared = [value for value in values if len(holders[value]) > 1]
        others = sorted({other for value in shared for other in holders[value] if other != node})
        if not values:
            yield statement(check, Verdict.UNKNOWN, node, "it does not say what it is")
            continue
        yield statement(
            check,
            Verdict.FAIL if shared else Verdict.PASS,
            node,
            f"it shares {', '.join(shared)} with {', '.join(others)}" if shared else ", ".join(values),
            expected="what no other machine has",
            actual=", ".join(shared),
            evidence=tuple(Evidence(values[value], value) for value in shared),
        )


def _authorities(snapshots: Sequence[Snapshot], first: str) -> Iterator[Finding]:
    standings = {one.node: read_membership(one) for one in snapshots}
    measure = standings[first].ca if first in standings else ""
    for node, membership in standings.items():
        if membership.standing is not Standing.MEMBER:
            message = "it is in no cluster of ours yet"
            yield statement("bootstrap.authority", Verdict.NOT_APPLICABLE, node, message)
            continue
        yield statement(
            "bootstrap.authority",
            Verdict.PASS if membership.ca and membership.ca == measure else Verdict.FAIL,
            node,
            "it is a member of this cluster" if membership.ca == measure else f"it is a member of another than {first}",
            expected=measure or f"a cluster on {first}",
            actual=membership.ca or "none",
        )
