# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether a kubelet starts on a configuration: loading, validation, start, as the kubelet goes through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .config_host import HostFacts
from .config_merge import ConfigFile, Flags, MergedConfig, Reason, merge_config
from .config_start import Checkpoints, Derived, Kubelet, start_config
from .config_validate import validate_config
from .machine import KubeletMachine
from .node import Flavor, KubeletNode


@dataclass(frozen=True)
class Verdict:
    """What a kubelet does with a configuration.

    Shape: `stage` is `load`, `validate` or `startup` where the kubelet ends there with `reasons`, else empty;
    `merged` is the configuration in force; `node` is the kubelet as it came up, None without a machine to start on.
    """

    stage: str = ""
    reasons: Sequence[Reason] = ()
    merged: MergedConfig = field(default_factory=MergedConfig)
    derived: Derived = field(default_factory=Derived)
    node: KubeletNode | None = None

    @property
    def starts(self) -> bool:
        """Whether the kubelet comes up."""
        return not self.reasons


@dataclass(frozen=True)
class Sources:
    """Where a kubelet's configuration comes from; None for a main file or drop-ins that it does not read."""

    main: ConfigFile | None = None
    dropins: Sequence[ConfigFile] | None = None
    flags: Flags = Flags()


def judge_config(
    sources: Sources,
    machine: KubeletMachine | None,
    host: HostFacts,
    kubelet: Kubelet,
    checkpoints: Checkpoints | None = None,
) -> Verdict:
    """Return what a kubelet does with a configuration; without a machine its start is not judged."""
    merged = merge_config(
        sources.main,
        sources.dropins,
        sources.flags,
        version=kubelet.version,
        tolerant=kubelet.flavor is Flavor.OPENSHIFT,
    )
    if merged.reasons:
        return Verdict("load", tuple(merged.reasons), merged)
    reasons = validate_config(merged.config, host, kubelet.version)
    if reasons:
        return Verdict("validate", _located(reasons, merged), merged)
    if machine is None:
        return Verdict(merged=merged)
    start = start_config(merged.config, machine, host, kubelet, checkpoints)
    if start.reasons:
        return Verdict("startup", _located(start.reasons, merged), merged)
    return Verdict("", (), merged, start.derived, start.node)


def _located(reasons: Sequence[Reason], merged: MergedConfig) -> tuple[Reason, ...]:
    return tuple(reason if reason.file else replace(reason, file=merged.source(reason.path)) for reason in reasons)
