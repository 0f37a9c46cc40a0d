# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges the snapshots of a pool on the controller, for playbooks that run without the command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.checks.node import verify_node
from ansible_collections.tunectl.node.plugins.module_utils.core.desired import Platform
from ansible_collections.tunectl.node.plugins.module_utils.core.findings import Finding, Verdict, count_verdicts
from ansible_collections.tunectl.node.plugins.module_utils.core.jsonform import to_json
from ansible_collections.tunectl.node.plugins.module_utils.core.observed import observe
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.planning.documents import snapshot_documents
from ansible_collections.tunectl.node.plugins.module_utils.planning.pool import plan_pool
from ansible_collections.tunectl.node.plugins.module_utils.planning.tier_file import load_tier
from ansible_collections.tunectl.node.plugins.module_utils.run_directory import members, refuse, snapshots


class ActionModule(ActionBase):  # type: ignore[misc]
    """Judges once for the whole play."""

    BYPASS_HOST_LOOP = True
    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"run_dir", "tier", "tier_dirs", "platform", "fail_on"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return how many findings have each verdict; failed with `tunectl_errors` naming every failed check."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            args = self._task.args
            run_dir = Path(args["run_dir"])
            findings = judged(args, run_dir)
            (run_dir / "findings.json").write_text(json.dumps(to_json(findings), indent=1) + "\n", encoding="utf-8")
            result.update({verdict.value: count for verdict, count in count_verdicts(findings).items()})
            result["changed"] = False
            bad = {Verdict.FAIL} | ({Verdict.UNKNOWN} if args.get("fail_on") == "unknown" else set())
            refuse("TUN-3502", [one for one in findings if one.verdict in bad], "not as wanted", "Nothing was changed.")
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result


def judged(args: Mapping[str, Any], run_dir: Path) -> tuple[Finding, ...]:
    """Return the findings of every node of the pool, in the order of the inventory."""
    tier = load_tier(str(args["tier"]), [str(one) for one in args.get("tier_dirs") or ()])
    read = snapshots(run_dir, members(run_dir))
    plan = plan_pool(tier, read, Platform(args.get("platform") or "kubeadm"))
    desired = {node.node: node.desired for node in plan.nodes}
    return tuple(
        finding
        for snapshot in read
        if snapshot.node in desired
        for finding in verify_node(desired[snapshot.node], observe(snapshot, snapshot_documents(snapshot)))
    )
