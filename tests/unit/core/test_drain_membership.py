"""Which nodes are drained, and what they say of themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tunectl.core.drain.membership import LOOK, Looked, needs_drain, read_look


@pytest.mark.parametrize(
    ("impacts", "reboot", "needed"),
    [
        (("live", "restart"), "auto", False),
        (("live", "drain"), "never", True),
        (("reboot",), "auto", True),
        (("reboot",), "never", False),
        ((), "auto", False),
    ],
)
def test_what_ends_pods_needs_a_drain(impacts: tuple[str, ...], reboot: str, *, needed: bool) -> None:
    assert needs_drain([{"impact": impact} for impact in impacts], reboot) is needed


def test_a_banner_does_not_hide_what_a_node_says_and_half_an_answer_is_none() -> None:
    text = "Welcome\ntunectl-member\ntunectl-member\ntunectl-boot b1\ntunectl-name n1.example.com\ntunectl-looked\n"
    assert read_look(text) == Looked(member=True, boot_id="b1", names=("n1.example.com",))
    assert read_look(text.replace("tunectl-looked", "")) is None


@pytest.mark.parametrize(
    ("path", "member"),
    [
        ("etc/kubernetes/kubelet.conf", True),
        ("var/lib/kubelet/kubeconfig", True),
        ("var/lib/kubelet/pki/kubelet-client-current.pem", True),
        ("etc/kubernetes/kubelet.conf.d/99-tunectl.conf", False),
    ],
)
def test_a_member_is_a_kubelet_with_credentials(tmp_path: Path, path: str, *, member: bool) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).touch()
    done = subprocess.run(["/bin/sh", "-c", LOOK.format(root=tmp_path)], capture_output=True, text=True, check=True)
    found = read_look(done.stdout)
    assert found is not None
    assert found.member is member
    assert found.names
