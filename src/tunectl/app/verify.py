"""Verify nodes: every setting of a tier against what their snapshots show. Changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from tunectl.core.checks.node import verify_node
from tunectl.core.desire import Desire, desire
from tunectl.core.desired import Platform
from tunectl.core.environment import NodeEnvironment, environment
from tunectl.core.errors import InputError, problem
from tunectl.core.findings import Finding, Severity, Verdict
from tunectl.core.fingerprint import hardware_fingerprint
from tunectl.core.observed import ObservedState, observe
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import Tier
from tunectl.planning.documents import snapshot_documents


@dataclass(frozen=True)
class Scope:
    """Which checks count.

    Shape: `checks` and `skips` are patterns of check ids; no `checks` means all. `level` is the least severity.
    `known` are (node, check) pairs whose failure is known already: they are shown, but do not count.
    `unknown_fails` says whether a check that could not look keeps the run from being good.
    """

    checks: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    level: Severity = Severity.INFO
    known: frozenset[tuple[str, str]] = frozenset()
    unknown_fails: bool = True

    def has(self, finding: Finding) -> bool:
        """Whether the finding is within the scope."""
        levels = list(Severity)
        return (
            levels.index(finding.severity) <= levels.index(self.level)
            and (not self.checks or any(fnmatchcase(finding.id, pattern) for pattern in self.checks))
            and not any(fnmatchcase(finding.id, pattern) for pattern in self.skips)
        )


@dataclass(frozen=True)
class NodeReport:
    """The findings about one node."""

    node: str
    findings: tuple[Finding, ...]
    simulated: bool = False

    def count(self, verdict: Verdict) -> int:
        """Return how many findings have the verdict."""
        return sum(finding.verdict is verdict for finding in self.findings)


@dataclass(frozen=True)
class Verification:
    """The findings about all nodes, in the order of the snapshots."""

    tier: str
    pool: str
    nodes: tuple[NodeReport, ...]
    scope: Scope = Scope()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, node by node."""
        return tuple(finding for node in self.nodes for finding in node.findings)

    @property
    def simulated(self) -> bool:
        """Whether any node is simulated."""
        return any(node.simulated for node in self.nodes)

    def counts_against(self, finding: Finding) -> bool:
        """Whether the finding is a failure that is not known already."""
        return finding.verdict is Verdict.FAIL and (finding.subject, finding.id) not in self.scope.known

    @property
    def exit_code(self) -> int:
        """3 with a new failure, 5 when nothing failed but something is unknown, else 0."""
        if any(self.counts_against(finding) for finding in self.findings):
            return 3
        unknown = any(finding.verdict is Verdict.UNKNOWN for finding in self.findings)
        return 5 if unknown and self.scope.unknown_fails else 0


def verify(tier: Tier, snapshots: Sequence[Snapshot], platform: Platform, scope: Scope) -> Verification:
    """Return what holds and what does not on the nodes whose snapshots these are.

    Shape: the desired state is computed once for each distinct hardware and software.
    Sad paths: those of `desire`; `InputError` TUN-1012 when the scope leaves no check.
    """
    desires: dict[tuple[str, NodeEnvironment], Desire] = {}
    nodes = []
    for snapshot in snapshots:
        observed = observe(snapshot, snapshot_documents(snapshot))
        key = (hardware_fingerprint(snapshot), environment(observed))
        if key not in desires:
            desires[key] = desire(tier, read_topology(snapshot), key[1], platform)
        nodes.append(_report(desires[key], observed, snapshot, scope))
    if snapshots and not any(node.findings for node in nodes):
        raise _nothing_to_check(tier, scope)
    return Verification(tier.name, tier.pool_name, tuple(nodes), scope)


def _report(wanted: Desire, observed: ObservedState, snapshot: Snapshot, scope: Scope) -> NodeReport:
    findings = [replace(one, subject=snapshot.node) for one in verify_node(wanted.desired, observed)]
    return NodeReport(snapshot.node, tuple(one for one in findings if scope.has(one)), snapshot.simulated)


def _nothing_to_check(tier: Tier, scope: Scope) -> InputError:
    asked = [f"--check {pattern}" for pattern in scope.checks] + [f"--skip {pattern}" for pattern in scope.skips]
    return InputError(
        (
            problem(
                "TUN-1012",
                "no check is left",
                where=" ".join(asked) or f"tier {tier.name}",
                why="none of the tier's checks has an id that matches" if asked else "the tier has no setting to check",
                fix="tunectl verify -v lists the check ids, tunectl explain CHECK says what one asks",
            ),
        )
    )


def known_failures(report: Mapping[str, object]) -> frozenset[tuple[str, str]]:
    """Return the (node, check) pairs that failed in a saved report.

    Sad paths: `InputError` TUN-1013 when the document is no report.
    """
    items = report.get("items")
    if report.get("kind") != "Report" or not isinstance(items, list):
        raise InputError(
            (
                problem(
                    "TUN-1013",
                    "the baseline is no report",
                    where="--baseline",
                    why=f"its kind is {report.get('kind')!r}",
                    fix="save one with: tunectl verify --tier TIER -o json=FILE",
                ),
            )
        )
    return frozenset((str(item["node"]), str(item["check"])) for item in items if item.get("verdict") == "fail")
