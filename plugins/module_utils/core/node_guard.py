# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What on a node would beat the files of tunectl: kubelet flags, later drop-ins, later sysctl files, other tuners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .checks.sysctl_files import check_overrides
from .checks.tuners import check_tuners
from .comparison import holds
from .desired import Area, DesiredState, Setting
from .findings import Evidence, Finding, Severity, Verdict
from .observed import ObservedState, actual_of
from .plan import NodeFile

_CGROUPS = ("systemReservedCgroup", "kubeReservedCgroup")


def guard_node(desired: DesiredState, observed: ObservedState, files: tuple[NodeFile, ...]) -> tuple[Finding, ...]:
    """Return what would keep the plan's `files` from having their effect on this node; only failures.

    Shape: findings `kubelet.flag.wins`, `kubelet.dropin.wins`, `kubelet.reserved-cpus.cgroup`, `sysctl.overridden`,
    `tuner.conflict`. Without files (OpenShift, or nothing to write) there is nothing to beat.
    """
    if not files:
        return ()
    found = (*_kubelet(desired, observed, files), *_checks(desired, observed, files))
    return tuple(finding for finding in found if finding.verdict is Verdict.FAIL)


def _checks(desired: DesiredState, observed: ObservedState, files: tuple[NodeFile, ...]) -> Iterator[Finding]:
    # The check of a node that has our files already tells what will be.
    texts = {**observed.snapshot.files, **{item.path: item.content for item in files}}
    future = replace(observed, snapshot=replace(observed.snapshot, files=texts))
    if any(desired.of(Area.SYSCTL)):
        yield from check_overrides(desired, future)
    yield from check_tuners(desired, observed)


def _kubelet(desired: DesiredState, observed: ObservedState, files: tuple[NodeFile, ...]) -> Iterator[Finding]:
    state = observed.kubelet
    if not state.present or state.trouble:
        return
    own = next((item.path for item in files if item.path.startswith(f"{state.config_dir}/")), "")
    for setting in desired.of(Area.KUBELET):
        source = state.sources.get(setting.name, "")
        if not source or holds(setting, actual_of(observed, setting)):
            continue
        if source == state.command.source:
            yield _flag_wins(observed, setting, source)
        elif own and source.startswith(f"{state.config_dir}/") and source > own:
            yield _dropin_wins(observed, setting, source, own)
    if desired.get("kubelet.reservedSystemCPUs"):
        yield from _reserved_cgroups(desired, observed)


def _flag_wins(observed: ObservedState, setting: Setting, source: str) -> Finding:
    return _finding(
        observed,
        setting,
        "kubelet.flag.wins",
        f"a flag of the kubelet sets {setting.name}, which beats every file",
        source,
        why="flags beat the configuration file and its drop-ins, so the setting would be written and not count",
        remedy=f"remove the flag that sets {setting.name} from the kubelet's arguments "
        "(kubeadm-flags.env, KUBELET_EXTRA_ARGS)",
    )


def _dropin_wins(observed: ObservedState, setting: Setting, source: str, own: str) -> Finding:
    return _finding(
        observed,
        setting,
        "kubelet.dropin.wins",
        f"{source} sets {setting.name} and is read after {own}",
        source,
        why="of several drop-ins that set a field the last one in the order of their names counts",
        remedy=f"remove {setting.name} from {source}, or the file",
    )


def _reserved_cgroups(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    setting = desired.get("kubelet.reservedSystemCPUs")
    state = observed.kubelet
    for name in _CGROUPS:
        if setting is not None and state.config.get(name):
            source = state.sources.get(name, state.main_file)
            yield _finding(
                observed,
                setting,
                "kubelet.reserved-cpus.cgroup",
                f"{source} sets {name}, beside which the kubelet takes no reservedSystemCPUs",
                source,
                why="the kubelet refuses a list of reserved CPUs beside a cgroup for the reserved processes",
                remedy=f"remove {name} from {source}",
            )


def _finding(  # noqa: PLR0913  the parts of one statement
    observed: ObservedState, setting: Setting, check: str, message: str, source: str, *, why: str, remedy: str
) -> Finding:
    actual = actual_of(observed, setting)
    return Finding(
        id=check,
        verdict=Verdict.FAIL,
        severity=Severity.CRITICAL,
        subject=observed.node,
        message=message,
        expected=str(setting.value),
        actual=actual.value or "",
        why=why,
        remedy=remedy,
        evidence=(Evidence(source, f"{setting.name}: {actual.value}"),),
        asked_in=setting.asked_in,
        setting=setting.id,
    )
