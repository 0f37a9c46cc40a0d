from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.snapshots import snapshot_of
from support.tuning import machine, profile_tier

from tunectl.core.cpuset import CpuSet
from tunectl.core.desired import Impact, Platform
from tunectl.core.errors import InputError
from tunectl.core.jsonform import digest
from tunectl.core.plan import PoolPlan
from tunectl.core.plan_json import content_digest, pool_plan_from_json, pool_plan_to_json
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import CpuIntent, CpuSpec, KubeletSpec, MemorySpec, Tier
from tunectl.planning.paths import schemas_dir
from tunectl.planning.pool import node_plan_document, plan_pool, stale_reasons

KUBELET = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
CONFIG_DIR = "/etc/kubernetes/kubelet.conf.d"
UNIT = f"[Service]\nExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml --config-dir={CONFIG_DIR}\n"
FILES = {
    "/proc/cmdline": "quiet\n",
    "/etc/default/grub": 'GRUB_CMDLINE_LINUX=""\n',
    "/etc/systemd/system/kubelet.service": UNIT,
    "/var/lib/kubelet/config.yaml": KUBELET,
    "/proc/sys/vm/swappiness": "60\n",
    "/proc/sys/vm/stat_interval": "1\n",
    "/sys/kernel/mm/ksm/run": "0\n",
}
ABSENT = ("/etc/sysctl.d/99-tunectl.conf", "/etc/default/grub.d/99-tunectl.cfg", f"{CONFIG_DIR}/99-tunectl.conf")
SYSCTLS = Tier("quiet", sysctl={"vm.swappiness": "10", "vm.stat_interval": "10"})


def node(name: str = "n1", files: Mapping[str, str] | None = None) -> Snapshot:
    """Return a node of `machine()` with some files otherwise than usual."""
    return with_directories(snapshot_of(machine(), name, {**FILES, **(files or {})}))


def with_directories(snapshot: Snapshot) -> Snapshot:
    listings = {**snapshot.listings, "/proc/sys": ("kernel", "vm"), "/proc/sys/vm": ("stat_interval", "swappiness")}
    return replace(snapshot, listings=listings, absent=frozenset(ABSENT))


def changes_of(plan: PoolPlan, index: int = 0) -> list[str]:
    return [change.setting for change in plan.nodes[index].changes]


class TestPlan:
    def test_a_node_gets_what_differs_and_what_makes_it_effective(self) -> None:
        plan = plan_pool(SYSCTLS, [node()])
        assert (plan.tier, plan.pool) == ("quiet", "quiet")
        (only,) = plan.nodes
        assert changes_of(plan) == ["sysctl.vm.swappiness", "sysctl.vm.stat_interval"]
        assert (only.impact, only.actions, only.matching) == (Impact.LIVE, (), 0)
        assert [file.path for file in only.files] == ["/etc/sysctl.d/99-tunectl.conf"]
        assert {value.path for value in only.runtime} == {"/proc/sys/vm/swappiness", "/proc/sys/vm/stat_interval"}
        assert plan.tier_document["sysctl"] == {"vm.swappiness": "10", "vm.stat_interval": "10"}
        assert not plan.blocked

    def test_a_node_that_is_as_wanted_needs_nothing(self) -> None:
        first = plan_pool(SYSCTLS, [node()]).nodes[0]
        done = node(files={"/proc/sys/vm/swappiness": "10\n", "/proc/sys/vm/stat_interval": "10\n"})
        done = replace(done, files={**done.files, first.files[0].path: first.files[0].content})
        plan = plan_pool(SYSCTLS, [done])
        assert plan.nodes[0].changes == ()
        assert plan.nodes[0].matching == 2
        assert plan.changed == ()

    def test_a_partition_costs_a_reboot_and_clears_the_checkpoints(self) -> None:
        plan = plan_pool(profile_tier(), [node()])
        only = plan.nodes[0]
        assert only.actions == ("update-grub", "kubelet-checkpoints", "kubelet-restart", "reboot")
        assert only.impact is Impact.REBOOT
        assert only.desired.partition.reserved == CpuSet.parse("0-1,8-9")
        assert [file.path for file in only.files] == [
            f"{CONFIG_DIR}/99-tunectl.conf",
            "/etc/default/grub.d/99-tunectl.cfg",
        ]

    def test_alike_nodes_share_their_target_and_keep_their_names(self) -> None:
        plan = plan_pool(profile_tier(), [node("a"), node("b")])
        first, second = plan.nodes
        assert first.desired is second.desired
        assert first.files is second.files
        assert first.changes is second.changes
        assert (first.node, second.node) == ("a", "b")

    def test_each_node_is_planned_for_what_it_runs(self) -> None:
        done = node("b", {"/proc/sys/vm/swappiness": "10\n"})
        plan = plan_pool(SYSCTLS, [node("a"), done, node("c")])
        assert [len(one.changes) for one in plan.nodes] == [2, 1, 2]

    def test_unlike_machines_get_partitions_of_their_own_and_are_told(self) -> None:
        small = with_directories(snapshot_of(machine(cpus_per_node=4), "small", FILES))
        tier = Tier("t", cpu=CpuSpec(reserved=CpuIntent(count=2)))
        plan = plan_pool(tier, [node("a"), node("b"), small])
        assert plan.nodes[0].desired.partition.isolated == CpuSet.parse("1-7,9-15")
        assert plan.nodes[2].desired.partition.isolated == CpuSet.parse("1-3,5-7")
        assert [finding.id for finding in plan.findings] == ["pool.hardware.unequal"]

    def test_findings_name_the_node(self) -> None:
        plan = plan_pool(Tier("t", sysctl={"vm.nonesuch": "1"}), [node("a"), node("b")])
        assert [(one.id, one.subject) for one in plan.all_findings] == [("sysctl.absent", "a"), ("sysctl.absent", "b")]

    def test_what_cannot_be_written_blocks_the_plan_instead_of_ending_it(self) -> None:
        without = UNIT.replace(f" --config-dir={CONFIG_DIR}", "")
        plan = plan_pool(profile_tier(), [node(files={"/etc/systemd/system/kubelet.service": without})])
        assert plan.blocked
        assert [one.id for one in plan.all_findings if one.blocks] == ["kubelet.config-dir"]
        stub: dict[str, Any] = {"/etc/default/grub": None, "/boot/loader/loader.conf": "timeout 3\n"}
        systemd = plan_pool(profile_tier(), [node(files=stub)])
        assert systemd.blocked
        assert [one.id for one in systemd.all_findings if one.blocks] == ["boot.loader.unsupported"]
        ostree = plan_pool(profile_tier(), [node(files={"/run/ostree-booted": ""})])
        assert "/etc/tunectl/kernel-arguments" in [item.path for item in ostree.nodes[0].files]
        assert "boot-arguments" in ostree.nodes[0].actions

    def test_a_value_that_no_file_can_hold_is_refused(self) -> None:
        with pytest.raises(InputError, match="TUN-2202"):
            plan_pool(Tier("t", sysctl={"vm.swappiness": "1; reboot"}), [node()])

    def test_openshift_writes_nothing_on_nodes(self) -> None:
        plan = plan_pool(profile_tier(), [node()], Platform.OPENSHIFT)
        assert plan.nodes[0].files == ()
        assert plan.nodes[0].changes
        assert plan.nodes[0].desired.platform is Platform.OPENSHIFT
        assert any("PerformanceProfile" in text for text in plan.manifests.values())

    def test_openshift_has_one_set_of_objects_for_a_pool(self) -> None:
        small = with_directories(snapshot_of(machine(cpus_per_node=4), "small", FILES))
        tier = Tier("t", cpu=CpuSpec(reserved=CpuIntent(count=2)))
        plan = plan_pool(tier, [node("a"), small], Platform.OPENSHIFT)
        assert plan.blocked
        assert [finding.id for finding in plan.findings] == ["pool.hardware.unequal"]
        assert plan.manifests == {}
        kubelet = Tier("t", kubelet=KubeletSpec(cpu_manager_policy="static", system_reserved={"cpu": "1"}))
        plan = plan_pool(kubelet, [node("a"), small], Platform.OPENSHIFT)
        assert not plan.blocked
        assert any("KubeletConfig" in text for text in plan.manifests.values())

    def test_an_empty_pool_has_an_empty_plan(self) -> None:
        assert plan_pool(SYSCTLS, []).nodes == ()

    def test_ids_are_stable_and_follow_the_content(self) -> None:
        first = plan_pool(SYSCTLS, [node()]).id
        assert first == plan_pool(SYSCTLS, [node()]).id
        assert len(first) == 8
        others = [
            plan_pool(replace(SYSCTLS, sysctl={"vm.swappiness": "11"}), [node()]).id,
            plan_pool(SYSCTLS, [node("other")]).id,
            plan_pool(SYSCTLS, [node(files={"/proc/sys/vm/swappiness": "1\n"})]).id,
        ]
        assert len({first, *others}) == 4
        assert plan_pool(SYSCTLS, [node()], plan_id="mine").id == "mine"

    def test_the_basis_is_the_digest_of_what_was_observed(self) -> None:
        only = plan_pool(SYSCTLS, [node()]).nodes[0]
        assert only.observed["sysctl.vm.swappiness"] == "60"
        assert only.observed["file./etc/sysctl.d/99-tunectl.conf"] is None
        assert only.observed["kernel"] == "6.12.0"
        assert only.basis == digest(only.observed)


class TestStale:
    def test_a_plan_holds_while_nothing_moves(self) -> None:
        plan = plan_pool(profile_tier(), [node("a"), node("b")])
        assert stale_reasons(plan, [node("b"), node("a"), node("c")]) == ()

    def test_what_moved_is_named_with_both_values(self) -> None:
        plan = plan_pool(SYSCTLS, [node("a"), node("b")])
        moved = node("b", {"/proc/sys/vm/swappiness": "61\n"})
        (reason,) = stale_reasons(plan, [node("a"), moved])
        assert (reason.code, reason.where) == ("TUN-3301", "b")
        assert reason.what == f"plan {plan.id} no longer describes b"
        assert reason.why == "vm.swappiness was 60 when planned, is 61 now"
        assert reason.fix == "tunectl plan --tier quiet"

    def test_what_is_as_the_plan_wants_it_is_no_reason(self) -> None:
        plan = plan_pool(SYSCTLS, [node()])
        assert stale_reasons(plan, [node(files={"/proc/sys/vm/swappiness": "10\n"})]) == ()

    def test_a_node_that_is_all_as_wanted_is_never_stale(self) -> None:
        plan = plan_pool(SYSCTLS, [node()])
        done = {"/proc/sys/vm/swappiness": "10\n", "/proc/sys/vm/stat_interval": "10\n"}
        done |= {file.path: file.content for file in plan.nodes[0].files}
        other_hardware = with_directories(snapshot_of(machine(cpus_per_node=4), "n1", {**FILES, **done}))
        assert stale_reasons(plan, [other_hardware]) == ()

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (
                {"/etc/sysctl.d/99-tunectl.conf": "x\n"},
                "/etc/sysctl.d/99-tunectl.conf was not there when planned, is sha256 73cb3858a687 now",
            ),
            (
                {"/etc/default/grub": "", "/run/ostree-booted": ""},
                "boot loader was grub when planned, is ostree now",
            ),
        ],
    )
    def test_files_and_software_count(self, change: dict[str, str], why: str) -> None:
        plan = plan_pool(SYSCTLS, [node()])
        (reason,) = stale_reasons(plan, [node(files=change)])
        assert reason.why == why

    def test_settings_of_the_kubelet_are_shown_plainly(self) -> None:
        plan = plan_pool(Tier("t", kubelet=KubeletSpec(max_pods=250, topology_manager_scope="pod")), [node()])
        changed = KUBELET + "maxPods: 20\ntopologyManagerPolicy: restricted\n"
        (reason,) = stale_reasons(plan, [node(files={"/var/lib/kubelet/config.yaml": changed})])
        assert reason.why == "maxPods was 110 when planned, is 20 now"
        policy = plan_pool(Tier("t", kubelet=KubeletSpec(topology_manager_policy="best-effort")), [node()])
        (reason,) = stale_reasons(policy, [node(files={"/var/lib/kubelet/config.yaml": changed})])
        assert reason.why == "topologyManagerPolicy was none when planned, is restricted now"

    def test_other_hardware_counts(self) -> None:
        plan = plan_pool(SYSCTLS, [node()])
        other = with_directories(snapshot_of(machine(cpus_per_node=4), "n1", FILES))
        (reason,) = stale_reasons(plan, [other])
        assert "hardware" in reason.why

    def test_a_node_without_a_snapshot_is_a_reason(self) -> None:
        plan = plan_pool(SYSCTLS, [node("a"), node("b")])
        (reason,) = stale_reasons(plan, [node("a")])
        assert (reason.code, reason.where) == ("TUN-3302", "b")

    def test_many_differences_are_counted(self) -> None:
        names = [f"s{index}" for index in range(6)]
        tier = Tier("t", sysctl={f"vm.{name}": "1" for name in names})

        def snapshot(value: str) -> Snapshot:
            made = node(files={f"/proc/sys/vm/{name}": value for name in names})
            return replace(made, listings={**made.listings, "/proc/sys/vm": tuple(names)})

        (reason,) = stale_reasons(plan_pool(tier, [snapshot("5")]), [snapshot("6")])
        assert reason.why.count("when planned") == 4
        assert reason.why.endswith("; and 2 more")


def full_plan() -> PoolPlan:
    tier = profile_tier(
        kubelet=KubeletSpec(topology_manager_policy="restricted"),
        sysctl={"vm.swappiness": "10", "vm.nonesuch": "1"},
        memory=MemorySpec(ksm=True),
    )
    plan = plan_pool(tier, [node("a"), node("b"), node("c", {"/proc/sys/vm/swappiness": "10\n"})])
    return replace(plan, manifests={"pool.yaml": "kind: MachineConfigPool\n"})


class TestJson:
    def test_a_plan_survives_the_round_trip(self) -> None:
        plan = full_plan()
        document = json.loads(json.dumps(pool_plan_to_json(plan)))
        assert pool_plan_from_json(document) == plan
        assert pool_plan_to_json(pool_plan_from_json(document)) == document

    def test_the_document_is_as_its_schema_says(self) -> None:
        schema = json.loads((schemas_dir() / "v1alpha1" / "plan.json").read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        document = json.loads(json.dumps(pool_plan_to_json(full_plan())))
        assert list(validator.iter_errors(document)) == []
        for key in schema["required"]:
            assert list(validator.iter_errors({name: value for name, value in document.items() if name != key}))

    def test_alike_nodes_are_written_once(self) -> None:
        document = pool_plan_to_json(full_plan())
        assert len(document["targets"]) == 1
        assert [entry["target"] for entry in document["nodes"]] == list(document["targets"]) * 3

    def test_a_node_is_sent_its_own_part_only(self) -> None:
        plan = full_plan()
        document = node_plan_document(plan, plan.nodes[0])
        assert document["plan_id"] == plan.id
        assert document["tier"] == "t"
        assert [item["path"] for item in document["files"]] == [file.path for file in plan.nodes[0].files]
        assert {item["mode"] for item in document["files"]} == {"0644"}
        assert document["actions"] == list(plan.nodes[0].actions)
        assert '"b"' not in json.dumps(document)

    @pytest.mark.parametrize("data", [None, [], "x", {}, {"apiVersion": "tunectl.io/v1alpha1", "kind": "Snapshot"}])
    def test_what_is_no_plan_is_refused(self, data: Any) -> None:
        with pytest.raises(InputError) as caught:
            pool_plan_from_json(data, "x.json")
        assert caught.value.problems[0].code == "TUN-2301"
        assert caught.value.problems[0].where == "x.json"

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda document: document["nodes"][0].update(node="other"),
            lambda document: next(iter(document["targets"].values()))["files"][0].update(content="x"),
            lambda document: document.pop("findings"),
            lambda document: document.update(more=1),
            lambda document: document.update(sha256="0" * 64),
            lambda document: document.pop("sha256"),
        ],
    )
    def test_a_plan_that_was_changed_is_refused(self, tamper: Callable[[dict[str, Any]], Any]) -> None:
        document = json.loads(json.dumps(pool_plan_to_json(full_plan())))
        tamper(document)
        with pytest.raises(InputError, match="TUN-2302"):
            pool_plan_from_json(document)

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda document: document.pop("nodes"),
            lambda document: document.update(nodes=3),
            lambda document: document["nodes"][0].update(target="other"),
            lambda document: document["nodes"][0]["changes"][0].update(impact="free"),
            lambda document: document["nodes"][0].update(observed={"a": 1}),
            lambda document: next(iter(document["targets"].values()))["desired"]["partition"].update(reserved="x"),
            lambda document: next(iter(document["targets"].values()))["files"][0].update(mode="rw"),
            lambda document: document.update(tier=None),
        ],
    )
    def test_a_sealed_plan_of_another_form_is_refused_with_the_key(
        self, tamper: Callable[[dict[str, Any]], Any]
    ) -> None:
        document = json.loads(json.dumps(pool_plan_to_json(full_plan())))
        tamper(document)
        document["sha256"] = content_digest(document)
        with pytest.raises(InputError, match="TUN-2303"):
            pool_plan_from_json(document)
