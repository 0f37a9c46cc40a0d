"""Check this computer: versions, Ansible, the collection, the folder, the inventory. Changes nothing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

from tunectl.core.errors import TunectlError
from tunectl.core.findings import Evidence, Finding, Severity, Verdict
from tunectl.planning.paths import collection_root

_PYTHON = (3, 11)
_ANSIBLE = (2, 19)
_SUBJECT = "this computer"


@dataclass(frozen=True)
class Surroundings:
    """What doctor looks at. `hosts` lists the nodes of an inventory; `inventory` None means that there is none yet."""

    folder: Path
    inventory: Path | None
    hosts: Callable[[Path], Mapping[str, list[str]]]
    path: str


def examine(around: Surroundings) -> tuple[Finding, ...]:
    """Return what is in order on this computer and what is not; a check that cannot look says so."""
    return (
        *_python(),
        *_ansible(),
        *_programs(around.path),
        *_collection(),
        *_folder(around.folder),
        *_inventory(around),
    )


def _said(  # noqa: PLR0913  a finding has this many independent parts
    check: str,
    verdict: Verdict,
    message: str,
    *,
    expected: str = "",
    actual: str = "",
    remedy: str = "",
    file: str = "",
) -> Finding:
    return Finding(
        id=check,
        verdict=verdict,
        severity=Severity.CRITICAL if verdict is Verdict.FAIL else Severity.INFO,
        subject=_SUBJECT,
        message=message,
        expected=expected,
        actual=actual,
        remedy=remedy,
        evidence=(Evidence(file, actual),) if file else (),
    )


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    good = sys.version_info[:2] >= _PYTHON
    yield _said(
        "controller.python",
        Verdict.PASS if good else Verdict.FAIL,
        f"Python {version}",
        expected=f">= {_PYTHON[0]}.{_PYTHON[1]}",
        actual=version,
        remedy="" if good else "install tunectl with a newer Python",
        file=sys.executable,
    )


def _ansible() -> Iterator[Finding]:
    wanted = ".".join(map(str, _ANSIBLE))
    try:
        version = installed_version("ansible-core")
    except PackageNotFoundError:
        yield _said(
            "controller.ansible",
            Verdict.FAIL,
            "ansible-core is not installed beside tunectl",
            expected=f">= {wanted}",
            actual="absent",
            remedy=f"{sys.executable} -m pip install 'ansible-core>={wanted}'",
        )
        return
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    good = numbers >= _ANSIBLE
    yield _said(
        "controller.ansible",
        Verdict.PASS if good else Verdict.FAIL,
        f"ansible-core {version}",
        expected=f">= {wanted}",
        actual=version,
        remedy="" if good else f"{sys.executable} -m pip install --upgrade 'ansible-core>={wanted}'",
    )


def _programs(path: str) -> Iterator[Finding]:
    beside = str(Path(sys.executable).parent)
    for program in ("ansible-playbook", "ssh"):
        found = shutil.which(program, path=os.pathsep.join((beside, path)))
        needed = program == "ansible-playbook"
        missing = Verdict.FAIL if needed else Verdict.UNKNOWN
        yield _said(
            f"controller.program.{program}",
            Verdict.PASS if found else missing,
            f"{program} is {found}" if found else f"there is no {program} on PATH",
            actual=found or "absent",
            remedy="" if found else f"install {program}; it is needed to reach nodes" + ("" if needed else " over SSH"),
        )


def _collection() -> Iterator[Finding]:
    try:
        root = collection_root()
    except TunectlError as error:
        first = error.problems[0]
        yield _said("controller.collection", Verdict.FAIL, first.what, actual=first.why, remedy=first.fix)
        return
    parts = ("playbooks", "plugins", "roles", "templates", "tiers")
    missing = [part for part in parts if not (root / part).is_dir()]
    yield _said(
        "controller.collection",
        Verdict.FAIL if missing else Verdict.PASS,
        f"the collection at {root} lacks {', '.join(missing)}" if missing else f"the collection is complete: {root}",
        expected=", ".join(parts),
        actual=str(root),
        remedy="install tunectl again" if missing else "",
        file=str(root),
    )


def _folder(folder: Path) -> Iterator[Finding]:
    state = folder / ".tunectl"
    place = state if state.exists() else folder
    good = os.access(place, os.W_OK | os.X_OK) and (not state.exists() or state.is_dir())
    yield _said(
        "controller.folder",
        Verdict.PASS if good else Verdict.FAIL,
        f"plans and runs are kept in {state}" if good else f"{place} cannot be written, so no plan or run can be kept",
        actual="writable" if good else "not writable",
        remedy="" if good else "work in a folder that you may write",
        file=str(place),
    )


def _inventory(around: Surroundings) -> Iterator[Finding]:
    if around.inventory is None:
        yield _said(
            "controller.inventory",
            Verdict.NOT_APPLICABLE,
            "this folder has no inventory: commands use the simulated lab",
            remedy="name one with -i, TUNECTL_INVENTORY, or put it at inventories/hosts.yaml",
        )
        return
    try:
        groups = around.hosts(around.inventory)
    except TunectlError as error:
        first = error.problems[0]
        yield _said(
            "controller.inventory", Verdict.FAIL, first.what, actual=first.why, remedy=first.fix, file=first.where
        )
        return
    hosts = sorted({host for members in groups.values() for host in members})
    yield _said(
        "controller.inventory",
        Verdict.PASS if hosts else Verdict.FAIL,
        f"{around.inventory} has {len(hosts)} nodes" if hosts else f"{around.inventory} has no nodes",
        actual=", ".join(f"{name} ({len(members)})" for name, members in groups.items() if members),
        remedy="" if hosts else "add nodes to it, in a group named like the pool of a tier",
        file=str(around.inventory),
    )
