# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads what a node is and runs, as named files, in one module execution."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_snapshot
short_description: Read what a node is and runs
version_added: "0.1.0"
description:
  - Copies the files that tell hardware and configuration of a node into one value, the snapshot.
  - Nothing is interpreted on the node and nothing on it changes. Files that cannot be read are part of the snapshot,
    with the reason.
  - Credentials are not read. Of C(/etc/fstab) only swap is kept, of C(/proc/cpuinfo) the first processor, of the
    kernel configuration the options that matter for tuning.
author:
  - tunectl contributors (@tunectl)
options:
  root:
    description:
      - The directory that stands for C(/) of the node. Links are followed below it and never lead outside.
      - Without this option the host variable C(tunectl_root) is used, else C(/).
    type: path
    default: /
  node:
    description:
      - Name of the node in the snapshot. Without it the inventory name of the host is used.
    type: str
  sysctls:
    description:
      - Kernel parameters to read, besides those that every snapshot holds and those in the sysctl.d files of the node.
    type: list
    elements: str
    default: []
  paths:
    description:
      - Further files to read, absolute. C(*) and C(?) match within one component of a path.
    type: list
    elements: str
    default: []
  bootstrap:
    description:
      - Whether to read also what a bootstrap needs to know of a machine, such as programs and their versions, free
        ports, the clock, and which files of a cluster are there. Of credentials only the presence is noted.
    type: bool
    default: false
  names:
    description:
      - With O(bootstrap), host names to look up on the node.
    type: list
    elements: str
    default: []
  dest:
    description:
      - Where on the controller the snapshot is written. A name that ends in C(.json) is the file; any other is a
        directory in which the file C(NODE.json) is written.
      - Without it the snapshot is in the result.
    type: path
  packed:
    description:
      - Return RV(snapshot) as compressed text, which is how the controller fetches it.
      - Not for use in playbooks.
    type: bool
    default: false
attributes:
  check_mode:
    description: Nothing on the node changes in any mode.
    support: full
  diff_mode:
    description: Nothing on the node changes in any mode.
    support: none
"""

EXAMPLES = r"""
- name: Read the nodes into a directory
  tunectl.node.node_snapshot:
    dest: .tunectl/runs/ansible/snapshots

- name: Read a host that is mounted below /host, and one parameter more
  tunectl.node.node_snapshot:
    root: /host
    sysctls: [net.ipv4.tcp_rmem]
    paths: [/sys/class/net/*/queues/rx-*/rps_cpus]
  register: read

- name: Show the kernel arguments of the node
  ansible.builtin.debug:
    msg: "{{ read.snapshot.files['/proc/cmdline'] }}"
"""

RETURN = r"""
snapshot:
  description: The snapshot, as the published schema C(snapshot) says; with O(packed) zlib and base64 of its JSON.
  type: raw
  returned: success and O(dest) is not given
dest:
  description: The file that was written on the controller.
  type: str
  returned: success and O(dest) is given
node:
  description: Name of the node.
  type: str
  returned: success
fingerprint:
  description: Text that is equal for nodes with equal hardware.
  type: str
  returned: success
simulated:
  description: Whether the node is a directory tree that stands for a machine.
  type: bool
  returned: success
size:
  description: Size of the snapshot as JSON, in bytes.
  type: int
  returned: success
tunectl_errors:
  description: What went wrong, each with code, message, location, why and hint.
  type: list
  elements: dict
  returned: failure
"""

import base64
import json
import os
import zlib
from collections.abc import Callable
from typing import Any

from ansible.module_utils.basic import AnsibleModule  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.rooted_files import RootedFiles
from ansible_collections.tunectl.node.plugins.module_utils.snapshot_reader import read_snapshot


def _extra(params: dict[str, Any]) -> Callable[[RootedFiles], dict[str, object]] | None:
    if not params["bootstrap"]:
        return None
    # ordinary snapshots do without the time that it takes to load this
    from ansible_collections.tunectl.node.plugins.module_utils.snapshot_bootstrap import (  # noqa: PLC0415
        read_bootstrap,
    )

    return lambda files: {"bootstrap": read_bootstrap(files, params["names"])}


def main() -> None:
    """Read once and end with the snapshot."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "default": "/"},
            "node": {"type": "str"},
            "sysctls": {"type": "list", "elements": "str", "default": []},
            "paths": {"type": "list", "elements": "str", "default": []},
            "bootstrap": {"type": "bool", "default": False},
            "names": {"type": "list", "elements": "str", "default": []},
            "dest": {"type": "path"},
            "packed": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    root = module.params["root"]
    if not os.path.isdir(root):  # noqa: PTH112 - one call, and pathlib takes its time to load
        module.fail_json(msg=f"{root} is no directory on the node, so nothing below it can be read")
    node = module.params["node"] or os.uname().nodename
    try:
        snapshot = read_snapshot(
            root, node, module.params["sysctls"], module.params["paths"], extra=_extra(module.params)
        )
    except ValueError as error:
        module.fail_json(msg=f"paths: {error}")
    document = snapshot.to_json()
    if module.params["packed"]:
        text = json.dumps(document, separators=(",", ":"))
        packed = base64.b64encode(zlib.compress(text.encode(), 1)).decode("ascii")
        module.exit_json(changed=False, snapshot=packed)
    module.exit_json(changed=False, node=node, simulated=snapshot.simulated, snapshot=document)


if __name__ == "__main__":
    main()
