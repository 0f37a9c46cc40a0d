# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel arguments of the next boot, through whatever boot loader the node has."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_cmdline
short_description: Set kernel arguments of the next boot, and take them back
description:
  - Puts arguments as one block, in their order, behind those that are there, and remembers them, so that exactly these
    are taken out again. Arguments of others keep their place, order and number.
  - With GRUB and drop-ins (Debian, Ubuntu) it writes C(/etc/default/grub.d/99-tunectl.cfg) and runs update-grub. With
    loader entries (RHEL 8 and later, Fedora) it edits the entries of all kernels, GRUB's C(kernelopts),
    C(/etc/kernel/cmdline) and C(GRUB_CMDLINE_LINUX), so that new kernels inherit them. With rpm-ostree it uses
    C(rpm-ostree kargs). Other boot loaders are refused with what to do instead.
  - Afterwards it looks whether the arguments are in what boots next, and puts everything back when they are not.
  - Nothing is rebooted. RV(needs_reboot) tells whether the running kernel has other arguments.
options:
  arguments:
    description: The arguments in order, each C(name) or C(name=value).
    type: list
    elements: str
    default: []
  state:
    description: V(present) makes these the arguments of the module, instead of earlier ones; V(absent) takes all back.
    type: str
    choices: [present, absent]
    default: present
  root:
    description: Directory that stands for / of the node. Programs are run only where it is V(/).
    type: path
    default: /
author:
  - the tunectl contributors
attributes:
  check_mode:
    support: full
    description: Reports what would be changed and writes nothing.
  diff_mode:
    support: full
    description: Shows the files of the boot loader before and after.
"""

EXAMPLES = r"""
- name: Isolate CPUs from the next boot on
  tunectl.node.node_cmdline:
    arguments: ["isolcpus=managed_irq,2-7", nohz_full=2-7, hugepagesz=1G, hugepages=4]
  become: true
  register: cmdline

- name: Take them back
  tunectl.node.node_cmdline:
    state: absent
  become: true
"""

RETURN = r"""
loader:
  description: What carries the arguments, grub, bls or ostree.
  type: str
  returned: success
files:
  description: Files that were, or would be, changed.
  type: list
  elements: str
  returned: success
commands:
  description: Programs that were, or would be, run.
  type: list
  elements: list
  returned: success
next_boot:
  description: The arguments of the entry that boots next, as far as the files tell.
  type: str
  returned: success
needs_reboot:
  description: Whether the running kernel lacks arguments of the next boot, or has ones that were taken back.
  type: bool
  returned: success
"""

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.edge import run_module
from ansible_collections.tunectl.node.plugins.module_utils.node_arguments import NodeArguments

ARGUMENTS = {
    "arguments": {"type": "list", "elements": "str", "default": []},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "root": {"type": "path", "default": "/"},
}


def work(params: Mapping[str, Any], *, check: bool, diff: bool) -> dict[str, Any]:
    """Return the result of the module."""
    wanted = params["arguments"] if params["state"] == "present" else []
    result = NodeArguments(params["root"]).make(wanted, check=check)
    return {**result.to_json(), **({"diff": result.diff()} if diff else {})}


def main() -> None:
    """Run as Ansible runs modules."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    run_module(module, lambda params: work(params, check=module.check_mode, diff=module._diff))  # noqa: SLF001


if __name__ == "__main__":
    main()
