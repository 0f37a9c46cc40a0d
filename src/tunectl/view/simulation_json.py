"""What the kubelet will do with pods, for programs: the document of schema `simulation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tunectl.app.simulate import Simulated
from tunectl.core.kubelet.restart import Restart
from tunectl.core.kubelet.simulation import Outcome, Placement
from tunectl.planning.manifests import Manifests
from tunectl.view.envelope import Result, worst

# What a simulation depends on, of all fields that a kubelet has.
_FIELDS = (
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "topologyManagerPolicy",
    "topologyManagerScope",
    "topologyManagerPolicyOptions",
    "memoryManagerPolicy",
    "reservedMemory",
    "reservedSystemCPUs",
    "kubeReserved",
    "systemReserved",
    "evictionHard",
    "maxPods",
    "podsPerCore",
    "featureGates",
)


def simulation_result(runs: Sequence[Simulated], manifests: Manifests) -> Result:
    """Return the document: one item a tier and machine."""
    refused = sum(len(run.result.refused) for run in runs)
    restarts = [run.result.restart for run in runs if run.result.restart is not None]
    outcomes = sum(len(run.result.outcomes) for run in runs)
    return Result(
        "Simulation",
        exit_code=worst([_exit_code(run) for run in runs]),
        summary={
            "pods": outcomes,
            "admitted": outcomes - refused,
            "refused": refused,
            "killedAtRestart": sum(len(restart.killed) for restart in restarts) if restarts else None,
            "skippedObjects": [name for name, _ in manifests.skipped],
        },
        items=[_item(run) for run in runs],
        simulated=True,
    )


def _exit_code(run: Simulated) -> int:
    result, restart = run.result, run.result.restart
    if result.refused or result.trouble or (restart is not None and (restart.killed or restart.trouble)):
        return 3
    return 5 if restart is not None and restart.unseen else 0


def _item(run: Simulated) -> dict[str, Any]:
    result = run.result
    machine = result.planned.machine
    return {
        "tier": run.tier,
        "node": run.target.name,
        "alike": list(run.target.alike),
        "cpus": len(machine.cpus),
        "numaNodes": len(machine.nodes),
        "kubelet": {name: run.target.kubelet[name] for name in _FIELDS if name in run.target.kubelet},
        "trouble": result.trouble or None,
        "reserved": str(result.reserved),
        "sharedPool": str(result.shared),
        "free": str(result.free),
        "outcomes": [_outcome(outcome) for outcome in result.outcomes],
        "restart": None if result.restart is None else _restart(result.restart),
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "pod": outcome.pod,
        "qosClass": outcome.qos.value,
        "admitted": outcome.admitted,
        "containers": [_placement(placement) for placement in outcome.placements],
        "sharedPool": str(outcome.shared),
        "free": outcome.free,
        "refusal": None if outcome.admitted else _refusal(outcome),
        "unjudged": list(outcome.unjudged),
    }


def _placement(placement: Placement) -> dict[str, Any]:
    return {
        "name": placement.container,
        "cpus": str(placement.cpus),
        "numaNodes": list(placement.numa_nodes),
        "memoryNodes": list(placement.memory_nodes),
        "whyShared": placement.why_shared or None,
    }


def _refusal(outcome: Outcome) -> dict[str, Any]:
    return {
        "reason": outcome.reason,
        "code": outcome.code,
        "message": outcome.message,
        "container": outcome.container or None,
        "sameAs": outcome.same_as or None,
        "arithmetic": list(outcome.arithmetic),
        "changes": list(outcome.changes),
    }


def _restart(restart: Restart) -> dict[str, Any]:
    return {
        "live": restart.live,
        "checkpointsDeleted": restart.fresh,
        "trouble": restart.trouble or None,
        "unseen": restart.unseen or None,
        "running": restart.running,
        "kept": restart.kept,
        "killed": [{"pod": name, "reason": reason} for name, reason in restart.killed],
        "moved": [
            {"pod": one.pod, "container": one.container, "before": str(one.before), "after": str(one.after)}
            for one in restart.moved
        ],
    }
