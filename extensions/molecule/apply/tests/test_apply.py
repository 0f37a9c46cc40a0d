"""The node after the tier was applied: what is written, and what the kubelet runs with."""

from __future__ import annotations

import json
from typing import Any

FILE = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"


def test_the_drop_in_is_there(host: Any) -> None:
    with host.sudo():
        drop_in = host.file(FILE)
        assert drop_in.user == "root"
        assert drop_in.mode == 0o644
        assert "maxPods: 42" in drop_in.content_string


def test_the_kubelet_was_restarted_after_the_writing_and_is_up(host: Any) -> None:
    assert host.service("kubelet").is_running
    started = float(host.check_output('date +%s -d "$(systemctl show -P ActiveEnterTimestamp kubelet)"'))
    assert started >= host.file(FILE).mtime.timestamp() - 1


def test_the_generation_is_recorded_for_root_only(host: Any) -> None:
    with host.sudo():
        place = host.file("/var/lib/tunectl/generations/0001/manifest.json")
        assert json.loads(place.content_string)["state"] == "committed"
        assert host.file("/var/lib/tunectl/generations/0001").mode == 0o700
        assert place.mode == 0o600
