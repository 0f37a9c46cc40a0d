"""The role passes a node that is right and names what is not."""

from __future__ import annotations

import os
from pathlib import Path

RUN = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "run"


def test_the_setting_that_was_changed_is_named() -> None:
    found = (RUN / "found.txt").read_text()
    assert "kubelet.maxPods" in found
    assert "TUN-3502" in found
