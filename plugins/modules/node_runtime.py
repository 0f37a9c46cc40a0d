# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Gives a machine what containers need: modules, forwarding, containerd with the systemd cgroup driver, crictl."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_runtime
short_description: Make a machine ready for containers
version_added: "0.1.0"
description:
  - Loads kernel modules and turns forwarding on, now and at every boot; gives containerd the systemd cgroup driver in
    the table that its release reads; tells crictl where containerd is; lets containerd and the kubelet start at boot.
  - A configuration of containerd that others wrote is completed, and the one before is kept below
    C(/var/lib/tunectl/bootstrap/before). The daemon's own dump of what it read is judged afterwards.
author:
  - tunectl contributors (@tunectl)
options:
  task:
    description: V(look) only tells what is there; the action does both.
    type: str
    choices: [look, prepare]
    default: prepare
  config:
    description: The text of C(config.toml); without it the file stays. The action decides it.
    type: str
  socket:
    description: The socket of the runtime.
    type: str
    default: unix:///run/containerd/containerd.sock
  overwrite:
    description: Whether a configuration that cannot be completed is replaced.
    type: bool
    default: false
attributes:
  check_mode:
    description: Says what would be changed and changes nothing.
    support: full
  diff_mode:
    description: Shows each file before and after.
    support: full
"""

EXAMPLES = r"""
- name: Make the machine ready for containers
  tunectl.node.node_runtime:
    socket: unix:///run/containerd/containerd.sock
"""

RETURN = r"""
changes:
  description: The files, modules, values and services that were changed.
  type: list
  elements: str
  returned: success
version:
  description: What containerd says of itself.
  type: str
  returned: success
tunectl_errors:
  description: What went wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.node_runtime import look, prepare


def main() -> None:
    """Look or prepare, and end with what was found or done."""
    module = AnsibleModule(
        argument_spec={
            "task": {"type": "str", "choices": ["look", "prepare"], "default": "prepare"},
            "config": {"type": "str"},
            "socket": {"type": "str", "default": "unix:///run/containerd/containerd.sock"},
            "overwrite": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    try:
        result = _done(module.params, check=module.check_mode)
    except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
        module.fail_json(**failure(error))
    module.exit_json(**result)


def _done(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    if params["task"] == "look":
        state = look("/")
        return {"changed": False, "version": state.version, "config": state.config}
    done = prepare("/", params["config"], params["socket"], dry=check)
    diff = [{"before_header": path, "after_header": path, "before": old, "after": new} for path, old, new in done.diffs]
    return {"changed": bool(done.changed), "changes": list(done.changed), "dump": done.dump, "diff": diff}


if __name__ == "__main__":
    main()
