"""A transaction is whole: file, record, and a kubelet that runs with it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

FILE = "/etc/kubernetes/kubelet.conf.d/99-tunectl.conf"
GENERATIONS = "/var/lib/tunectl/generations"


def test_the_record_has_the_digest_of_the_file(host: Any) -> None:
    with host.sudo():
        assert host.file(GENERATIONS).listdir() == ["0001"]
        manifest = json.loads(host.file(f"{GENERATIONS}/0001/manifest.json").content_string)
        content = host.file(FILE).content
    assert manifest["state"] == "committed"
    digests = {item["path"]: item["sha256"] for item in manifest["files"]}
    assert digests == {FILE: hashlib.sha256(content).hexdigest()}


def test_the_kubelet_runs(host: Any) -> None:
    assert host.service("kubelet").is_running
    assert host.check_output("systemctl show -P NRestarts kubelet") == "0"
