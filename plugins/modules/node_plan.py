# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_plan
short_description: Plan a tier for the nodes that were read
version_added: "0.1.0"
description:
  - Works out, once for the whole play and on the controller, what every node of a pool needs to become what its
    tier wants.
  - Reads C(members.json) and C(snapshots/HOST.json) of a run directory and writes C(plans/HOST.json) of the nodes that
    need a change, C(plan.json) and C(changed.txt).
  - Fails with all critical findings when the plan is not fit to be applied.
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
attributes:
  check_mode:
    description: Contacts no node in any case.
    support: full
  diff_mode:
    description: Nothing on a node changes.
    support: none
"""

EXAMPLES = r"""
- name: Plan a tier
  tunectl.node.node_plan:
    tier: hpc-massive
    run_dir: .tunectl/runs/ansible
"""

RETURN = r"""
plan_id:
  description: Id of the plan.
  type: str
  returned: success
nodes:
  description: For each node the number of changes and the dearest price among them.
  type: dict
  returned: success
impacts:
  description: How many nodes have which dearest price.
  type: dict
  returned: success
remarks:
  description: Findings that do not forbid the plan.
  type: list
  elements: str
  returned: success
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""
