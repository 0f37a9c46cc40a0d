"""Machines that cannot be changed as they are: said in our words, with the right exit code, and left as they were.

Each test breaks a machine through a shell of root that is open beforehand, so that it can be mended whatever happens.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from e2e.conftest import TUNECTL, Machines
from e2e.test_lab_machines import TIER

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

NODE = "lab-1"
APPLY = ("apply", "--tier", "bad-input", "--node", NODE, "--yes")
REFUSED, UNKNOWN = 4, 5
LIVE = "sysctl -n vm.stat_interval vm.swappiness; cat /proc/cmdline /proc/irq/default_smp_affinity"


@pytest.fixture(autouse=True)
def tier(machines: Machines) -> None:
    (machines.folder / "tiers").mkdir(exist_ok=True)
    (machines.folder / "tiers" / "bad-input.yaml").write_text(TIER.replace("name: bench", "name: bad-input"))


@contextmanager
def broken(machines: Machines, how: str, mended: str) -> Iterator[None]:
    """Run `how` as root on the machine, and `mended` afterwards in the same shell."""
    command = [TUNECTL, "lab", "shell", NODE, "--", "sudo", "-n", "sh"]
    shell = subprocess.Popen(
        command, cwd=machines.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert shell.stdin is not None
    assert shell.stdout is not None
    try:
        shell.stdin.write(f"set -e; trap '{{ set +e; {mended}; }}' EXIT; {how}; echo is-broken\n")
        shell.stdin.flush()
        said = shell.stdout.readline()
        assert said == "is-broken\n", said + shell.stdout.read()
        yield
    finally:
        left, _none = shell.communicate(timeout=60)
        assert left == "", left


@contextmanager
def unchanged(machines: Machines) -> Iterator[None]:
    """Fail when files, values, the boot or the work on record of the machine are not what they were."""
    looks = f"{LIVE}; ls -A /var/lib/tunectl/generations 2>/dev/null || true"
    before = machines.digests(NODE), machines.on(NODE, looks), machines.boot_id(NODE)
    assert len(before[0].splitlines()) > 100
    yield
    assert (machines.digests(NODE), machines.on(NODE, looks), machines.boot_id(NODE)) == before


@dataclass(frozen=True)
class Case:
    """What is wrong with a machine, how it is mended, and what has to be said of it."""

    how: str
    mended: str
    code: str
    says: str
    exit_code: int = REFUSED


BOOT_FULL = (
    "mkdir -p /run/small-boot; size=$(du -sk /boot | cut -f1); "
    "mount -t tmpfs -o size=$((size + 256))k small-boot /run/small-boot; cp -a /boot/. /run/small-boot/; "
    "dd if=/dev/zero of=/run/small-boot/filler bs=4k 2>/dev/null || true; "
    "mount --bind /run/small-boot /boot; umount /run/small-boot"
)
HIDE_PYTHON = "for one in /usr/bin/python3 /usr/bin/python3.*; do mv $one /usr/bin/hidden-${one##*/}; done"
SHOW_PYTHON = "for one in /usr/bin/hidden-*; do mv $one /usr/bin/${one##*/hidden-}; done"
# What a program is told of the kernel is a property of its process, see personality(2), UNAME26.
OTHER_KERNEL = (
    "mv /usr/bin/python3 /usr/bin/hidden-python3; "
    "printf '#!/bin/sh\\nexec setarch --uname-2.6 /usr/bin/hidden-python3 \"$@\"\\n' >/usr/bin/python3; "
    "chmod 755 /usr/bin/python3"
)
SAME_KERNEL = "mv /usr/bin/hidden-python3 /usr/bin/python3"
CASES = {
    "read-only /etc": Case(
        "mount --bind /etc /etc; mount -o remount,bind,ro /etc", "umount /etc", "TUN-3406", r"file system is read-only"
    ),
    "full /boot": Case(BOOT_FULL, "umount /boot; rmdir /run/small-boot", "TUN-3405", r"/boot/grub"),
    "broken defaults of GRUB": Case(
        "cp -a /etc/default/grub /run/grub; echo 'GRUB_TIMEOUT=\"5' >>/etc/default/grub",
        "cp -a /run/grub /etc/default/grub; rm /run/grub",
        "TUN-3422",
        r"/etc/default/grub: \d+: (?:/etc/default/grub: )?Syntax error",
    ),
    "drop-in of GRUB that fails": Case(
        "echo false >/etc/default/grub.d/60-mine.cfg",
        "rm /etc/default/grub.d/60-mine.cfg",
        "TUN-3422",
        r"/etc/default/grub\.d/60-mine\.cfg",
    ),
    "no Python": Case(HIDE_PYTHON, SHOW_PYTHON, "TUN-5035", r"no Python on lab-1", UNKNOWN),
    "sudo that asks": Case(
        "echo 'lab ALL=(ALL) PASSWD:ALL' >/etc/sudoers.d/zz-asks; chmod 440 /etc/sudoers.d/zz-asks",
        "rm /etc/sudoers.d/zz-asks",
        "TUN-5038",
        r"NOPASSWD",
        UNKNOWN,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_machine_that_takes_no_change_is_left_as_it_was(machines: Machines, case: Case) -> None:
    with unchanged(machines):
        with broken(machines, case.how, case.mended):
            said = machines.tunectl(*APPLY, expect=case.exit_code)
        assert case.code in said
        assert re.search(case.says, " ".join(said.split())), said
        assert "Traceback" not in said
        assert "put back" not in said


def test_a_plan_made_for_another_kernel_is_refused(machines: Machines) -> None:
    planned = re.search(r"tunectl apply ([0-9a-f]{8})", machines.tunectl("plan", "--tier", "bad-input", "--node", NODE))
    assert planned is not None
    with unchanged(machines):
        with broken(machines, OTHER_KERNEL, SAME_KERNEL):
            said = machines.tunectl("apply", planned[1], "--yes", expect=REFUSED)
        assert "TUN-3301" in said
        assert re.search(r"kernel was \S+ when planned, is 2\.6\.", " ".join(said.split())), said


def test_a_machine_that_somebody_rebooted_before_the_answer_is_not_changed(machines: Machines) -> None:
    digests, values, boot = machines.digests(NODE), machines.on(NODE, LIVE), machines.boot_id(NODE)
    said, code = _answered_after_reboot(machines)
    assert machines.boot_id(NODE) != boot
    assert code == REFUSED, said
    assert "TUN-3470" in said
    assert (machines.digests(NODE), machines.on(NODE, LIVE)) == (digests, values)


def _answered_after_reboot(machines: Machines) -> tuple[str, int]:
    """Ask for an apply on a terminal, reboot the machine while the question stands, then say yes."""
    ours, theirs = pty.openpty()
    command = [TUNECTL, "apply", "--tier", "bad-input", "--node", NODE, "--color", "never"]
    process = subprocess.Popen(command, cwd=machines.folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        said = _read_until(ours, "[y/")
        boot = machines.boot_id(NODE)
        subprocess.run(
            [TUNECTL, "lab", "shell", NODE, "--", "sudo", "systemctl", "reboot"], cwd=machines.folder, check=False
        )
        _wait_for_other_boot(machines.folder, boot)
        os.write(ours, b"y\n")
        said += _read_until(ours, None)
        return said, process.wait(timeout=300)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(terminal: int, end: str | None) -> str:
    said = ""
    limit = time.monotonic() + 300
    while (end is None or end not in said) and time.monotonic() < limit:
        if not select.select([terminal], [], [], 5)[0]:
            continue
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how a terminal says that nobody writes to it any more
            part = b""
        if not part:
            break
        said += part.decode("utf-8", "replace")
    assert end is None or end in said, said
    return said


def _wait_for_other_boot(folder: Path, boot: str) -> None:
    limit = time.monotonic() + 300
    command = [TUNECTL, "lab", "shell", NODE, "--", "cat", "/proc/sys/kernel/random/boot_id"]
    while time.monotonic() < limit:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode == 0 and done.stdout.strip() not in ("", boot):
            return
        time.sleep(1)
    pytest.fail(f"{NODE} did not come back from its reboot")
