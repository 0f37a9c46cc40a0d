# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_drain
short_description: Move the pods of a node away before a change that ends them, and give the node back afterwards
version_added: "0.1.0"
description:
  - Drains a node whose plan has changes with the price C(drain), or C(reboot) where it will be rebooted, and whose
    kubelet has credentials of a cluster. Other nodes are left alone, and the result says why.
  - Pods are evicted, so that disruption budgets count. Pods of DaemonSets and static pods stay.
  - A node that somebody else cordoned before stays cordoned. One that this cordoned is given back when it is Ready
    without a break, its kubelet renews its lease, and all resources of device plugins are back.
  - When pods do not leave in time, the cordon is taken back and the task fails.
  - Needs the Python package C(kubernetes) on the controller, and the rights that the how-to page on draining lists.
author:
  - tunectl contributors (@tunectl)
options:
  state:
    description:
      - V(checked) says everything that forbids the drain and changes nothing; V(drained) does it; V(uncordoned) gives
        the node back.
    type: str
    choices: [checked, drained, uncordoned]
    required: true
  drain:
    description: V(auto) drains where it is needed; V(never) leaves that to you.
    type: str
    choices: [auto, never]
    default: auto
  kubeconfig:
    description: The kubeconfig on the controller; without one E(KUBECONFIG) counts, then the pod that this runs in.
    type: path
    default: ""
  context:
    description: The context of the kubeconfig, where it is not the current one.
    type: str
    default: ""
  node_name:
    description: The Node that the host is, where neither its boot nor its names and addresses tell.
    type: str
    default: ""
  run:
    description: Which run this is; it is written on the Node with the cordon.
    type: str
    default: ""
  plan_dir:
    description: Directory on the controller with the plans of the nodes; without it every member is drained.
    type: path
    default: ""
  stop_file:
    description: File on the controller that stops the run before the node.
    type: path
    default: ""
  reboot:
    description: Whether the node will be rebooted where it is needed.
    type: str
    choices: [auto, never]
    default: auto
  simulated:
    description: Whether the node is a directory tree that stands for a machine; such a node is never drained.
    type: bool
    default: false
  root:
    description: Directory that stands for C(/) of the node.
    type: path
    default: /
  drain_timeout:
    description:
      - How many seconds the drain may take, disruption budgets without room included. V(0) refuses those, and waits 600
        seconds for pods to end.
    type: int
    default: 0
  ready_timeout:
    description: How many seconds the node may take to be well again.
    type: int
    default: 600
  stable:
    description: How many seconds the node must be Ready without a break.
    type: int
    default: 10
  delete_emptydir_data:
    description: Agree to lose data in emptyDir volumes.
    type: bool
    default: false
  force:
    description: Agree to lose pods that belong to no controller.
    type: bool
    default: false
  drained:
    description: The registered result of the drain; V(uncordoned) needs it.
    type: dict
    default: {}
  generation:
    description: The registered result of M(tunectl.node.node_generation); a node whose change failed stays cordoned.
    type: dict
    default: {}
  rebooted:
    description: The registered result of M(tunectl.node.node_reboot).
    type: dict
    default: {}
attributes:
  check_mode:
    description: Says what forbids the drain and how many pods would move.
    support: full
  diff_mode:
    description: Nothing to compare.
    support: none
"""

EXAMPLES = r"""
- name: Move the pods of the node away
  tunectl.node.node_drain:
    state: drained
    kubeconfig: ~/.kube/config
    plan_dir: .tunectl/runs/ansible/plans
  register: drained

- name: Let the node have pods again
  tunectl.node.node_drain:
    state: uncordoned
    kubeconfig: ~/.kube/config
    drained: "{{ drained }}"
"""

RETURN = r"""
node:
  description: The name of the Node.
  type: str
  returned: when it was drained or would be
pods:
  description: How many pods moved, or would.
  type: int
  returned: when it was drained or would be
cordon:
  description: Whose cordon the node has, V(ours) or V(another's).
  type: str
  returned: when it was drained
note:
  description: What was done, or why nothing was.
  type: str
  returned: always
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: on failure
touched:
  description: Whether the cluster was changed, even if that was taken back.
  type: bool
  returned: on failure
skipped_node:
  description: Whether nothing was to be drained or given back.
  type: bool
  returned: on success
"""
