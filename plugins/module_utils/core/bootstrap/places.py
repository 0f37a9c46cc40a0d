# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where a machine shows what a bootstrap needs to know, as data; it goes to the nodes with the reader."""

from __future__ import annotations

CONTAINERD_CONFIG = "/etc/containerd/config.toml"
JOURNAL = "/var/lib/tunectl/bootstrap/journal.json"
CA_FILE = "/etc/kubernetes/pki/ca.crt"
KUBELET_CONF = "/etc/kubernetes/kubelet.conf"
ADMIN_CONF = "/etc/kubernetes/admin.conf"
UUID_FILE = "/sys/class/dmi/id/product_uuid"
LISTENING_FILES = ("/proc/net/tcp", "/proc/net/tcp6")
# What kubeadm leaves on a machine; its preflight stops at each of them. Source: kubeadm cmd/preflight/checks.go.
TRACES = (
    KUBELET_CONF,
    "/etc/kubernetes/bootstrap-kubelet.conf",
    ADMIN_CONF,
    "/etc/kubernetes/super-admin.conf",
    "/etc/kubernetes/controller-manager.conf",
    "/etc/kubernetes/scheduler.conf",
    CA_FILE,
    "/etc/kubernetes/manifests/kube-apiserver.yaml",
    "/etc/kubernetes/manifests/etcd.yaml",
    "/var/lib/etcd/member",
)
PROGRAMS = (
    "kubeadm",
    "kubelet",
    "kubectl",
    "containerd",
    "crictl",
    "runc",
    "conntrack",
    "iptables",
    "mount",
    "nsenter",
)
ROOM_PATHS = ("/var/lib", "/etc", "/var/log")
FIREWALLS = ("firewalld", "ufw", "nftables")
