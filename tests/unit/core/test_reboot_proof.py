"""The proof of a reboot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.codes import CODES
from tunectl.core.reboot_proof import SYSTEM_IS_UP, Reboot, boot_id_in, own_machine, reboot_problem, unknown_boot

ONE = "0d3a1b9c-7c1e-4d57-9a2b-3d1f0c9e8a77"
TWO = "5b0e2f64-11aa-4c9d-8e21-7f6a5d4c3b2a"


def reboot(after: str, said: str = "") -> Reboot:
    return Reboot("node-7", 12, ONE, after, "2026-03-02T10:44:07Z", 1800, said)


@pytest.mark.parametrize(
    ("after", "said", "code", "words"),
    [
        ("", "Timed out waiting for last boot time check", "TUN-4472", ("1800 s", "console", "10:44:07", ONE)),
        ("", "", "TUN-4472", ("console",)),
        (ONE, "Timed out waiting for last boot time check", "TUN-4473", ("systemd-inhibit", ONE)),
        (ONE, "", "TUN-4473", ("same boot",)),
        (TWO, "Timed out waiting for post-reboot test command", "TUN-4474", ("systemctl list-jobs", TWO)),
    ],
)
def test_what_is_not_proved_is_said_with_the_state_of_the_node(
    after: str, said: str, code: str, words: tuple[str, ...]
) -> None:
    found = reboot_problem(reboot(after, said))
    assert found is not None
    assert (found.code, found.where) == (code, "node-7")
    assert found.code in CODES
    assert "generation 12 is written on the node and not proven" in found.why
    assert "tunectl verify" in found.fix
    text = f"{found.what} {found.why} {found.fix}"
    assert [word for word in words if word not in text] == []


def test_another_boot_that_is_up_is_the_proof() -> None:
    assert reboot_problem(reboot(TWO)) is None


NOISE = st.text(alphabet="abc \n\r#-0", max_size=40)


@given(before=NOISE, after=NOISE, there=st.booleans())
def test_a_banner_around_the_boot_id_does_not_matter(*, before: str, after: str, there: bool) -> None:
    text = f"{before}\n{ONE if there else ''}\r\n{after}"
    assert boot_id_in(text) == (ONE if there else "")


@pytest.mark.parametrize("text", ["", "cat: /proc/sys/kernel/random/boot_id: No such file", ONE[:-1], f"x{ONE}", "1"])
def test_what_is_no_boot_id_is_none(text: str) -> None:
    assert boot_id_in(text) == ""


def test_a_node_that_was_not_rebooted_says_that_the_change_is_written() -> None:
    for found in (unknown_boot("n1", 3, ""), own_machine("n1", 3)):
        assert found.code in CODES
        assert "generation 3 is written" in found.why
        assert "tunectl verify" in found.fix


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("running", 0),
        ("degraded", 0),
        ("maintenance", 0),
        ("starting", 1),
        ("initializing", 1),
        ("stopping", 1),
        ("offline", 0),
        (None, 0),
    ],
)
def test_a_system_is_up_when_nothing_is_starting(tmp_path: Path, state: str | None, code: int) -> None:
    if state is not None:
        program = tmp_path / "systemctl"
        # systemctl fails in every state but running
        program.write_text(f"#!/bin/sh\necho {state}\n[ {state} = running ]\n", encoding="utf-8")
        program.chmod(0o755)
    done = subprocess.run(["/bin/sh", "-c", SYSTEM_IS_UP], env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == code
