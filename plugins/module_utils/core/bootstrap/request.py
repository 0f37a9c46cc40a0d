# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a machine is judged for before a bootstrap."""

from __future__ import annotations

from dataclasses import dataclass

from .cluster import Cluster, Member


@dataclass(frozen=True)
class Request:
    """What a machine is judged for.

    Shape: `installs` whether the bootstrap itself brings kubeadm, kubelet and kubectl; `allows_swap` what the tier of
    the machine says; `overwrite` whether a runtime configuration of others may be replaced.
    """

    cluster: Cluster
    member: Member
    installs: bool = False
    allows_swap: bool = False
    overwrite: bool = False
