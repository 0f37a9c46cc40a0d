# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What neither a PerformanceProfile nor a KubeletConfig can carry: a Tuned object and a MachineConfig."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from ..core.desired import Area, DesiredState, Setting
from ..core.errors import Problem, problem
from ..core.plan import NodeFile
from ..core.sysctl import DEBUGFS_SCHED, MOVED, canonical_name
from ..core.tier import Tier
from .grammar_gate import argument
from .jinja_env import render_template
from .pool import Pool

TUNED_NAMESPACE = "openshift-cluster-node-tuning-operator"
IGNITION_VERSION = "3.2.0"
_THP = "/sys/kernel/mm/transparent_hugepage/"
_KSM = "/sys/kernel/mm/ksm/run"
# TuneD's scheduler plugin finds these in whichever place the running kernel has them; base_slice_ns it does not know.
_SCHEDULER = frozenset(MOVED) - {"kernel.sched_base_slice_ns"}
# Lower wins: before the operator's own profiles (20), which it includes; for the pools of the cluster after them.
_PRIORITY, _BUILT_IN_PRIORITY = 15, 30


def tuned_settings(tier: Tier, desired: DesiredState, *, is_operated: bool) -> tuple[Setting, ...]:
    """Return the kernel parameters and runtime values that TuneD must set, sorted by name.

    Shape: next to a PerformanceProfile only those that the tier itself asks for; the operator sets the others.
    """
    found = [
        setting
        for setting in desired.settings
        if setting.area in (Area.SYSCTL, Area.RUNTIME) and (not is_operated or _is_asked(setting, tier))
    ]
    return tuple(sorted(found, key=lambda setting: (setting.area.value, setting.name)))


def tuned_problems(settings: tuple[Setting, ...]) -> Iterator[Problem]:
    """Yield a problem (`TUN-2242`) for each value that TuneD would not take as it is."""
    for setting in settings:
        text = str(setting.value)
        if "%" in text or text[:1] in ("<", ">"):
            yield _unfit(setting, f"to {text!r}", "TuneD reads % as a reference, and a leading < or > as a bound")
        if setting.area is Area.RUNTIME and not setting.name.startswith("/sys/"):
            yield _unfit(setting, "at all", "TuneD writes files below /sys only")


def _unfit(setting: Setting, what: str, why: str) -> Problem:
    return problem(
        "TUN-2242",
        f"a TuneD profile cannot set {setting.name} {what}",
        where=str(setting.asked_in) or setting.id,
        why=why,
        fix="change it in the tier, or use a tier with a PerformanceProfile for this pool",
    )


def tuned_document(tier: Tier, settings: tuple[Setting, ...], pool: Pool, include: str) -> dict[str, object]:
    """Return the Tuned object whose profile adds `settings` to the profile `include`.

    Source: tuned.openshift.io/v1; TuneD plugins sysctl, vm, sysfs.
    """
    name = f"tunectl-{pool.name}"
    data = render_template(
        "openshift/tuned.conf.j2",
        summary=f"tunectl tier {tier.name}",
        include=include,
        sections=list(_sections(settings)),
    )
    return {
        "apiVersion": "tuned.openshift.io/v1",
        "kind": "Tuned",
        "metadata": {"name": name, "namespace": TUNED_NAMESPACE},
        "spec": {"profile": [{"data": data, "name": name}], "recommend": [_recommend(name, pool)]},
    }


def machine_config_document(
    tier: Tier, desired: DesiredState, pool: Pool, files: tuple[NodeFile, ...], *, is_operated: bool
) -> dict[str, object] | None:
    """Return the MachineConfig with kernel arguments, kernel type and files, None when there is nothing for one.

    Shape: next to a PerformanceProfile files only; the operator owns arguments and kernel type there.
    Source: machineconfiguration.openshift.io/v1, Ignition 3.2.
    """
    spec: dict[str, Any] = {}
    if not is_operated:
        arguments = [argument(setting) for setting in desired.of(Area.CMDLINE)]
        kernel_type = "realtime" if tier.kernel.realtime else {"64k": "64k-pages"}.get(tier.kernel.page_size, "")
        spec = {"kernelArguments": arguments} if arguments else {}
        spec.update({"kernelType": kernel_type} if kernel_type else {})
    if not spec and not files:
        return None
    config: dict[str, Any] = {"ignition": {"version": IGNITION_VERSION}}
    if files:
        config["storage"] = {"files": [_ignition_file(file) for file in files]}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {"name": f"99-tunectl-{pool.name}", "labels": pool.role},
        "spec": {"config": config, **spec},
    }


def _is_asked(setting: Setting, tier: Tier) -> bool:
    if setting.area is Area.SYSCTL:
        return setting.name in {canonical_name(name) for name in tier.sysctl}
    asked = {
        _THP + "enabled": bool(tier.memory.transparent_hugepages),
        _THP + "defrag": bool(tier.memory.thp_defrag),
        _THP + "shmem_enabled": bool(tier.memory.thp_shmem),
        _THP + "khugepaged/defrag": tier.memory.khugepaged_defrag is not None,
        _KSM: tier.memory.ksm is not None,
    }
    # Only a parameter that the tier asks for is translated into a scheduler file.
    return asked.get(setting.name, setting.name.startswith(DEBUGFS_SCHED))


def _sections(settings: tuple[Setting, ...]) -> Iterator[dict[str, object]]:
    sections: dict[str, list[dict[str, str]]] = {"sysctl": [], "scheduler": [], "vm": [], "sysfs": []}
    for setting in settings:
        section, name = _place(setting)
        sections[section].append({"name": name, "value": str(setting.value).strip(" \t")})
    if sections["scheduler"]:
        # Values only: the plugin would otherwise watch all processes.
        sections["scheduler"].append({"name": "runtime", "value": "0"})
    for name, options in sections.items():
        if options:
            yield {"name": name, "options": options}


def _place(setting: Setting) -> tuple[str, str]:
    """Return the TuneD section and option of a setting."""
    if setting.name == _THP + "enabled":
        # The plugin that the included profile uses: two plugins for one file would depend on their order.
        return "vm", "transparent_hugepages"
    if setting.area is Area.SYSCTL and setting.name in _SCHEDULER:
        return "scheduler", setting.name.removeprefix("kernel.")
    return ("sysctl" if setting.area is Area.SYSCTL else "sysfs"), setting.name


def _recommend(profile: str, pool: Pool) -> dict[str, object]:
    if pool.is_built_in:
        # All custom pools carry the machine configurations of worker too; the label of the nodes is meant here.
        label = next(iter(pool.node_selector))
        return {"match": [{"label": label}], "priority": _BUILT_IN_PRIORITY, "profile": profile}
    return {"machineConfigLabels": pool.role, "priority": _PRIORITY, "profile": profile}


def _ignition_file(file: NodeFile) -> dict[str, object]:
    encoded = base64.b64encode(file.content.encode()).decode("ascii")
    return {
        "contents": {"source": f"data:text/plain;charset=utf-8;base64,{encoded}"},
        "mode": file.mode,
        "overwrite": True,
        "path": file.path,
    }
