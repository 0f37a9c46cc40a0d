# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Controller side of pool_members: reads the inventory that Ansible holds, writes members.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.planning.tier_file import load_tier, tier_files
from ansible_collections.tunectl.node.plugins.module_utils.pool_hosts import Hosts, find_members

_POOL_LINE = re.compile(r"^pool:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)
_EARLIER = ("snapshots/*.json", "plans/*.json", "plan.json", "changed.txt")


class ActionModule(ActionBase):  # type: ignore[misc]
    """Says once for the whole play which hosts form a pool."""

    BYPASS_HOST_LOOP = True
    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"dest", "pool", "tier", "patterns", "tier_dirs"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return counts and the path written; failed with `tunectl_errors` when the pools are not well formed."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            result.update(self._members(self._task.args, task_vars or {}))
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result

    def _members(self, args: Mapping[str, Any], task_vars: Mapping[str, Any]) -> dict[str, Any]:
        dest = Path(args["dest"]).absolute()
        tier_dirs = [str(one) for one in args.get("tier_dirs") or ()]
        pool = str(args.get("pool") or "")
        if not pool and args.get("tier"):
            pool = load_tier(str(args["tier"]), tier_dirs).pool_name
        hostvars = task_vars["hostvars"]
        names = tuple(task_vars["ansible_play_hosts_all"])
        named = {name: str(hostvars[name].get("tunectl_pool") or "") for name in names}
        groups = {str(name): list(hosts) for name, hosts in task_vars["groups"].items()}
        patterns = [str(one) for one in args.get("patterns") or ()]
        members = find_members(Hosts(names, groups, named), pool, patterns, _known_pools(tier_dirs))
        _write(dest, {name: _member(hostvars[name], of) for name, of in members.items()})
        return {"changed": False, "pool": pool, "count": len(members), "dest": str(dest)}


def _member(variables: Mapping[str, Any], pool: str) -> dict[str, Any]:
    return {
        "pool": pool,
        "root": str(variables.get("tunectl_root") or "/"),
        "simulated": bool(variables.get("tunectl_simulated")),
        "connection": str(variables.get("ansible_connection") or "ssh"),
    }


def _known_pools(tier_dirs: list[str]) -> Iterator[str]:
    """Yield the pool of every tier that can be named; a tier without one is its own pool."""
    for name, path in tier_files(tier_dirs).items():
        found = _POOL_LINE.search(path.read_text(encoding="utf-8", errors="replace"))
        yield found.group(1) if found else name


def _write(dest: Path, hosts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write members.json and the host list beside it; what an earlier run read or planned there is gone."""
    dest.parent.mkdir(parents=True, exist_ok=True)
    for pattern in _EARLIER:
        for path in dest.parent.glob(pattern):
            path.unlink()
    dest.write_text(json.dumps({"hosts": hosts}, indent=1) + "\n", encoding="utf-8")
    (dest.parent / "members.txt").write_text(",".join(hosts) or "!all", encoding="utf-8")
