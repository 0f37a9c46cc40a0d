# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel parameters of a tier that somebody else needs otherwise: kubelet, kube-proxy, pod network, kernel."""

from __future__ import annotations

from collections.abc import Iterator

from .desire_context import DesireContext
from .findings import Finding, Severity
from .kernel_value import same_value
from .sysctl import canonical_name, canonical_value

_RT_RUNTIME = "kernel.sched_rt_runtime_us"
# What the kubelet sets when it starts, or with protectKernelDefaults insists on.
_KUBELET_WANTS = {
    "vm.overcommit_memory": "1",
    "vm.panic_on_oom": "0",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "kernel.keys.root_maxkeys": "1000000",
    "kernel.keys.root_maxbytes": "25000000",
}
# Without these, packets of pods are not forwarded or not filtered.
_PODS_NEED = ("net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding")
_BRIDGE = "net.bridge.bridge-nf-call-"
_CONNTRACK = "net.netfilter.nf_conntrack_"


def judge_sysctls(context: DesireContext) -> Iterator[Finding]:
    """Yield findings `sysctl.kubelet`, `sysctl.network`, `sysctl.conntrack`, `sysctl.rt-throttling`."""
    for written, text in context.tier.sysctl.items():
        name, value = canonical_name(written), canonical_value(str(text))
        path = f"sysctl.{written}"
        yield from _kubelet(context, name, value, path)
        yield from _network(context, name, value, path)
        if name == _RT_RUNTIME and value == "-1" and context.on_node and not context.tier.kernel.realtime:
            yield _unthrottled(context, path)


def _kubelet(context: DesireContext, name: str, value: str, path: str) -> Iterator[Finding]:
    wants = _KUBELET_WANTS.get(name)
    if wants is None or same_value(wants, value):
        return
    insists = context.tier.kubelet.config.get("protectKernelDefaults") is True
    yield context.finding(
        "sysctl.kubelet",
        Severity.CRITICAL if insists else Severity.WARNING,
        f"the kubelet wants {name} = {wants} and the tier sets {value}",
        path=path,
        expected=wants,
        actual=value,
        why="with protectKernelDefaults the kubelet exits when it differs"
        if insists
        else "the kubelet sets it back each time it starts, so the tier's value would not last",
        remedy=f"remove {name} from the tier",
        setting=f"sysctl.{name}",
    )


def _network(context: DesireContext, name: str, value: str, path: str) -> Iterator[Finding]:
    if name.startswith(_CONNTRACK):
        yield context.finding(
            "sysctl.conntrack",
            Severity.INFO,
            f"kube-proxy sets {name} from its own configuration when it starts",
            path=path,
            actual=value,
            why="the later writer wins, and the parameter exists only once the module nf_conntrack is loaded",
            remedy="set conntrack in kube-proxy's configuration to the same numbers",
            setting=f"sysctl.{name}",
        )
    elif value == "0" and (name in _PODS_NEED or name.startswith(_BRIDGE)):
        yield context.finding(
            "sysctl.network",
            Severity.CRITICAL,
            f"{name} = 0 cuts pods off the network",
            path=path,
            expected="1",
            actual=value,
            why="packets of pods must be forwarded and pass the node's packet filter",
            remedy=f"remove {name} from the tier",
            setting=f"sysctl.{name}",
        )
    elif name.endswith(".rp_filter") and value == "1":
        yield context.finding(
            "sysctl.network",
            Severity.WARNING,
            f"{name} = 1 drops packets that come back another way than they went",
            path=path,
            expected="0 or 2",
            actual=value,
            why="pod networks route asymmetrically, and the higher of all and the interface's own value counts",
            remedy=f"remove {name} from the tier, or set 2",
            setting=f"sysctl.{name}",
        )


def _unthrottled(context: DesireContext, path: str) -> Finding:
    return context.finding(
        "sysctl.rt-throttling",
        Severity.WARNING,
        f"{_RT_RUNTIME} = -1 takes away the limit of real-time tasks on a kernel that is not a real-time one",
        path=path,
        expected="950000, or a real-time kernel, or a starvation guard such as stalld",
        actual="-1",
        why="a busy real-time thread then starves the kernel's own threads and the node hangs",
        remedy=f"remove {_RT_RUNTIME} from the tier, or run stalld on the nodes",
        setting=f"sysctl.{_RT_RUNTIME}",
    )
