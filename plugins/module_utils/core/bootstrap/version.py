# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Versions of Kubernetes programs, and which of them work together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+][0-9A-Za-z.+-]*)?\Z", re.ASCII)
# kubeadm reads and writes kubeadm.k8s.io/v1beta4 since this release (CHANGELOG-1.31).
V1BETA4_SINCE = (1, 31)
# Kubernetes version skew policy, since 1.28: a kubelet may be three minor releases older than its API server.
_KUBELET_LAG = 3


@dataclass(frozen=True, order=True)
class Version:
    """A release. Shape: `patch` is -1 where only major and minor were given."""

    major: int
    minor: int
    patch: int = -1

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor."""
        return self.major, self.minor

    def __str__(self) -> str:
        """Return it as kubeadm writes it, with a `v`."""
        return f"v{self.major}.{self.minor}" + (f".{self.patch}" if self.patch >= 0 else "")


def parse_version(text: str) -> Version | None:
    """Return the version that a text such as `v1.33.2`, `1.33` or `v1.33.2+vendor` is, None for anything else."""
    match = _VERSION.match(text.strip())
    if match is None:
        return None
    major, minor, patch = match.groups()
    return Version(int(major), int(minor), -1 if patch is None else int(patch))


def version_in(text: str) -> Version | None:
    """Return the first version among the words of a text, such as what a program says of itself; None without one."""
    versions = (parse_version(word.strip(",")) for word in text.split())
    return next((one for one in versions if one is not None), None)


def skew_breaches(cluster: Version, programs: Mapping[str, Version]) -> Iterator[tuple[str, str]]:
    """Yield (program, what is wrong) for each program that may not be used for a cluster of this version.

    Shape: `programs` by name: kubeadm, kubelet, kubectl; a name that is missing is not judged.
    Source: Kubernetes version skew policy; kubeadm deploys its own minor release or the one before.
    """
    kubeadm = programs.get("kubeadm")
    if kubeadm is not None and (kubeadm.major != cluster.major or kubeadm.minor - cluster.minor not in (0, 1)):
        yield "kubeadm", f"kubeadm {kubeadm} deploys {kubeadm.major}.{kubeadm.minor} or the minor release before only"
    elif kubeadm is not None and kubeadm.release < V1BETA4_SINCE:
        yield "kubeadm", f"kubeadm {kubeadm} does not read kubeadm.k8s.io/v1beta4, which came with 1.31"
    kubelet = programs.get("kubelet")
    if kubelet is not None and kubelet.release > cluster.release:
        yield "kubelet", f"kubelet {kubelet} is newer than the API server {cluster}"
    elif kubelet is not None and (kubelet.major != cluster.major or cluster.minor - kubelet.minor > _KUBELET_LAG):
        yield "kubelet", f"kubelet {kubelet} is more than {_KUBELET_LAG} minor releases older than {cluster}"
    kubectl = programs.get("kubectl")
    if kubectl is not None and (kubectl.major != cluster.major or abs(kubectl.minor - cluster.minor) > 1):
        yield "kubectl", f"kubectl {kubectl} is more than one minor release away from {cluster}"
