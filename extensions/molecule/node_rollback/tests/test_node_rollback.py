"""The node is as it was; what happened is recorded."""

from __future__ import annotations

import json
from typing import Any

GENERATIONS = "/var/lib/tunectl/generations"


def test_our_file_is_gone_and_the_users_is_as_it_was(host: Any) -> None:
    with host.sudo():
        assert host.file("/etc/kubernetes/kubelet.conf.d").listdir() == ["50-mine.conf"]
        mine = host.file("/etc/kubernetes/kubelet.conf.d/50-mine.conf")
        assert (mine.content_string, mine.mode) == ("maxPods: 7\n", 0o640)


def test_the_rollback_is_a_generation_of_its_own(host: Any) -> None:
    with host.sudo():
        assert sorted(host.file(GENERATIONS).listdir()) == ["0001", "0002"]
        journal = json.loads(host.file(f"{GENERATIONS}/0002/journal.json").content_string)
    assert (journal["kind"], journal["restores"]) == ("rollback", 0)


def test_the_kubelet_runs(host: Any) -> None:
    assert host.service("kubelet").is_running
