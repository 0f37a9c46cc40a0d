"""Machines of the recorded kubelet vectors, as the kubelet model takes them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tunectl.core.kubelet.machine import KubeletMachine, MemoryNode, RawCpu, discover


def machine_from_vector(data: Mapping[str, Any]) -> KubeletMachine:
    """Return the machine of one line of machines.jsonl."""
    cpus = [RawCpu(cpu, core, socket, node, cache) for cpu, core, socket, node, cache, online in data["cpus"] if online]
    nodes = [
        MemoryNode(
            node["id"],
            node["memTotalKiB"] * 1024,
            {int(size.removesuffix("kB")) * 1024: count for size, count in node.get("hugepages", {}).items()},
            tuple(node.get("distances") or ()),
        )
        for node in data["nodes"]
    ]
    return discover(cpus, nodes)


def load_machines(directory: Path) -> dict[str, tuple[KubeletMachine, dict[str, Any]]]:
    """Return machine and its recorded line by id."""
    lines = read_jsonl(directory / "machines.jsonl")
    return {line["id"]: (machine_from_vector(line), line) for line in lines}


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
