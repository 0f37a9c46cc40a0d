# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a machine can become a node: one finding for each check, of one machine by itself."""

from __future__ import annotations

from collections.abc import Mapping

from ..findings import Evidence, Finding, Severity, Verdict
from ..node_software import cgroup_version, kernel_release, version_of
from ..snapshot import Snapshot
from .cluster import endpoint_host, is_node_name
from .containerd import Parse
from .judgement import statement
from .machine_facts import facts, listening
from .membership import Membership, Standing, read_membership
from .places import FIREWALLS, ROOM_PATHS
from .preflight_software import judge_programs, judge_runtime, judge_skew
from .request import Request

_API_PORTS = (6443, 2379, 2380, 10257, 10259)
_KUBELET_PORT = 10250
_MODULES = ("overlay", "br_netfilter")
# kubeadm system verification since 1.32 names 4.19; cgroup v2 is whole since 5.8.
_OLDEST_KERNEL, _GOOD_KERNEL = (4, 19), (5, 8)
# The kubelet refuses cgroup v1 by default since 1.35 (failCgroupV1).
_NO_CGROUP_V1 = (1, 35)
_LEAST_ROOM, _GOOD_ROOM = 2 * 2**30, 10 * 2**30


def judge_machine(snapshot: Snapshot, request: Request, parse: Parse) -> tuple[Finding, ...]:
    """Return the findings of a machine; critical failures forbid the bootstrap.

    Shape: ids are unique; a check that could not look is `UNKNOWN`. What is so because the machine is in the cluster
    already (its ports are taken) does not apply. `parse` reads TOML.
    """
    membership = read_membership(snapshot)
    return (
        _kernel(snapshot),
        _cgroup(snapshot, request),
        _swap(snapshot, request),
        _modules(snapshot),
        _forwarding(snapshot),
        _ports(snapshot, request, membership),
        _hostname(snapshot, request),
        _resolution(snapshot, request),
        _room(snapshot),
        judge_programs(snapshot, request),
        judge_skew(snapshot, request),
        judge_runtime(snapshot, request, parse),
        _leftovers(snapshot, membership),
        _firewall(snapshot),
    )


def _kernel(snapshot: Snapshot) -> Finding:
    release = kernel_release(snapshot)
    version = version_of(release)
    if version == (0, 0):
        return statement("bootstrap.kernel", Verdict.UNKNOWN, snapshot.node, "the release of the kernel was not read")
    is_old = version < _OLDEST_KERNEL
    verdict = Verdict.FAIL if version < _GOOD_KERNEL else Verdict.PASS
    return statement(
        "bootstrap.kernel",
        verdict,
        snapshot.node,
        f"the kernel is {release}",
        expected="5.8 or newer",
        actual=release,
        severity=Severity.CRITICAL if is_old else Severity.WARNING,
    )


def _cgroup(snapshot: Snapshot, request: Request) -> Finding:
    version = cgroup_version(snapshot)
    if version == 0:
        return statement("bootstrap.cgroup", Verdict.UNKNOWN, snapshot.node, "/sys/fs/cgroup was not read")
    refused = request.cluster.version.release >= _NO_CGROUP_V1
    return statement(
        "bootstrap.cgroup",
        Verdict.PASS if version == 2 else Verdict.FAIL,  # noqa: PLR2004  the version it is about
        snapshot.node,
        f"cgroup v{version} is mounted",
        expected="cgroup v2",
        actual=f"cgroup v{version}",
        severity=Severity.CRITICAL if refused else Severity.WARNING,
    )


def _swap(snapshot: Snapshot, request: Request) -> Finding:
    text = snapshot.text("/proc/swaps")
    if text is None:
        why = snapshot.why_missing("/proc/swaps")
        return statement("bootstrap.swap", Verdict.UNKNOWN, snapshot.node, f"/proc/swaps was not read: {why}")
    areas = [line.split()[0] for line in text.splitlines()[1:] if line.split()]
    evidence = (Evidence("/proc/swaps", ", ".join(areas)),) if areas else ()
    if areas and request.allows_swap:
        message = f"swap is on ({', '.join(areas)}) and the kubelet of this machine is told to start with it"
        return statement("bootstrap.swap", Verdict.PASS, snapshot.node, message, evidence=evidence)
    return statement(
        "bootstrap.swap",
        Verdict.FAIL if areas else Verdict.PASS,
        snapshot.node,
        f"swap is on: {', '.join(areas)}" if areas else "there is no swap",
        expected="no swap",
        actual=", ".join(areas) or "none",
        evidence=evidence,
    )


def _modules(snapshot: Snapshot) -> Finding:
    known = facts(snapshot).get("modules")
    if not isinstance(known, Mapping):
        return statement("bootstrap.modules", Verdict.UNKNOWN, snapshot.node, "the kernel's modules were not looked at")
    missing = [name for name in _MODULES if not known.get(name)]
    said = [f"{name} {known[name]}" for name in _MODULES if known.get(name)]
    return statement(
        "bootstrap.modules",
        Verdict.FAIL if missing else Verdict.PASS,
        snapshot.node,
        f"the kernel has no {' and no '.join(missing)}" if missing else ", ".join(said),
        expected=" and ".join(_MODULES),
        actual=", ".join(said) or "none",
    )


def _forwarding(snapshot: Snapshot) -> Finding:
    path = "/proc/sys/net/ipv4/ip_forward"
    text = snapshot.text(path)
    if text is None:
        return statement("bootstrap.forwarding", Verdict.UNKNOWN, snapshot.node, f"{path} was not read")
    return statement(
        "bootstrap.forwarding",
        Verdict.PASS if text == "1" else Verdict.FAIL,
        snapshot.node,
        f"net.ipv4.ip_forward is {text}",
        expected="1",
        actual=text,
        evidence=(Evidence(path, text),),
        severity=Severity.INFO,
    )


def _ports(snapshot: Snapshot, request: Request, membership: Membership) -> Finding:
    taken = listening(snapshot)
    if membership.standing in (Standing.MEMBER, Standing.PARTIAL):
        message = "its own Kubernetes may hold the ports: the machine is in the cluster, or on its way"
        return statement("bootstrap.ports", Verdict.NOT_APPLICABLE, snapshot.node, message)
    if taken is None:
        return statement("bootstrap.ports", Verdict.UNKNOWN, snapshot.node, "/proc/net/tcp was not read")
    wanted = (_KUBELET_PORT, *(_API_PORTS if request.member.is_control_plane else ()))
    clash = sorted(taken.intersection(wanted))
    return statement(
        "bootstrap.ports",
        Verdict.FAIL if clash else Verdict.PASS,
        snapshot.node,
        f"something listens on {', '.join(map(str, clash))}" if clash else "its ports are free",
        expected=f"{', '.join(map(str, sorted(wanted)))} free",
        actual=f"{', '.join(map(str, clash)) or 'none'} taken",
    )


def _hostname(snapshot: Snapshot, request: Request) -> Finding:
    name = request.member.name
    said = str(facts(snapshot).get("hostname", ""))
    good = is_node_name(name)
    return statement(
        "bootstrap.hostname",
        Verdict.PASS if good else Verdict.FAIL,
        snapshot.node,
        f"its node will be called {name}; the machine calls itself {said or 'nothing'}"
        if good
        else f"no node can be called {name!r}",
        expected="small letters, digits, dashes and dots, first and last a letter or digit",
        actual=name,
    )


def _resolution(snapshot: Snapshot, request: Request) -> Finding:
    names = facts(snapshot).get("names")
    wanted = [one for one in (endpoint_host(request.cluster),) if one]
    if not wanted:
        message = "the cluster has no endpoint with a name"
        return statement("bootstrap.resolution", Verdict.NOT_APPLICABLE, snapshot.node, message)
    if not isinstance(names, Mapping) or not all(name in names for name in wanted):
        return statement("bootstrap.resolution", Verdict.UNKNOWN, snapshot.node, f"{wanted[0]} was not looked up")
    addresses = names[wanted[0]]
    good = isinstance(addresses, (list, tuple)) and bool(addresses)
    return statement(
        "bootstrap.resolution",
        Verdict.PASS if good else Verdict.FAIL,
        snapshot.node,
        f"{wanted[0]} is {', '.join(addresses)}" if good else f"{wanted[0]} is not known: {addresses}",
        expected="an address",
        actual=", ".join(addresses) if good else str(addresses),
    )


def _room(snapshot: Snapshot) -> Finding:
    room = facts(snapshot).get("room")
    known = {path: room[path] for path in ROOM_PATHS if isinstance(room, Mapping) and isinstance(room.get(path), int)}
    if "/var/lib" not in known:
        return statement("bootstrap.room", Verdict.UNKNOWN, snapshot.node, "the free room of /var/lib was not read")
    free = known["/var/lib"]
    return statement(
        "bootstrap.room",
        Verdict.PASS if free >= _GOOD_ROOM else Verdict.FAIL,
        snapshot.node,
        f"/var/lib has {free / 2**30:.1f} GiB free",
        expected="10 GiB free in /var/lib for images, etcd and pods",
        actual=f"{free / 2**30:.1f} GiB",
        severity=Severity.CRITICAL if free < _LEAST_ROOM else Severity.WARNING,
    )


def _leftovers(snapshot: Snapshot, membership: Membership) -> Finding:
    if not facts(snapshot):
        return statement("bootstrap.leftovers", Verdict.UNKNOWN, snapshot.node, "nobody looked for files of a cluster")
    evidence = tuple(Evidence(path, "is there") for path in membership.traces)
    if membership.standing is Standing.FOREIGN:
        return statement(
            "bootstrap.leftovers",
            Verdict.FAIL,
            snapshot.node,
            f"{membership.why}: {', '.join(membership.traces) or 'its journal'}",
            expected="a bare machine, or one of this bootstrap",
            actual=f"{len(membership.traces)} files of a cluster",
            evidence=evidence,
        )
    message = f"{membership.standing.value}: {membership.why}"
    return statement("bootstrap.leftovers", Verdict.PASS, snapshot.node, message, evidence=evidence)


def _firewall(snapshot: Snapshot) -> Finding:
    found = facts(snapshot).get("firewalls")
    if not isinstance(found, Mapping):
        return statement(
            "bootstrap.firewall", Verdict.UNKNOWN, snapshot.node, "no service manager said", severity=Severity.WARNING
        )
    active = [name for name in FIREWALLS if found.get(name) == "active"]
    return statement(
        "bootstrap.firewall",
        Verdict.FAIL if active else Verdict.PASS,
        snapshot.node,
        f"{', '.join(active)} is active" if active else "no firewall service is active",
        expected="none, or one with the ports of Kubernetes open",
        actual=", ".join(active) or "none",
        severity=Severity.WARNING,
    )
