# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Documentation of the action plugin of the same name; everything happens on the controller."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lab_reboot
short_description: Reboot a simulated node, or let it take what was written
version_added: "0.1.0"
description:
  - Does for a simulated node of a lab what kernel, boot loader, systemd and kubelet do on a machine.
  - With a reboot the boot loader's files become the kernel command line, the kernel starts from its defaults on it,
    sysctl.d and tmpfiles.d are applied, and the kubelet starts.
  - Without one the values that were written below C(/proc) and C(/sys) are taken as writes to the kernel. Accepted
    values show as a kernel shows them, refused ones are undone.
  - Refuses every directory that is not the tree of a simulated node.
author:
  - tunectl contributors (@tunectl)
options:
  root:
    description: The tree of the node. Without this option the host variable C(tunectl_root) is used.
    type: path
  reboot:
    description: Whether the node reboots.
    type: bool
    default: true
  restart_kubelet:
    description: Whether the kubelet restarts when the node does not reboot.
    type: bool
    default: false
attributes:
  check_mode:
    description: Says what would happen and simulates nothing.
    support: full
  diff_mode:
    description: What changes is simulated.
    support: none
"""

EXAMPLES = r"""
- name: Reboot the simulated machine
  tunectl.node.lab_reboot:
    root: "{{ tunectl_root }}"

- name: Let the simulated machine take the values
  tunectl.node.lab_reboot:
    root: "{{ tunectl_root }}"
    reboot: false
    restart_kubelet: true
"""

RETURN = r"""
simulated:
  description: Always true.
  type: bool
  returned: always
rebooted:
  description: Whether the node was rebooted.
  type: bool
  returned: success
cmdline:
  description: The command line of the running kernel.
  type: str
  returned: success and not in check mode
refused:
  description: Writes that the kernel did not take, as C(path) and value.
  type: list
  elements: str
  returned: success and not in check mode
log:
  description: What the kernel complains about while booting.
  type: list
  elements: str
  returned: success and not in check mode
kubelet:
  description: How the kubelet came up.
  type: dict
  returned: success and not in check mode
  contains:
    state:
      description: C(running) or C(failed); absent when it was not restarted.
      type: str
    reason:
      description: Why it does not start.
      type: str
"""
