# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does the running kubelet's own record say what its configuration says.

The record matters because a kubelet does not start on one that another policy wrote.
Source: kubelet `pkg/kubelet/cm/cpumanager/state`, `pkg/kubelet/cm/memorymanager/state`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..cpuset import CpuSet, union
from ..desired import DesiredState, Setting
from ..findings import Evidence, Finding, Verdict
from ..observed import ObservedState
from .cpus import online_cpus
from .statement import Statement, finding, verdict_of

CPU_STATE = "/var/lib/kubelet/cpu_manager_state"
MEMORY_STATE = "/var/lib/kubelet/memory_manager_state"
_STRICT = "strict-cpu-reservation"


class _UnreadableError(Exception):
    """The record says nothing; the message is the reason."""


def check_cpu_checkpoint(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether the CPU manager's record has the wanted policy and keeps the reserved CPUs as it must."""
    setting = desired.get("kubelet.cpuManagerPolicy")
    if setting is None:
        return
    yield _checked(
        "kubelet.checkpoint.policy", CPU_STATE, setting, observed, lambda state: _cpu_fault(desired, state, observed)
    )


def check_memory_checkpoint(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether the memory manager's record has the wanted policy."""
    setting = desired.get("kubelet.memoryManagerPolicy")
    if setting is None:
        return
    yield _checked("kubelet.checkpoint.memory", MEMORY_STATE, setting, observed, lambda _state: "")


def _checked(check: str, path: str, setting: Setting, observed: ObservedState, fault_of: Any) -> Finding:
    wanted = str(setting.value)
    if not observed.kubelet.present:
        return finding(check, Verdict.NOT_APPLICABLE, observed, Statement("the node has no kubelet", wanted))
    if path in observed.snapshot.absent:
        said = Statement(f"the kubelet has not written {path}", wanted, "absent", asked_in=setting.asked_in)
        return finding(check, verdict_of(wanted.lower() == "none"), observed, said)
    try:
        state = _state(observed, path)
    except _UnreadableError as error:
        return finding(check, Verdict.UNKNOWN, observed, Statement(f"{path} could not be looked at: {error}", wanted))
    policy = str(state.get("policyName", ""))
    fault = f"the kubelet runs with policy {policy}" if policy != wanted else fault_of(state)
    said = Statement(
        fault or f"the kubelet's record has policy {policy}",
        wanted,
        policy,
        evidence=(Evidence(path, _shown(state)),),
        asked_in=setting.asked_in,
    )
    return finding(check, verdict_of(not fault), observed, said)


def _state(observed: ObservedState, path: str) -> Mapping[str, Any]:
    text = observed.snapshot.files.get(path)
    if text is None:
        raise _UnreadableError(observed.snapshot.why_missing(path))
    try:
        state = json.loads(text)
    except ValueError as error:
        raise _UnreadableError(f"it is not JSON: {error}") from error
    if not isinstance(state, dict):
        raise _UnreadableError("it is no object")
    return state


def _shown(state: Mapping[str, Any]) -> str:
    shown = {key: state[key] for key in ("policyName", "defaultCpuSet") if key in state}
    return json.dumps(shown, separators=(", ", ": "))


def _cpu_fault(desired: DesiredState, state: Mapping[str, Any], observed: ObservedState) -> str:
    """Return what is wrong with the sets of a static policy's record, "" when nothing is."""
    if state.get("policyName") != "static":
        return ""
    try:
        default, exclusive = CpuSet.parse(str(state.get("defaultCpuSet", ""))), _exclusive(state)
    except ValueError as error:
        return f"the record has a CPU set that is none: {error}"
    reserved = desired.partition.reserved
    if reserved & exclusive:
        return f"reserved CPUs {reserved & exclusive} are given to containers exclusively"
    if _is_strict(desired):
        if reserved & default:
            return f"reserved CPUs {reserved & default} are in the shared pool in spite of {_STRICT}"
    elif reserved - default:
        return f"reserved CPUs {reserved - default} are missing from the shared pool"
    online = online_cpus(observed)
    lost = CpuSet() if online is None else online - default - exclusive - reserved
    return f"online CPUs {lost} are in no set of the record: nobody can use them" if lost else ""


def _is_strict(desired: DesiredState) -> bool:
    options = desired.get("kubelet.cpuManagerPolicyOptions")
    return options is not None and str(options.value.get(_STRICT, "")).lower() == "true"


def _exclusive(state: Mapping[str, Any]) -> CpuSet:
    entries = state.get("entries") or {}
    if not isinstance(entries, dict) or not all(isinstance(one, dict) for one in entries.values()):
        raise ValueError("its entries are no map of containers by pod")
    return union(CpuSet.parse(str(text)) for containers in entries.values() for text in containers.values())
