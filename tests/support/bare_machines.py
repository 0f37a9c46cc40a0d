"""Snapshots of machines before a bootstrap."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from tunectl.core.bootstrap.cluster import Member, read_cluster
from tunectl.core.bootstrap.request import Request
from tunectl.core.snapshot import Snapshot

VARIABLES = {"tunectl_kube_version": "1.33.2", "tunectl_kube_endpoint": "k8s.example.com"}
CLUSTER = read_cluster(VARIABLES, ["cp-1"])
JOURNAL = "/var/lib/tunectl/bootstrap/journal.json"
PORTS = "  sl  local_address rem_address   st\n   0: 00000000:0016 00000000:0000 0A 00000000:00000000\n"
SAID = {
    "kubeadm": "v1.33.2",
    "kubelet": "Kubernetes v1.33.2",
    "kubectl": "Client Version: v1.33.2 Kustomize Version: v5.6.0",
    "containerd": "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7193e4",
    "crictl": "crictl version v1.33.0",
}


def parse_toml(text: str) -> dict[str, Any] | None:
    """Read TOML, None for what is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def bare(
    node: str = "cp-1", *, files: Mapping[str, str] | None = None, without: tuple[str, ...] = (), **facts: Any
) -> Snapshot:
    """Return the snapshot of a machine that can become a node; `facts` and `files` change it."""
    number = sum(node.encode())
    programs = {name: {"path": f"/usr/bin/{name}", "said": said} for name, said in SAID.items()}
    programs |= {name: {"path": f"/usr/sbin/{name}"} for name in ("conntrack", "iptables", "mount", "nsenter")}
    known: dict[str, Any] = {
        "present": [],
        "macs": {"eth0": f"52:54:00:00:{number // 256:02x}:{number % 256:02x}"},
        "modules": {"overlay": "loaded", "br_netfilter": "loadable"},
        "hostname": node,
        "programs": programs,
        "room": {"/var/lib": 50 * 2**30},
        "names": {"k8s.example.com": ["192.0.2.10"]},
        "firewalls": {"firewalld": "inactive", "ufw": "inactive", "nftables": "inactive"},
        "epoch": 1000.5,
        "asked_between": [1000.0, 1000.8],
        **facts,
    }
    texts = {
        "/proc/sys/kernel/osrelease": "6.1.0-28-amd64\n",
        "/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n",
        "/proc/net/tcp": PORTS,
        "/proc/sys/net/ipv4/ip_forward": "1\n",
        "/sys/class/dmi/id/product_uuid": f"00000000-0000-0000-0000-{number:012d}\n",
        "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory hugetlb pids\n",
        **(files or {}),
    }
    return Snapshot(
        node,
        {path: text for path, text in texts.items() if path not in without},
        listings={"/sys/fs/cgroup": ("cgroup.controllers",)},
        facts={"bootstrap": known},
    )


def request(node: str = "cp-1", *, control_plane: bool = True, **values: Any) -> Request:
    """Return what a machine is judged for."""
    return Request(CLUSTER, Member(node, is_control_plane=control_plane), **values)


def journal(role: str = "init", state: str = "done", ca: str = "") -> dict[str, str]:
    """Return the journal of a machine, as files."""
    return {JOURNAL: json.dumps({"format": 1, "role": role, "state": state, "cluster_ca": ca})}
