# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kubeadm patch by which a kubelet starts with the settings of its tier from the first time on."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.tunectl.node.plugins.module_utils.core.desire import desire
from ansible_collections.tunectl.node.plugins.module_utils.core.desired import Platform
from ansible_collections.tunectl.node.plugins.module_utils.core.environment import environment
from ansible_collections.tunectl.node.plugins.module_utils.core.observed import observe
from ansible_collections.tunectl.node.plugins.module_utils.core.snapshot import Snapshot
from ansible_collections.tunectl.node.plugins.module_utils.core.sysfs import read_topology
from ansible_collections.tunectl.node.plugins.module_utils.core.tier import Tier
from ansible_collections.tunectl.node.plugins.module_utils.planning.documents import snapshot_documents
from ansible_collections.tunectl.node.plugins.module_utils.render.jinja_env import render_template
from ansible_collections.tunectl.node.plugins.module_utils.render.node import kubelet_document
from ansible_collections.tunectl.node.plugins.module_utils.run_directory import refuse, snapshots

# kubeadm reads TARGET[SUFFIX][+TYPE].EXTENSION; the suffix orders patches of one target.
PATCH_FILE = "kubeletconfiguration50-tunectl+merge.yaml"
# What the tuning of the machine answers for, and where drop-ins are read from: a patch depends on neither.
_NOT_THE_KUBELETS = ("boot.", "kernel.", "sysctl.", "kubelet.config-dir")
# Fields that no cluster needs and tiers set: where one of them is in the map for all nodes, a patch has leaked.
_TIER_FIELDS = frozenset(
    {
        "cpuManagerPolicy",
        "cpuManagerPolicyOptions",
        "memoryManagerPolicy",
        "topologyManagerPolicy",
        "topologyManagerPolicyOptions",
        "topologyManagerScope",
        "reservedSystemCPUs",
        "reservedMemory",
    }
)


def kubelet_patches(tier: Tier | None, run_dir: Path, host: str) -> dict[str, str]:
    """Return file name -> text of the patches of a machine, none without a tier or without kubelet settings.

    Sad paths: `InputError` TUN-1505 without the snapshot of the preflight, `RefusedError` TUN-3501 for a tier that the
    machine cannot have; those of `desire`.
    """
    if tier is None:
        return {}
    (snapshot,) = snapshots(run_dir, [host])
    return patches_of(tier, snapshot)


def patches_of(tier: Tier, snapshot: Snapshot) -> dict[str, str]:
    """Return file name -> text of the patches for the machine of a snapshot."""
    observed = observe(snapshot, snapshot_documents(snapshot))
    wanted = desire(tier, read_topology(snapshot), environment(observed), Platform.KUBEADM)
    blocking = [one for one in wanted.findings if one.blocks and not one.id.startswith(_NOT_THE_KUBELETS)]
    refuse("TUN-3501", blocking, snapshot.node, "Nothing was changed.")
    document = kubelet_document(wanted.desired)
    if set(document) <= {"apiVersion", "kind"}:
        return {}
    text = render_template(
        "node/kubelet.conf.j2", tier=tier.name, what="kubelet settings, as a kubeadm patch", document=document
    )
    return {PATCH_FILE: text}


def tier_fields(tier: Tier) -> frozenset[str]:
    """Return the fields of KubeletConfiguration that give a tier away."""
    del tier
    return _TIER_FIELDS
