"""The plan says what would change and what that costs; nothing has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

RUN = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "run"
FILE = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"


def test_the_plan_names_the_changes_and_the_files() -> None:
    plan = json.loads((RUN / "plans" / "node-1.json").read_text())
    changed = {change["setting"] for change in plan["changes"]}
    assert {"kubelet.maxPods", "kubelet.systemReserved"} <= changed
    assert [item["path"] for item in plan["files"]] == [FILE]
    assert "kubelet-restart" in plan["actions"]
    assert "reboot" not in plan["actions"]


def test_nothing_was_changed(host: Any) -> None:
    with host.sudo():
        assert not host.file(FILE).exists
        assert not host.file("/var/lib/tunectl").exists
