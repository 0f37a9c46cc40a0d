"""What is found is a file on the controller; the node is not touched."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

RUN = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "run"


def test_the_pool_of_the_tier_is_the_group_of_that_name() -> None:
    assert json.loads((RUN / "members.json").read_text())["hosts"].keys() == {"node-1"}
    assert (RUN / "members.txt").read_text().strip() == "node-1"


def test_the_node_has_nothing_of_it(host: Any) -> None:
    assert not host.file("/var/lib/tunectl").exists
