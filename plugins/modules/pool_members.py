# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: pool_members
short_description: Find out which hosts of the inventory form a pool
version_added: "0.1.0"
description:
  - Writes down which hosts belong to the pool of a tier, once for the whole play, without contacting any of them.
  - A host belongs to the pool that its variable C(tunectl_pool) names, else to the pool whose inventory group it is in.
    The group is named like the pool; C(_) may stand for C(-).
  - Fails when a host is in two pools, when the pool has no host, and when a pattern matches nothing.
  - Snapshots and plans of an earlier run beside the written file are removed, so that none is taken for a new one.
author:
  - tunectl contributors (@tunectl)
options:
  dest:
    description: The file to write, C(members.json) in a run directory. C(members.txt) is written beside it.
    type: path
    required: true
  pool:
    description: Name of the pool. Without it and without O(tier) every host takes part.
    type: str
  tier:
    description: Name or file of the tier whose pool is meant; used without O(pool).
    type: str
  patterns:
    description: Host patterns that narrow the pool.
    type: list
    elements: str
  tier_dirs:
    description: Directories with tier files, searched before the built-in tiers.
    type: list
    elements: path
attributes:
  check_mode:
    description: Contacts no node in any case.
    support: full
  diff_mode:
    description: Nothing on a node changes.
    support: none
"""

EXAMPLES = r"""
- name: Find the nodes of a tier
  tunectl.node.pool_members:
    tier: hpc-massive
    dest: .tunectl/runs/ansible/members.json
"""

RETURN = r"""
pool:
  description: The pool; empty when every host takes part.
  type: str
  returned: success
count:
  description: How many hosts take part.
  type: int
  returned: success
dest:
  description: The file that was written.
  type: str
  returned: success
tunectl_errors:
  description: What is wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""
