"""The action node_reboot with real Ansible over a stand-in for ssh, which runs commands on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.plays import run_tasks

pytestmark = [pytest.mark.ansible, pytest.mark.timeout(600)]

ONE = "0d3a1b9c-7c1e-4d57-9a2b-3d1f0c9e8a77"
TWO = "5b0e2f64-11aa-4c9d-8e21-7f6a5d4c3b2a"
# The machine: `boot_id` is which boot it runs, `state` what systemd says, `gone` that it does not answer.
SSH = """#!/bin/sh
if [ "$1" = -O ]; then exit 0; fi
if [ -e '{home}/gone' ]; then
  echo 'ssh: connect to host 10.0.0.9 port 22: Connection timed out' >&2
  exit 255
fi
for last; do :; done
command=$(printf '%s' "$last" | sed 's#/proc/sys/kernel/random/boot_id#{home}/boot_id#g')
PATH='{home}':"$PATH" exec /bin/sh -c "$command"
"""


def program(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


class Machine:
    """A stand-in for a machine behind ssh; `effect` is what its reboot command does."""

    def __init__(self, home: Path, effect: str, *, state: str = "running") -> None:
        home.mkdir()
        self.home = home
        (home / "boot_id").write_text(f"{ONE}\n", encoding="utf-8")
        program(home / "systemctl", f"#!/bin/sh\necho {state}\n[ {state} = running ]\n")
        self.command = program(home / "reboot", f"#!/bin/sh\necho asked >>'{home}/asked'\n{effect}\n")
        self.ssh = program(home / "ssh", SSH.format(home=home))

    @property
    def asked(self) -> int:
        """How often it was told to reboot."""
        log = self.home / "asked"
        return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0

    def variables(self) -> dict[str, Any]:
        return {
            "ansible_connection": "ssh",
            "ansible_ssh_executable": self.ssh,
            "ansible_ssh_retries": 0,
            "ansible_pipelining": True,
        }


def reboot(folder: Path, machine: Machine, written: dict[str, Any] | None = None, timeout: int = 2) -> dict[str, Any]:
    generation = {"needs_reboot": True, "generation": 12, "changed": True, "boot_id": ONE, **(written or {})}
    task = {
        "tunectl.node.node_reboot": {"generation": generation, "timeout": timeout, "command": f"{machine.command} now"}
    }
    (result,) = run_tasks(folder, [task], {"n1": machine.variables()})["n1"]
    return result


def new_boot(home: Path) -> str:
    return f"echo {TWO} >'{home}/boot_id'"


def test_a_reboot_is_proved_by_another_boot(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "m", new_boot(tmp_path / "m"))
    found = reboot(tmp_path, machine, timeout=60)
    assert found.get("failed") is not True, found
    assert (found["changed"], found["rebooted"], found["skipped_node"]) == (True, True, False)
    assert (found["before_boot_id"], found["boot_id"]) == (ONE, TWO)
    assert machine.asked == 1


def test_a_node_that_somebody_rebooted_since_is_not_rebooted_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "m", new_boot(tmp_path / "m"))
    found = reboot(tmp_path, machine, {"boot_id": "11111111-2222-3333-4444-555555555555"})
    assert found.get("failed") is not True, found
    assert (found["changed"], found["rebooted"]) == (False, False)
    assert "somebody else" in found["note"]
    assert machine.asked == 0


@pytest.mark.parametrize(
    ("effect", "state", "code"),
    [
        ("touch '{home}/gone'", "running", "TUN-4472"),
        ("true", "running", "TUN-4473"),
        ("echo no >&2; exit 1", "running", "TUN-4473"),
        ("echo " + TWO + " >'{home}/boot_id'", "starting", "TUN-4474"),
    ],
)
def test_a_reboot_that_is_not_proved_is_a_failure(tmp_path: Path, effect: str, state: str, code: str) -> None:
    home = tmp_path / "m"
    machine = Machine(home, effect.replace("{home}", str(home)), state=state)
    found = reboot(tmp_path, machine)
    assert found["failed"] is True
    (said,) = found["tunectl_errors"]
    assert said["code"] == code, found
    assert said["location"] == "n1"
    assert "generation 12 is written" in said["why"]
    assert found["rebooted"] is (code == "TUN-4474")
    assert machine.asked == 1


def test_a_node_that_does_not_say_which_boot_it_runs_is_not_rebooted(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "m", new_boot(tmp_path / "m"))
    (machine.home / "boot_id").unlink()
    found = reboot(tmp_path, machine)
    assert [one["code"] for one in found["tunectl_errors"]] == ["TUN-4471"]
    assert "No such file" in found["tunectl_errors"][0]["why"]
    assert machine.asked == 0


def test_the_machine_of_the_run_itself_is_not_rebooted(tmp_path: Path) -> None:
    task = {
        "tunectl.node.node_reboot": {"generation": {"needs_reboot": True, "generation": 4}, "command": "/bin/false"}
    }
    (found,) = run_tasks(tmp_path, [task], {"n1": {}})["n1"]
    assert [one["code"] for one in found["tunectl_errors"]] == ["TUN-4475"]
    assert "generation 4 is written" in found["tunectl_errors"][0]["why"]
