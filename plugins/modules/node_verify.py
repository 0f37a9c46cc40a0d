# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_verify
short_description: Judge the nodes that were read
version_added: "0.1.0"
description:
  - Compares, once for the whole play and on the controller, what every node of a pool runs with what its tier wants.
  - Reads C(members.json) and C(snapshots/HOST.json) of a run directory and writes C(findings.json).
  - Fails naming every check that failed. A check that could not look is unknown, which is never a pass.
author:
  - tunectl contributors (@tunectl)
options:
  run_dir:
    description: The run directory on the controller.
    type: path
    required: true
  tier:
    description: Name of a tier, or a tier file.
    type: str
    required: true
  tier_dirs:
    description: Directories with tier files, searched before the built-in tiers.
    type: list
    elements: path
  platform:
    description: How the settings come onto the nodes.
    type: str
    choices: [kubeadm, openshift]
    default: kubeadm
  fail_on:
    description: Whether only failed checks fail the task, or unknown ones too.
    type: str
    choices: [fail, unknown]
    default: fail
attributes:
  check_mode:
    description: Contacts no node in any case.
    support: full
  diff_mode:
    description: Nothing on a node changes.
    support: none
"""

EXAMPLES = r"""
- name: Prove that every node is as its tier wants
  tunectl.node.node_verify:
    tier: hpc-massive
    run_dir: .tunectl/runs/ansible
"""

RETURN = r"""
pass:
  description: How many checks passed.
  type: int
  returned: success
fail:
  description: How many checks failed.
  type: int
  returned: always
unknown:
  description: How many checks could not look.
  type: int
  returned: always
not_applicable:
  description: How many checks do not apply.
  type: int
  returned: always
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""
