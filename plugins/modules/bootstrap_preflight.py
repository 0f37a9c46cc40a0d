# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: bootstrap_preflight
short_description: Judge whether machines can become a kubeadm cluster
version_added: "0.1.0"
description:
  - Judges, once for the whole play and on the controller, the snapshots that M(tunectl.node.node_snapshot) took with
    O(tunectl.node.node_snapshot#module:bootstrap).
  - The machines are those of the inventory groups C(kube_control_plane) and C(kube_workers); the cluster is described
    by the variables C(tunectl_kube_*).
  - Writes C(preflight.json) into the run directory, and fails with everything that forbids the bootstrap.
author:
  - tunectl contributors (@tunectl)
options:
  run_dir:
    description: The run directory on the controller.
    type: path
    required: true
  tiers:
    description: The tier of each pool.
    type: dict
    default: {}
  tier_dirs:
    description: Directories with tier files, searched before the built-in tiers.
    type: list
    elements: path
  accept:
    description: Checks whose failure, or blindness, does not forbid the bootstrap, by their ids.
    type: list
    elements: str
    default: []
attributes:
  check_mode:
    description: Contacts no node in any case.
    support: full
  diff_mode:
    description: Nothing on a node changes.
    support: none
"""

EXAMPLES = r"""
- name: Judge the machines
  tunectl.node.bootstrap_preflight:
    run_dir: .tunectl/runs/ansible
    tiers:
      hpc-massive: hpc-massive
"""

RETURN = r"""
machines:
  description: How many machines take part.
  type: int
  returned: when they could be judged
version:
  description: The version of the cluster.
  type: str
  returned: when they could be judged
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""
