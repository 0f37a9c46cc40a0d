"""Runs tasks and playbooks with real Ansible processes and returns the results of the tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
COLLECTIONS = REPOSITORY / ".collections"
LOCAL_PYTHON = {"ansible_python_interpreter": "{{ ansible_playbook_python }}"}


@dataclass(frozen=True)
class Played:
    """How a run ended: exit code, everything it said, and the recap as host -> counter -> number."""

    code: int
    output: str
    recap: Mapping[str, Mapping[str, int]]


def ansible(program: str, arguments: Sequence[str], folder: Path, **environment: str) -> Played:
    """Run one of Ansible's programs in `folder`, with this collection and nothing of the user's configuration."""
    (folder / "ansible.cfg").write_text("[defaults]\nforks = 10\n", encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    done = subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=folder,
        env={
            **kept,
            "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_HOME": str(folder / ".ansible"),
            "ANSIBLE_NOCOLOR": "1",
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Played(done.returncode, done.stdout, _recap(done.stdout))


def _recap(output: str) -> dict[str, dict[str, int]]:
    lines = output.partition("PLAY RECAP")[2].splitlines()[1:]
    return {
        line.partition(" :")[0].strip(): {
            word.partition("=")[0]: int(word.partition("=")[2]) for word in line.partition(" : ")[2].split()
        }
        for line in lines
        if " : ok=" in line
    }


def write_inventory(
    folder: Path, groups: Mapping[str, Sequence[str]], variables: Mapping[str, Mapping[str, Any]] | None = None
) -> Path:
    """Write an inventory of local hosts with these groups and host variables and return its file."""
    hosts = {name: dict((variables or {}).get(name, {})) for names in groups.values() for name in names}
    document = {
        "all": {
            "vars": {
                "ansible_connection": "local",
                **LOCAL_PYTHON,
            },
            "hosts": hosts,
            "children": {group: {"hosts": dict.fromkeys(names)} for group, names in groups.items()},
        }
    }
    path = folder / "hosts.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def run_tasks(
    folder: Path, tasks: Sequence[Mapping[str, Any]], hosts: Mapping[str, Mapping[str, Any]], *flags: str
) -> dict[str, list[dict[str, Any]]]:
    """Run the tasks on local hosts with these variables and return host -> result of each task, failures included."""
    steps: list[dict[str, Any]] = [
        {"name": f"Step {number}", "register": f"result_{number}", "ignore_errors": True, **task}
        for number, task in enumerate(tasks)
    ]
    names = ", ".join(f"result_{number}" for number in range(len(tasks)))
    keep = {"content": f"{{{{ [{names}] | to_json }}}}", "dest": f"{folder}/{{{{ inventory_hostname }}}}.results"}
    copy = {
        "ansible.builtin.copy": {**keep, "mode": "0600"},
        "check_mode": False,
        "delegate_to": "localhost",
        "vars": LOCAL_PYTHON,
    }
    steps.append({"name": "Keep the results", **copy})
    play = [{"name": "Test", "hosts": "all", "gather_facts": False, "tasks": steps}]
    (folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
    inventory = write_inventory(folder, {"tested": list(hosts)}, hosts)
    played = ansible("ansible-playbook", ["-i", str(inventory), *flags, "play.yml"], folder)
    assert played.code == 0, played.output
    return {name: json.loads((folder / f"{name}.results").read_text(encoding="utf-8")) for name in hosts}
