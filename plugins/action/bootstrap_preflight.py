# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges on the controller whether the machines that were read can become a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase  # type: ignore[import-untyped]
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.preflight import judge_machine
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.preflight_pool import (
    CLOCK_LIMIT_S,
    judge_machines,
)
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.request import Request
from ansible_collections.tunectl.node.plugins.module_utils.core.check_catalogue import CHECKS
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import InputError, UnknownError, problem
from ansible_collections.tunectl.node.plugins.module_utils.core.findings import (
    Finding,
    Severity,
    Verdict,
    count_verdicts,
)
from ansible_collections.tunectl.node.plugins.module_utils.core.jsonform import to_json
from ansible_collections.tunectl.node.plugins.module_utils.core.tier import Tier
from ansible_collections.tunectl.node.plugins.module_utils.edge import failure
from ansible_collections.tunectl.node.plugins.module_utils.run_directory import refuse, snapshots
from ansible_collections.tunectl.node.plugins.plugin_utils.cluster_hosts import ClusterHosts, hosts_of
from ansible_collections.tunectl.node.plugins.plugin_utils.toml_text import parse_toml


class ActionModule(ActionBase):  # type: ignore[misc]
    """Judges once for the whole play."""

    BYPASS_HOST_LOOP = True
    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"run_dir", "tiers", "tier_dirs", "accept"})

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return how many findings have each verdict; failed naming every check that forbids the bootstrap."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            args, variables = self._task.args, task_vars or {}
            run_dir, accepted = Path(args["run_dir"]), _accepted(args)
            hosts = hosts_of(args, variables)
            (run_dir / "tiers.json").write_text(json.dumps(args.get("tiers") or {}), encoding="utf-8")
            findings = judged(hosts, run_dir, variables["hostvars"])
            (run_dir / "preflight.json").write_text(json.dumps(to_json(findings), indent=1) + "\n", encoding="utf-8")
            result.update({verdict.value: count for verdict, count in count_verdicts(findings).items()})
            result.update(changed=False, machines=len(hosts.members), version=str(hosts.cluster.version))
            _refuse([one for one in findings if one.id not in accepted])
        except Exception as error:  # noqa: BLE001 - nothing may reach the user as a traceback
            result.update(failure(error))
        return result


def judged(hosts: ClusterHosts, run_dir: Path, hostvars: Mapping[str, Mapping[str, Any]]) -> tuple[Finding, ...]:
    """Return the findings of every machine, in the order of the inventory, then those about them together."""
    read = snapshots(run_dir, hosts.members)
    return (
        *(
            finding
            for one in read
            for finding in judge_machine(one, _request(hosts, one.node, hostvars[one.node]), parse_toml)
        ),
        *judge_machines(read, hosts.first, float(hostvars[hosts.first].get("tunectl_kube_clock_limit", CLOCK_LIMIT_S))),
    )


def _request(hosts: ClusterHosts, node: str, variables: Mapping[str, Any]) -> Request:
    return Request(
        cluster=hosts.cluster,
        member=hosts.members[node],
        installs=bool(variables.get("tunectl_kube_bin_dir") or variables.get("tunectl_kube_packages")),
        allows_swap=_allows_swap(hosts.tiers.get(node), hosts),
        overwrite=bool(variables.get("tunectl_kube_overwrite")),
    )


def _allows_swap(tier: Tier | None, hosts: ClusterHosts) -> bool:
    wanted = tier.memory.swap if tier else None
    return hosts.cluster.kubelet.get("failSwapOn", True) is False if wanted is None else wanted


def _accepted(args: Mapping[str, Any]) -> frozenset[str]:
    accepted = [str(one) for one in args.get("accept") or ()]
    unknown = [one for one in accepted if one not in CHECKS or not one.startswith("bootstrap.")]
    if unknown:
        raise InputError(
            (
                problem(
                    "TUN-1927",
                    f"there is no check {', '.join(unknown)} to accept",
                    where="tunectl_preflight_accept",
                    why=f"the checks are {', '.join(one for one in CHECKS if one.startswith('bootstrap.'))}",
                    fix="name checks one by one; all of them cannot be accepted at once",
                ),
            )
        )
    return frozenset(accepted)


def _refuse(findings: Iterable[Finding]) -> None:
    critical = [one for one in findings if one.severity is Severity.CRITICAL]
    refuse("TUN-3730", [one for one in critical if one.blocks], "the machine is not fit", "Nothing was changed.")
    blind = [one for one in critical if one.verdict is Verdict.UNKNOWN]
    if blind:
        raise UnknownError(
            tuple(
                problem(
                    "TUN-5710",
                    f"{one.id}: {one.message}",
                    where=one.subject,
                    why=one.why,
                    fix=f"{one.remedy} Or accept it unseen: tunectl_preflight_accept: [{one.id}]",
                )
                for one in blind
            )
        )
