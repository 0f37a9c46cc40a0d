# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The labs of a folder as an inventory, as they are now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError  # type: ignore[import-untyped]
from ansible.plugins.inventory import BaseInventoryPlugin  # type: ignore[import-untyped]
from ansible.template import trust_as_template  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.lab.inventory import (
    DESCRIPTION,
    group_of,
    lab_variables,
    node_variables,
)

DOCUMENTATION = r"""
name: lab
short_description: The nodes of labs that C(tunectl lab up) has brought up
description:
  - Reads the labs below C(.tunectl/lab) of a folder, simulated nodes and virtual machines.
  - A file whose name ends in C(.lab.yml) or C(.lab.yaml) configures it.
options:
  plugin:
    description: Must be C(tunectl.node.lab).
    type: str
    required: true
    choices: [tunectl.node.lab]
  folder:
    description: The folder that has the labs, absolute or as seen from the inventory file.
    type: str
    default: .
  labs:
    description: Names of the labs to take; all of the folder when it is empty.
    type: list
    elements: str
    default: []
author:
  - the tunectl contributors
"""

EXAMPLES = r"""
# mine.lab.yml
plugin: tunectl.node.lab
labs: [default]
"""


class InventoryModule(BaseInventoryPlugin):  # type: ignore[misc]
    """Reads lab descriptions."""

    NAME = "tunectl.node.lab"

    def verify_file(self, path: str) -> bool:
        """Return whether the file is one for this plugin, by its name."""
        return bool(super().verify_file(path)) and path.endswith((".lab.yml", ".lab.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:  # noqa: FBT001, FBT002
        """Add the nodes of the labs; raises `AnsibleParserError` for a lab that is not there or damaged."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        directory = (Path(path).parent / self.get_option("folder") / ".tunectl" / "lab").resolve()
        wanted = self.get_option("labs") or sorted(one.parent.name for one in directory.glob(f"[!.]*/{DESCRIPTION}"))
        for name in wanted:
            self._add_lab(directory / name)

    def _add_lab(self, place: Path) -> None:
        try:
            data = json.loads((place / DESCRIPTION).read_text(encoding="utf-8"))
            kind, nodes = data["kind"], list(data["nodes"])
            rows = [(node["name"], node["pool"], node_variables(kind, place, node)) for node in nodes]
        except FileNotFoundError as error:
            raise AnsibleParserError(f"there is no lab at {place}: bring it up with tunectl lab up") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AnsibleParserError(f"{place / DESCRIPTION} does not describe a lab: {error!r}") from error
        for name, pool, variables in rows:
            group = self.inventory.add_group(group_of(pool))
            self.inventory.add_host(name, group=group)
            for key, value in {**_own(kind), **variables}.items():
                self.inventory.set_variable(name, key, value)


def _own(kind: str) -> dict[str, Any]:
    # Ours, with an expression among them; what the file of the lab says stays text.
    return {
        key: trust_as_template(value) if isinstance(value, str) else value for key, value in lab_variables(kind).items()
    }
