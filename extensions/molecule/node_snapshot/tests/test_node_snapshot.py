"""What was read is what the node has."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

RUN = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "run"


def test_the_snapshot_has_the_files_of_the_node(host: Any) -> None:
    snapshot = json.loads((RUN / "snapshots" / "node-1.json").read_text())
    files = snapshot["files"]
    assert files["/etc/os-release"] == host.file("/etc/os-release").content_string
    assert files["/var/lib/kubelet/config.yaml"] == host.file("/var/lib/kubelet/config.yaml").content_string
    assert any(path.endswith("/comm") and text.strip() == "kubelet" for path, text in files.items())


def test_nothing_is_left_behind(host: Any) -> None:
    assert not host.file("/var/lib/tunectl").exists
    assert host.check_output("find /home/lab/.ansible/tmp -mindepth 1 2>/dev/null | wc -l") == "0"
