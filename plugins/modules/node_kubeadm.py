# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Brings a machine into a kubeadm cluster with exactly the documents it is given."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_kubeadm
short_description: Bring a machine into a kubeadm cluster
version_added: "0.1.0"
description:
  - Runs kubeadm with exactly the documents that it is given, once. A machine that is in the cluster is left as it is,
    one whose entry was interrupted goes on, one of another cluster is refused. Nothing is ever reset.
  - Used through its action, which renders the documents of the host from the inventory, the fields
    C(tunectl_kube_*).
author:
  - tunectl contributors (@tunectl)
options:
  task:
    description:
      - V(probe) tells where the machine stands; V(init) makes the cluster; V(join) brings the machine into it.
      - V(secrets) makes, on the first control plane, what lets machines in; V(revoke) takes it back.
    type: str
    choices: [probe, init, join, secrets, revoke]
    required: true
  tiers:
    description: The tier of each pool.
    type: dict
    default: {}
  tier_dirs:
    description: Directories with tier files, searched before the built-in tiers.
    type: list
    elements: path
    default: []
  run_dir:
    description: The run directory on the controller, where the snapshots of the preflight are.
    type: path
  secrets:
    description: What O(task=secrets) returned.
    type: dict
  ready:
    description: Names of the nodes that the cluster has and that are ready.
    type: list
    elements: str
    default: []
  entry:
    description: What the action rendered; not for use in playbooks.
    type: dict
attributes:
  check_mode:
    description: Says what would be done and does nothing.
    support: full
  diff_mode:
    description: Documents may hold secrets and are not shown.
    support: none
"""

EXAMPLES = r"""
- name: See where the machine stands
  tunectl.node.node_kubeadm:
    task: probe
  register: standing

- name: Make the cluster
  tunectl.node.node_kubeadm:
    task: init
"""

RETURN = r"""
standing:
  description: What the machine is to the cluster, one of bare, unfinished, member and foreign.
  type: str
  returned: for probe, init and join
authority:
  description: The hash of the cluster's certificate authority.
  type: str
  returned: when it is known
resumed:
  description: Whether an interrupted entry was gone on with.
  type: bool
  returned: for init and join
secrets:
  description: What lets machines in, or why there is none. Register it with C(no_log).
  type: dict
  returned: for secrets
tunectl_errors:
  description: What went wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.bootstrap_files import standing
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.kubeadm_entry import (
    Entry,
    delete_token,
    enter,
    make_token,
    upload_certificates,
)

_TTL = "30m0s"


def main() -> None:
    """Do one task and end with what was done."""
    module = AnsibleModule(
        argument_spec={
            "task": {"type": "str", "choices": ["probe", "init", "join", "secrets", "revoke"], "required": True},
            "tiers": {"type": "dict", "default": {}},
            "tier_dirs": {"type": "list", "elements": "path", "default": []},
            "run_dir": {"type": "path"},
            "secrets": {"type": "dict", "no_log": True},
            "ready": {"type": "list", "elements": "str", "default": []},
            "entry": {"type": "dict", "no_log": True},
        },
        supports_check_mode=True,
    )
    try:
        result = _done(module.params["task"], module.params["entry"] or {}, check=module.check_mode)
    except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
        module.fail_json(**failure(error))
    module.exit_json(**result)


def _done(task: str, given: dict[str, Any], *, check: bool) -> dict[str, Any]:
    root, node = str(given.get("root", "/")), str(given.get("node", ""))
    if task == "probe":
        found = standing(root, node)
        return {"changed": False, "standing": found.standing.value, "authority": found.ca, "why": found.why}
    if task == "secrets":
        return _secrets(root, given, check=check)
    if task == "revoke":
        if not check:
            delete_token(str(given["token"]))
        return {"changed": True}
    fields = {key: value for key, value in given.items() if key != "root"}
    entered = enter(root, Entry(role=task, **fields), dry=check)
    return {
        "changed": entered.changed,
        "standing": entered.standing,
        "authority": entered.authority,
        "resumed": entered.resumed,
    }


def _secrets(root: str, given: dict[str, Any], *, check: bool) -> dict[str, Any]:
    authority = standing(root, "").ca
    if check:
        return {"changed": True, "authority": authority, "token": ""}
    if given.get("config"):
        upload_certificates(root, str(given["config"]))
    return {"changed": True, "authority": authority, "token": make_token(_TTL)}


if __name__ == "__main__":
    main()
