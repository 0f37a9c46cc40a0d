# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of node_snapshot: runs the module on the node, keeps the snapshot in a file of the controller."""

from __future__ import annotations

import base64
import json
import os
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.machine_facts import FACTS
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, problem
from ansible_collections.tunectl.node.plugins.module_utils.core.fingerprint import hardware_fingerprint
from ansible_collections.tunectl.node.plugins.module_utils.core.snapshot import Snapshot
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure


class ActionModule(ActionBase):  # type: ignore[misc]
    """Fetches one snapshot of one node."""

    _supports_check_mode = True
    _supports_async = False
    _VALID_ARGS = frozenset({"root", "node", "sysctls", "paths", "bootstrap", "names", "dest", "packed"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return where the snapshot is and what it is of; without `dest` the snapshot itself."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        args = dict(self._task.args)
        dest = args.pop("dest", None)
        args["packed"] = True
        args["node"] = str(args.get("node") or variables.get("inventory_hostname", ""))
        if not args.get("root"):
            args["root"] = str(variables.get("tunectl_root") or "/")
        clock = self._clock() if args.get("bootstrap") else None
        answer = self._execute_module(module_name="tunectl.node.node_snapshot", module_args=args, task_vars=variables)
        if "snapshot" not in answer:
            # The module's own words: unreachable, failed, or no Python on the node.
            result.update(answer)
            return result
        try:
            result.update(_kept(str(answer["snapshot"]), clock, Path(str(dest)).absolute() if dest else None))
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result

    def _clock(self) -> tuple[float, float, float] | None:
        """Return the node's clock, and the controller's just before and after; a module takes too long to tell."""
        before = time.time()
        answer = self._low_level_execute_command("date +%s.%N", sudoable=False)
        after = time.time()
        try:
            return float(str(answer["stdout"]).strip().splitlines()[-1]), before, after
        except (ValueError, IndexError):
            return None


def _kept(packed: str, clock: tuple[float, float, float] | None, dest: Path | None) -> dict[str, Any]:
    text = zlib.decompress(base64.b64decode(packed)).decode()
    document = json.loads(text)
    if clock is not None and "epoch" in document.get("facts", {}).get(FACTS, {}):
        # what the controller's clock said before and after bounds how far the node's clock is from it
        document["facts"][FACTS].update(epoch=clock[0], asked_between=list(clock[1:]))
        text = json.dumps(document, separators=(",", ":"))
    snapshot = Snapshot.from_json(document)
    result: dict[str, Any] = {
        "changed": False,
        "node": snapshot.node,
        "fingerprint": hardware_fingerprint(snapshot),
        "simulated": snapshot.simulated,
        "size": len(text),
    }
    if dest is None:
        return {**result, "snapshot": document}
    file = dest if dest.suffix == ".json" else dest / f"{_file_name(snapshot.node, dest)}.json"
    _write(file, text)
    return {**result, "dest": str(file)}


def _file_name(node: str, dest: Path) -> str:
    if "/" in node or node in ("", ".", ".."):
        raise _cannot_write(dest, f"the node is called {node!r}, which is no file name")
    return node


def _write(file: Path, text: str) -> None:
    """Write the file whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _cannot_write(file, error.strerror or str(error)) from error


def _cannot_write(place: Path, why: str) -> FailedError:
    return FailedError(
        (
            problem(
                "TUN-1703",
                "the snapshot cannot be written on the controller",
                where=str(place),
                why=why,
                fix="give `dest` as a directory or .json file that can be written",
            ),
        )
    )
