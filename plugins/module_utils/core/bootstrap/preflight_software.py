# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the programs of a machine are those that its cluster needs."""

from __future__ import annotations

from collections.abc import Mapping

from ..findings import Finding, Severity, Verdict
from ..snapshot import Snapshot
from .containerd import Parse, plan_runtime
from .judgement import statement
from .machine_facts import facts, program
from .places import CONTAINERD_CONFIG
from .request import Request
from .version import skew_breaches

_NEEDED = ("kubeadm", "kubelet", "containerd", "mount", "nsenter", "iptables")
_USEFUL = ("crictl", "conntrack")


def judge_programs(snapshot: Snapshot, request: Request) -> Finding:
    """Return whether every program is there that the bootstrap does not bring."""
    if not isinstance(facts(snapshot).get("programs"), Mapping):
        return statement("bootstrap.programs", Verdict.UNKNOWN, snapshot.node, "the programs were not looked for")
    needed = [*_NEEDED, *(["kubectl"] if request.member.is_control_plane else [])]
    brought = {"kubeadm", "kubelet", "kubectl", "crictl"} if request.installs else set()
    missing = [name for name in needed if name not in brought and not program(snapshot, name).path]
    useful = [name for name in _USEFUL if name not in brought and not program(snapshot, name).path]
    found = [f"{name} {program(snapshot, name).version or 'found'}" for name in needed if program(snapshot, name).path]
    return statement(
        "bootstrap.programs",
        Verdict.FAIL if missing or useful else Verdict.PASS,
        snapshot.node,
        f"there is no {', '.join([*missing, *useful])}" if missing or useful else ", ".join(found),
        expected=", ".join([*needed, *_USEFUL]),
        actual=", ".join(found) or "none",
        severity=Severity.CRITICAL if missing else Severity.WARNING,
    )


def judge_skew(snapshot: Snapshot, request: Request) -> Finding:
    """Return whether the versions of the programs go with the cluster."""
    names = ("kubeadm", "kubelet", "kubectl")
    found = {name: program(snapshot, name).version for name in names}
    known = {name: version for name, version in found.items() if version is not None}
    if request.installs:
        message = "the bootstrap brings them in the version of the cluster; their versions are read after that"
        return statement("bootstrap.skew", Verdict.NOT_APPLICABLE, snapshot.node, message)
    if "kubeadm" not in known or "kubelet" not in known:
        silent = [name for name in names[:2] if name not in known]
        message = f"{' and '.join(silent)} did not say a version"
        return statement("bootstrap.skew", Verdict.UNKNOWN, snapshot.node, message)
    breaches = [why for _, why in skew_breaches(request.cluster.version, known)]
    said = ", ".join(f"{name} {version}" for name, version in known.items())
    return statement(
        "bootstrap.skew",
        Verdict.FAIL if breaches else Verdict.PASS,
        snapshot.node,
        "; ".join(breaches) or said,
        expected=f"programs for a cluster of {request.cluster.version}",
        actual=said,
    )


def judge_runtime(snapshot: Snapshot, request: Request, parse: Parse) -> Finding:
    """Return whether containerd has the systemd cgroup driver, or can be given it; `parse` reads TOML."""
    version = program(snapshot, "containerd").version
    if version is None:
        message = "containerd is not there or did not say its version"
        return statement("bootstrap.runtime", Verdict.UNKNOWN, snapshot.node, message)
    if version.major not in (1, 2):
        return statement(
            "bootstrap.runtime",
            Verdict.FAIL,
            snapshot.node,
            f"the configuration of containerd {version} is not known",
            expected="1.x or 2.x",
            actual=str(version),
        )
    if CONTAINERD_CONFIG in snapshot.unreadable:
        why = snapshot.why_missing(CONTAINERD_CONFIG)
        return statement(
            "bootstrap.runtime", Verdict.UNKNOWN, snapshot.node, f"{CONTAINERD_CONFIG} was not read: {why}"
        )
    plan = plan_runtime(snapshot.files.get(CONTAINERD_CONFIG), parse, version, overwrite=request.overwrite)
    if plan.refusal:
        return statement(
            "bootstrap.runtime",
            Verdict.FAIL,
            snapshot.node,
            f"{CONTAINERD_CONFIG} is somebody else's and not what a kubelet needs: {plan.refusal}",
            expected="the systemd cgroup driver, CRI on",
            actual=plan.refusal,
        )
    message = f"containerd {version}: {CONTAINERD_CONFIG} is {'written' if plan.text else 'kept'}: {plan.why}"
    return statement("bootstrap.runtime", Verdict.PASS, snapshot.node, message)
