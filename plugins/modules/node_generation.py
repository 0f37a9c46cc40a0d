# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Applies everything that a node shall be as one numbered transaction, and takes it back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_generation
short_description: Apply the tuning of a node as one transaction, or take it back
version_added: "0.1.0"
description:
  - Makes files and values of the running kernel what a plan says, all of them or none.
  - Every change is a numbered generation below C(/var/lib/tunectl/generations) with a journal and the state before.
    When something fails, everything is put back; when the process is killed, the next contact puts it back.
  - What an earlier generation owned and the new one does not name is put back as it was before tunectl.
  - Files that somebody else changed are never overwritten unasked.
  - A node that is already as wanted is left alone; no generation is made.
author:
  - tunectl contributors (@tunectl)
options:
  root:
    description:
      - The directory that stands for C(/) of the node.
      - Below any other root than C(/) no commands are run, and they are listed in RV(skipped_actions).
    type: path
    default: /
  state:
    description:
      - V(present) makes the node what O(files) and O(runtime) say.
      - V(rolled_back) returns to what was before the current generation, or after generation O(to).
      - V(history) changes nothing and lists the generations.
    type: str
    choices: [present, rolled_back, history]
    default: present
  plan_file:
    description:
      - A node plan on the controller, as C(tunectl plan) or the role P(tunectl.node.node_plan#role) writes it.
        It stands for O(files), O(runtime), O(actions), O(tier) and O(plan_id).
      - A node whose plan has no changes is not contacted.
    type: path
  plan_dir:
    description:
      - A directory on the controller in which the plan of each host lies as C(HOST.json); used without O(plan_file).
        A host without a plan there is not contacted.
    type: path
  stop_file:
    description:
      - When this file exists on the controller, the node is not contacted any more.
    type: path
  files:
    description:
      - All files that tunectl shall own afterwards, below C(/etc).
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path on the node.
        type: str
        required: true
      content:
        description: The whole text.
        type: str
        required: true
      mode:
        description: Permissions, as an octal text or a number.
        type: raw
        default: "0644"
      why:
        description: What the file is for; not used.
        type: str
  runtime:
    description:
      - All values of the running kernel that tunectl shall own afterwards.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path below C(/proc/sys), C(/proc/irq) or C(/sys).
        type: str
        required: true
      value:
        description: The value; compared by meaning with what is there.
        type: str
        required: true
      optional:
        description: Whether a kernel without such a value is fine.
        type: bool
        default: false
  actions:
    description:
      - What makes the changes effective. C(reboot) is only reported, as RV(needs_reboot).
    type: list
    elements: str
    choices: [daemon-reload, units, update-grub, boot-arguments, kubelet-checkpoints, kubelet-restart, reboot]
    default: []
  tier:
    description: Name of the tier, for the records.
    type: str
    default: ""
  plan_id:
    description: Id of the plan, for the records.
    type: str
    default: ""
  to:
    description:
      - With O(state=rolled_back), the generation to return to; V(0) is the node before tunectl.
    type: int
  boot_id:
    description:
      - The boot that the node ran when it was looked at. A node that was rebooted since is refused, because what
        was read of it does not hold any more. Empty does not compare.
    type: str
    default: ""
  overwrite:
    description: Whether files that somebody else wrote or changed are overwritten; a rollback brings them back.
    type: bool
    default: false
  forget:
    description: Whether files and values that are not named any more stay as they are instead of being put back.
    type: bool
    default: false
attributes:
  check_mode:
    description: Says what would be done and writes nothing at all.
    support: full
  diff_mode:
    description: Shows each file and value before and after.
    support: full
  idempotent:
    description: A second run changes nothing.
    support: full
"""

EXAMPLES = r"""
- name: Apply the plan of each host
  tunectl.node.node_generation:
    plan_dir: "{{ tunectl_run_dir }}/plans"

- name: Own one sysctl file and set its value at once
  tunectl.node.node_generation:
    files:
      - path: /etc/sysctl.d/99-tunectl.conf
        content: |
          vm.stat_interval = 10
    runtime:
      - path: /proc/sys/vm/stat_interval
        value: "10"

- name: Return to what was before
  tunectl.node.node_generation:
    state: rolled_back
"""

RETURN = r"""
generation:
  description: Number of the generation that holds now; 0 when tunectl owns nothing.
  type: int
  returned: always
before_generation:
  description: Number of the generation that held before.
  type: int
  returned: when O(state) is not V(history)
files:
  description: The files that were changed.
  type: list
  elements: dict
  returned: when O(state) is not V(history)
  contains:
    path:
      description: The file.
      type: str
    change:
      description: created, updated, mode or removed.
      type: str
runtime:
  description: The values that were changed, each with path, before and after.
  type: list
  elements: dict
  returned: when O(state) is not V(history)
foreign:
  description: Files that somebody else had changed or removed.
  type: list
  elements: str
  returned: when O(state) is not V(history)
left_alone:
  description: Values that were not put back because somebody changed them since.
  type: list
  elements: str
  returned: when O(state) is not V(history)
notes:
  description: Remarks, such as optional values that this kernel does not have.
  type: list
  elements: str
  returned: when O(state) is not V(history)
recovered:
  description: Unfinished work of an interrupted run that was undone first.
  type: list
  elements: dict
  returned: when O(state) is not V(history)
needs_reboot:
  description: Whether the node needs a reboot for the changes to hold.
  type: bool
  returned: when O(state) is not V(history)
boot_id:
  description: Which boot the node ran when this was done, as its kernel names it; empty when it does not.
  type: str
  returned: when O(state) is not V(history)
actions:
  description: The actions that belong to the change.
  type: list
  elements: str
  returned: when O(state) is not V(history)
skipped_actions:
  description: Actions that were not run, each with the reason.
  type: list
  elements: dict
  returned: when O(state) is not V(history)
history:
  description: The generations, oldest first.
  type: list
  elements: dict
  returned: when O(state=history)
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: on failure
undone:
  description: Whether a failed change was taken back completely.
  type: bool
  returned: on failure
"""

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.edge import run_module
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import (
    ForeignChangeError,
    Result,
    file_diff,
    refuse_other_boot,
    request_from_json,
)

_FILE = {
    "path": {"type": "str", "required": True},
    "content": {"type": "str", "required": True},
    "mode": {"type": "raw", "default": "0644"},
    "why": {"type": "str"},
}
_RUNTIME = {
    "path": {"type": "str", "required": True},
    "value": {"type": "str", "required": True},
    "optional": {"type": "bool", "default": False},
}
_ACTIONS = [
    "daemon-reload",
    "units",
    "update-grub",
    "boot-arguments",
    "kubelet-checkpoints",
    "kubelet-restart",
    "reboot",
]
ARGUMENTS: dict[str, Any] = {
    "root": {"type": "path", "default": "/"},
    "state": {"type": "str", "choices": ["present", "rolled_back", "history"], "default": "present"},
    "plan_file": {"type": "path"},
    "plan_dir": {"type": "path"},
    "stop_file": {"type": "path"},
    "files": {"type": "list", "elements": "dict", "default": [], "options": _FILE},
    "runtime": {"type": "list", "elements": "dict", "default": [], "options": _RUNTIME},
    "actions": {"type": "list", "elements": "str", "choices": _ACTIONS, "default": []},
    "tier": {"type": "str", "default": ""},
    "plan_id": {"type": "str", "default": ""},
    "to": {"type": "int"},
    "boot_id": {"type": "str", "default": ""},
    "overwrite": {"type": "bool", "default": False},
    "forget": {"type": "bool", "default": False},
}


def work(params: Mapping[str, Any], *, check: bool, diff: bool) -> dict[str, Any]:
    """Return the module's result for its parameters."""
    generations = Generations(params["root"])
    if params["state"] == "history":
        history = generations.history()
        current = [item["generation"] for item in history if item["current"]]
        return {"changed": False, "generation": current[0] if current else 0, "history": history}
    refuse_other_boot(params["boot_id"], generations.boot_id)
    try:
        if params["state"] == "rolled_back":
            result = generations.rollback(params["to"], overwrite=params["overwrite"], check=check)
        else:
            result = generations.apply(request_from_json(params), check=check)
    except ForeignChangeError as error:
        error.result_extras = {"diff": file_diff(error.files)} if diff else {}
        raise
    return _result(result, generations.boot_id, diff=diff)


def _result(result: Result, boot_id: str, *, diff: bool) -> dict[str, Any]:
    data = {**result.to_json(), "boot_id": boot_id}
    if diff:
        data["diff"] = result.diff()
    return data


def main() -> None:
    """Run as Ansible runs modules."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_module(module, lambda params: work(params, check=module.check_mode, diff=module._diff))  # noqa: SLF001


if __name__ == "__main__":
    main()
