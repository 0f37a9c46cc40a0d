# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judgement of a split, as a whole."""

from __future__ import annotations

from .desired import Partition
from .findings import Finding
from .placement_judge import judge_placement
from .set_judge import case_of, judge_sets
from .tier import Tier
from .topology import Topology


def judge_partition(partition: Partition, topology: Topology, tier: Tier) -> tuple[Finding, ...]:
    """Return what is to be said about a split of this machine; nothing that is as it should be is mentioned.

    Shape: failed checks only, each with numbers and a remedy; a critical one blocks a plan (overlap, absent or offline
    CPUs, an empty set, split cores where whole cores are in force, more NUMA nodes than the kubelet takes).
    A tier that splits nothing is judged by what its kubelet settings need alone.
    Sad paths: `InputError` TUN-2200 for a reserved cpu quantity that is none.
    Source: `check_catalogue.CHECKS`, by id.
    """
    case = case_of(partition, topology, tier)
    return (*judge_sets(case), *judge_placement(case))
