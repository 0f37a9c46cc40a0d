# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Puts objects into a new cluster, places its nodes and tells how they are; runs on a control plane."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kube_cluster
short_description: Give a new cluster its network, labels and taints, and tell how its nodes are
version_added: "0.1.0"
description:
  - Runs kubectl on a control plane with its administrator's credentials, which never leave the machine.
  - Labels and taints that are not named are left alone.
author:
  - tunectl contributors (@tunectl)
options:
  task:
    description:
      - V(read) tells how the nodes are; V(network) gives the cluster the manifests of O(files); V(place) gives nodes
        the labels and taints of their pools; V(verify) waits until every node of the inventory is ready and sees that
        no tier is in what the cluster gives to all nodes.
    type: str
    choices: [read, network, place, verify]
    default: read
  files:
    description: Manifest files on the controller, such as those of a network plug-in.
    type: list
    elements: path
    default: []
  tiers:
    description: The tier of each pool.
    type: dict
    default: {}
  tier_dirs:
    description: Directories with tier files, searched before the built-in tiers.
    type: list
    elements: path
    default: []
  wait:
    description: How many seconds nodes may take to become ready.
    type: int
    default: 300
  request:
    description: What the action worked out; not for use in playbooks.
    type: dict
attributes:
  check_mode:
    description: Says what would be changed and changes nothing.
    support: full
  diff_mode:
    description: The result names what was changed.
    support: none
"""

EXAMPLES = r"""
- name: See that the nodes are ready
  tunectl.node.kube_cluster:
    task: verify
    wait: 300
"""

RETURN = r"""
changes:
  description: What was changed.
  type: list
  elements: str
  returned: success
nodes:
  description: The nodes of the cluster, each with name, ready, why, version, labels and taints.
  type: list
  elements: dict
  returned: success
ready:
  description: Names of the nodes that are ready.
  type: list
  elements: str
  returned: success
tunectl_errors:
  description: What went wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, problem
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.kube_cluster import (
    apply_manifest,
    place_nodes,
    read_kubelet_map,
    read_nodes,
    wait_ready,
)


def main() -> None:
    """Do what is asked for and end with what the cluster is."""
    module = AnsibleModule(
        argument_spec={
            "task": {"type": "str", "choices": ["read", "network", "place", "verify"], "default": "read"},
            "files": {"type": "list", "elements": "path", "default": []},
            "tiers": {"type": "dict", "default": {}},
            "tier_dirs": {"type": "list", "elements": "path", "default": []},
            "wait": {"type": "int", "default": 300},
            "request": {"type": "dict"},
        },
        supports_check_mode=True,
    )
    try:
        result = _done(module.params["request"] or {}, module.params["wait"], check=module.check_mode)
    except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
        module.fail_json(**failure(error))
    module.exit_json(**result)


def _done(request: dict[str, Any], wait_s: int, *, check: bool) -> dict[str, Any]:
    manifests, expected = request.get("manifests") or {}, request.get("expect") or []
    applied = [name for name, text in manifests.items() if apply_manifest(text, dry=check)]
    placed = place_nodes(request["nodes"], dry=check) if request.get("nodes") else []
    nodes = wait_ready(expected, wait_s) if expected else read_nodes()
    _refuse_unready(expected, nodes)
    return {
        "changed": bool(applied or placed),
        "changes": [*applied, *placed],
        "nodes": nodes,
        "ready": [node["name"] for node in nodes if node["ready"]],
        "kubelet": read_kubelet_map() if expected else "",
    }


def _refuse_unready(expected: list[str], nodes: list[dict[str, Any]]) -> None:
    found = {node["name"]: node for node in nodes}
    open_ones = [name for name in expected if name not in found or not found[name]["ready"]]
    if open_ones:
        raise FailedError(
            tuple(
                problem(
                    "TUN-4743",
                    f"the node {name} is not ready" if name in found else f"the cluster has no node {name}",
                    where=name,
                    why=found[name]["why"] if name in found else "it did not join",
                    fix="name a network plug-in in tunectl_kube_network_manifests; with one, see the kubelet's log",
                )
                for name in open_ones
            ),
            "The cluster is as it was.",
        )


if __name__ == "__main__":
    main()
