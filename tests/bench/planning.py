"""How long planning takes when nothing else happens: no Ansible, no files."""

import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tunectl.core.snapshot import Snapshot
from tunectl.lab.machines import parse_shape
from tunectl.lab.tree import build_tree
from tunectl.planning.pool import plan_pool
from tunectl.planning.tier_file import load_tier
from tunectl.snapshot_reader import read_snapshot

_SHAPES = ("2s16c2t", "2s20c2t", "2s24c1t", "2s32c2t", "1s64c2t4n", "4s8c1t", "2s28c2t4n", "1s12c1t")


def _snapshots(topologies: int) -> list[Snapshot]:
    """Return one snapshot of a simulated node for each shape."""
    found = []
    for shape in _SHAPES[:topologies]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            build_tree(root, parse_shape(shape), name=shape)
            found.append(Snapshot.from_json(read_snapshot(str(root), shape).to_json()))
    return found


def seconds_to_plan(nodes: int, topologies: int) -> float:
    """Return the seconds that one plan over `nodes` nodes of `topologies` kinds of machine takes in this process."""
    kinds = _snapshots(topologies)
    snapshots = []
    for number in range(nodes):
        kind = kinds[number % len(kinds)]
        # every node has its own copies of the texts, as if they had come over the wire
        files = {path: text[:1] + text[1:] for path, text in kind.files.items()}
        snapshots.append(replace(kind, node=f"node-{number:04d}", files=files))
    tier = load_tier("hpc-massive")
    start = time.perf_counter()
    plan = plan_pool(tier, snapshots)
    took = time.perf_counter() - start
    if len(plan.nodes) != nodes or not plan.changed:
        raise RuntimeError("the plan is not about the nodes that were asked for")
    return took
