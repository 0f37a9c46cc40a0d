# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_reboot
short_description: Reboot a node after a generation, where that is needed and allowed
version_added: "0.1.0"
description:
  - Reboots a machine with M(ansible.builtin.reboot) and a simulated node with M(tunectl.node.lab_reboot), if the result
    of M(tunectl.node.node_generation) says that its changes need it.
  - A reboot counts when the node says that it runs another boot (C(/proc/sys/kernel/random/boot_id)) and has finished
    starting, as far as systemd tells. Anything else is a failure that says what is known of the node.
  - A node that somebody else rebooted after the change was written runs with the change already and is left alone.
  - The machine that Ansible runs on is never rebooted.
  - A simulated node that needs no reboot takes what was written as a running kernel would.
author:
  - tunectl contributors (@tunectl)
options:
  generation:
    description: The registered result of M(tunectl.node.node_generation).
    type: dict
    required: true
  reboot:
    description: V(auto) reboots where it is needed; V(never) leaves that to you.
    type: str
    choices: [auto, never]
    default: auto
  root:
    description: Directory that stands for C(/) of a simulated node.
    type: path
    default: /
  simulated:
    description: Whether the node is a directory tree that stands for a machine.
    type: bool
    default: false
  timeout:
    description: How many seconds a machine may take to come back.
    type: int
    default: 1800
  command:
    description: The command that reboots a machine, where C(shutdown) is not the right one.
    type: str
    default: ""
attributes:
  check_mode:
    description: Says that it would reboot.
    support: full
  diff_mode:
    description: Nothing to compare.
    support: none
"""

EXAMPLES = r"""
- name: Apply the plan of the node
  tunectl.node.node_generation:
    plan_dir: .tunectl/runs/ansible/plans
  register: generation

- name: Reboot the node where it is needed
  tunectl.node.node_reboot:
    generation: "{{ generation }}"
"""

RETURN = r"""
rebooted:
  description: Whether the node was rebooted.
  type: bool
  returned: when it was needed and allowed
boot_id:
  description: Which boot the machine runs now.
  type: str
  returned: when a machine was rebooted, by this or by somebody else
before_boot_id:
  description: Which boot the machine ran before.
  type: str
  returned: when a machine was rebooted
note:
  description: Why a machine that needed a reboot was not rebooted.
  type: str
  returned: when somebody else rebooted it
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: on failure
skipped_node:
  description: Whether the node stayed up.
  type: bool
  returned: always
"""
