# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The Ansible inventory of a lab, from its description: written beside it, and told by the inventory plugin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

DESCRIPTION = "lab.json"
SSH_KEY = "ssh_key"
SSH_USER = "lab"


def group_of(pool: str) -> str:
    """Return the group of a pool: Ansible wants group names without dashes; a pool finds its group in either form."""
    return pool.replace("-", "_")


def lab_variables(kind: str) -> dict[str, Any]:
    """Return the variables of all nodes of a lab of that kind."""
    if kind == "sim":
        return {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "tunectl_simulated": True,
        }
    return {
        "ansible_host": "127.0.0.1",
        "ansible_user": SSH_USER,
        "ansible_python_interpreter": "/usr/bin/python3",
        "tunectl_simulated": False,
    }


def node_variables(kind: str, place: Path, node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of one node; `place` is the directory of its lab."""
    if kind == "sim":
        return {"tunectl_root": str(place / "nodes" / node["name"])}
    return {
        "ansible_port": node["ssh_port"],
        "ansible_ssh_private_key_file": str(place / SSH_KEY),
        "ansible_ssh_common_args": node["ssh_args"],
        "tunectl_lan_address": node["lan_address"],
    }


def lab_inventory(place: Path, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inventory as a YAML inventory file has it: one group a pool."""
    kind = description["kind"]
    groups: dict[str, dict[str, Any]] = {}
    for node in description["nodes"]:
        hosts = groups.setdefault(group_of(node["pool"]), {"hosts": {}})["hosts"]
        hosts[node["name"]] = node_variables(kind, place, node)
    return {"all": {"vars": lab_variables(kind), "children": groups}}
