# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The OpenShift manifests of a tier: one file an object, named so that the order of the names is the order to apply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..core.desired import Area, DesiredState
from ..core.errors import Problem, RefusedError
from ..core.operator_args import own_args
from ..core.tier import Manifest, Tier
from .grammar_gate import argument, refuse_unwritable
from .jinja_env import render_template
from .kubelet_settings import kubelet_fields
from .node import modprobe_files
from .openshift_extras import machine_config_document, tuned_document, tuned_problems, tuned_settings
from .openshift_kubelet import forbidden_fields
from .pool import Pool, manifest_of, pool_document, pool_of
from .profile import profile_document, profile_name, profile_problems

POOL_FILE = "10-machineconfigpool.yaml"
KUBELET_FILE = "20-kubeletconfig.yaml"
PROFILE_FILE = "20-performanceprofile.yaml"
TUNED_FILE = "30-tuned.yaml"
MACHINE_CONFIG_FILE = "40-machineconfig.yaml"


def render_manifests(tier: Tier, desired: DesiredState) -> dict[str, str]:
    """Return file name -> YAML text of every object that the tier needs, in the order to apply.

    Shape: a MachineConfigPool (not for the cluster's own pools), a PerformanceProfile or a KubeletConfig and never
    both, a Tuned object and a MachineConfig only where something is left for them. Equal arguments give equal bytes.
    Sad paths: `RefusedError` with all of `TUN-2242` (not expressible), `TUN-2243` (CPU lists missing);
    `InputError` TUN-2201 to TUN-2205 for values that cannot stand in their file.
    """
    refuse_unwritable(_written(tier, desired))
    pool = pool_of(tier)
    problems = tuple(_problems(tier, desired, pool))
    if problems:
        raise RefusedError(problems)
    return {
        name: render_template("openshift/manifest.yaml.j2", tier=tier.name, what=what, document=document)
        for name, what, document in _documents(tier, desired, pool)
    }


def _written(tier: Tier, desired: DesiredState) -> DesiredState:
    """Return the settings that end up in a manifest: next to a profile the operator computes most arguments itself."""
    if manifest_of(tier) is not Manifest.PERFORMANCE_PROFILE:
        return desired
    own = own_args(tier)
    kept = (one for one in desired.settings if one.area is not Area.CMDLINE or argument(one) in own)
    return replace(desired, settings=tuple(kept))


def _problems(tier: Tier, desired: DesiredState, pool: Pool) -> Iterator[Problem]:
    is_operated = manifest_of(tier) is Manifest.PERFORMANCE_PROFILE
    yield from profile_problems(tier, desired, pool) if is_operated else forbidden_fields(desired)
    yield from tuned_problems(tuned_settings(tier, desired, is_operated=is_operated))


def _documents(tier: Tier, desired: DesiredState, pool: Pool) -> Iterator[tuple[str, str, dict[str, object]]]:
    is_operated = manifest_of(tier) is Manifest.PERFORMANCE_PROFILE
    if not pool.is_built_in:
        yield POOL_FILE, f"the pool {pool.name}", pool_document(pool)
    if is_operated:
        yield PROFILE_FILE, f"the profile of pool {pool.name}", profile_document(tier, desired, pool)
    elif kubelet_fields(desired):
        yield KUBELET_FILE, f"kubelet settings of pool {pool.name}", _kubelet_config(tier, desired, pool)
    settings = tuned_settings(tier, desired, is_operated=is_operated)
    if settings:
        include = f"openshift-node-performance-{profile_name(tier)}" if is_operated else "openshift-node"
        yield TUNED_FILE, f"kernel values of pool {pool.name}", tuned_document(tier, settings, pool, include)
    files = tuple(modprobe_files(desired))
    machine_config = machine_config_document(tier, desired, pool, files, is_operated=is_operated)
    if machine_config is not None:
        yield MACHINE_CONFIG_FILE, f"kernel arguments and files of pool {pool.name}", machine_config


def _kubelet_config(tier: Tier, desired: DesiredState, pool: Pool) -> dict[str, object]:
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "KubeletConfig",
        "metadata": {"name": tier.openshift.name or f"{pool.name}-kubelet"},
        "spec": {
            "kubeletConfig": kubelet_fields(desired),
            "machineConfigPoolSelector": {"matchLabels": {key: pool.labels[key] for key in sorted(pool.labels)}},
        },
    }
