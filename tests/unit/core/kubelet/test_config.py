"""Configurations: types, spellings, gates, defaults and rules that no recording touches, release by release."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.kubelet.config_decode import decode, path_text
from tunectl.core.kubelet.config_gates import (
    LATEST,
    enabled_gates,
    gates_of,
    is_enabled,
    locked_gates,
    missing_prerequisites,
    unknown_gates,
)
from tunectl.core.kubelet.config_host import HostFacts
from tunectl.core.kubelet.config_judge import Sources, Verdict, judge_config
from tunectl.core.kubelet.config_merge import ConfigFile, Flags, MergedConfig, merge_config, with_defaults
from tunectl.core.kubelet.config_start import Checkpoints, Kubelet
from tunectl.core.kubelet.config_types import FIELD_SINCE, FIELDS, TEXT_MAP, fields_of
from tunectl.core.kubelet.gate_table import DEPENDENCIES
from tunectl.core.kubelet.machine import KubeletMachine, MemoryNode, RawCpu, discover
from tunectl.core.kubelet.node import Flavor

HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
GIB = 1024**3
RELEASES = [(1, minor) for minor in range(28, 37)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
LIKELY = st.sampled_from(
    ("static", "none", "Static", "1Gi", "10%", "0-1", "true", "pods", "10s", {}, [], {"memory": "1Gi"}, {"cpu": "1"})
)
SPELLINGS = st.sampled_from(
    (
        "",
        "0",
        "-1",
        "1Gi",
        "1 Gi",
        "2e3",
        "1500m",
        ".5",
        "1e999",
        "0%",
        "101%",
        "5%%",
        "1e3%",
        "%",
        "-5%",
        "1m",
        "9" * 40,
    )
)
MAPS = st.dictionaries(
    st.sampled_from(("memory", "cpu", "pid", "memory.available", "nodefs.available", "full-pcpus-only", "numaNode")),
    SPELLINGS | JSON,
    max_size=3,
)
DOCUMENTS = st.dictionaries(
    st.sampled_from(sorted(FIELDS)) | st.text(max_size=8), LIKELY | MAPS | SPELLINGS | JSON, max_size=6
)

TEXTS = SPELLINGS | st.sampled_from(
    ("static", "Static", "restricted", "pod", "0-1", "0,9", "5s", "true", "LimitedSwap")
)
TEXT_MAPS = st.dictionaries(
    st.sampled_from(("memory", "cpu", "memory.available", "pid.available", "full-pcpus-only", "align-by-socket", "x")),
    TEXTS,
    max_size=3,
)
RESERVED = st.lists(
    st.fixed_dictionaries(
        {}, optional={"numaNode": st.integers(-1, 2), "limits": st.dictionaries(st.just("memory"), TEXTS)}
    ),
    max_size=2,
)
TYPED = st.fixed_dictionaries(
    {},
    optional={
        **{name: TEXTS for name, kind in FIELDS.items() if kind == "text" and name[:3] in ("cpu", "mem", "top", "res")},
        **{name: TEXT_MAPS for name, kind in FIELDS.items() if kind == TEXT_MAP},
        **{name: st.integers(-2, 120) for name, kind in FIELDS.items() if kind == "int32" and name < "h"},
        "reservedMemory": RESERVED,
        "failSwapOn": st.booleans(),
        "enforceNodeAllocatable": st.lists(TEXTS, max_size=2),
        "memorySwap": st.fixed_dictionaries({"swapBehavior": TEXTS}),
        "featureGates": st.dictionaries(
            st.sampled_from(("MemoryQoS", "NodeSwap", "AllAlpha", "AllBeta")), st.booleans()
        ),
    },
)


def machine(threads: int = 2, nodes: int = 1) -> KubeletMachine:
    cpus = [RawCpu(cpu, cpu // threads, 0, cpu * nodes // 8, None) for cpu in range(8)]
    return discover(cpus, [MemoryNode(one, 16 * GIB, {}, (10,) * nodes) for one in range(nodes)])


def merged(
    main: Any = None, dropins: list[Any] | None = None, flags: dict[str, Any] | None = None, **more: Any
) -> MergedConfig:
    files = None if dropins is None else [ConfigFile(f"{n}.conf", {**HEAD, **one}) for n, one in enumerate(dropins)]
    first = None if main is None else ConfigFile("main", {**HEAD, **main})
    return merge_config(first, files, Flags(flags or {}), **more)


def judged(config: dict[str, Any], version: tuple[int, int] = LATEST, **host: Any) -> Verdict:
    sources = Sources(ConfigFile("main", {**HEAD, **config}))
    return judge_config(sources, machine(), HostFacts(**host), Kubelet(version))


def rules(config: dict[str, Any], version: tuple[int, int] = LATEST, **host: Any) -> set[str]:
    return {reason.rule for reason in judged(config, version, **host).reasons}


class TestDecode:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("maxPods", "110"),
            ("maxPods", 1.5),
            ("maxPods", 110.0),
            ("maxPods", True),
            ("maxPods", 2**31),
            ("podPidsLimit", 2**63),
            ("failSwapOn", 1),
            ("cpuManagerPolicy", 1),
            ("syncFrequency", "10"),
            ("syncFrequency", 10),
            ("memoryThrottlingFactor", "0.9"),
            ("clusterDNS", "10.0.0.1"),
            ("clusterDNS", [1]),
            ("kubeReserved", ["cpu"]),
            ("kubeReserved", {"cpu": 1}),
            ("featureGates", {"MemoryQoS": "true"}),
            ("memorySwap", "NoSwap"),
            ("reservedMemory", [{"numaNode": "0"}]),
            ("reservedMemory", [{"limits": {"memory": "1 Gi"}}]),
            ("reservedMemory", {"numaNode": 0}),
            ("logging", {"verbosity": -1}),
            ("logging", {"flushFrequency": "soon"}),
        ],
    )
    def test_a_value_of_another_type_is_a_fault(self, field: str, value: Any) -> None:
        found = decode({field: value}, FIELDS)
        assert [path[0] for path, _what in found.faults] == [field]

    @pytest.mark.parametrize(
        ("field", "value", "read"),
        [
            ("maxPods", None, None),
            ("kubeReserved", {"cpu": None}, {"cpu": ""}),
            ("featureGates", {"A": None}, {"A": False}),
            ("clusterDNS", [None], [""]),
            ("reservedMemory", [None], [{}]),
            ("reservedMemory", [{"limits": {"memory": 1024}}], [{"limits": {"memory": "1024"}}]),
            ("reservedMemory", [{"limits": {"memory": " 1Gi "}}], [{"limits": {"memory": "1Gi"}}]),
            ("logging", {"flushFrequency": 5}, {"flushFrequency": 5}),
            ("memoryThrottlingFactor", 1, 1),
        ],
    )
    def test_what_go_takes(self, field: str, value: Any, read: Any) -> None:
        found = decode({field: value}, FIELDS)
        assert not found.faults
        assert found.values.get(field) == read

    def test_unknown_fields_are_told_by_their_path(self) -> None:
        document = {"maxPod": 1, "memorySwap": {"swap": "x"}, "reservedMemory": [{"numaNod": 1}]}
        found = decode(document, FIELDS)
        assert [path_text(path) for path in found.ignored] == ["maxPod", "memorySwap.swap", "reservedMemory[0].numaNod"]

    def test_only_a_folded_reading_takes_other_spellings(self) -> None:
        assert decode({"MAXPODS": 1}, FIELDS).values == {}
        assert decode({"MAXPODS": 1.0}, FIELDS, folded=True).values == {"maxPods": 1}

    def test_of_two_spellings_the_last_in_the_alphabet_counts_and_maps_add_up(self) -> None:
        both = {"maxpods": 3, "maxPods": 2, "MaxPods": 1, "KubeReserved": {"cpu": "1"}, "kubeReserved": {"pid": "9"}}
        values = decode(both, FIELDS, folded=True).values
        assert values == {"maxPods": 3, "kubeReserved": {"cpu": "1", "pid": "9"}}

    @given(DOCUMENTS, st.booleans())
    def test_any_document_is_decoded(self, document: dict[str, Any], folded: bool) -> None:  # noqa: FBT001
        found = decode(document, FIELDS, folded=folded)
        assert set(found.values) <= set(FIELDS)


class TestMerge:
    def test_a_null_for_the_default_thresholds_leaves_none(self) -> None:
        assert merged({}, [{"evictionHard": None}]).config["evictionHard"] == {}
        assert merged({}, [{"evictionHard": {"nodefs.available": None}}]).config["evictionHard"]["imagefs.available"]

    def test_an_empty_map_of_the_main_file_disables_all(self) -> None:
        assert merged({"evictionHard": {}}).config["evictionHard"] == {}
        both = {"evictionHard": {}, "mergeDefaultEvictionSettings": True}
        assert len(merged(both).config["evictionHard"]) == 5
        # The field is younger than this release, which knows nothing of it.
        assert merged(both, version=(1, 33)).config["evictionHard"] == {}

    def test_zero_is_the_default_where_go_cannot_tell_it_from_absent(self) -> None:
        found = merged({"maxPods": 0, "cpuManagerReconcilePeriod": "0s", "oomScoreAdj": 0, "cpuManagerPolicy": ""})
        config = found.config
        assert (config["maxPods"], config["cpuManagerReconcilePeriod"], config["oomScoreAdj"]) == (110, "10s", 0)
        assert config["cpuManagerPolicy"] == "none"

    def test_some_defaults_follow_other_fields_and_the_release(self) -> None:
        assert with_defaults({"maxParallelImagePulls": 3})["serializeImagePulls"] is False
        assert with_defaults({"maxParallelImagePulls": 1})["serializeImagePulls"] is True
        assert with_defaults({"nodeStatusUpdateFrequency": "4s"})["nodeStatusReportFrequency"] == "4s"
        assert with_defaults({"podPidsLimit": -7})["podPidsLimit"] == -1
        assert [with_defaults({}, (1, minor)).get("failCgroupV1") for minor in (30, 34, 35)] == [None, False, True]

    def test_the_source_of_an_entry_is_the_file_that_set_it(self) -> None:
        found = merged({"kubeReserved": {"cpu": "1", "pid": "5"}}, [{"kubeReserved": {"cpu": "2"}}])
        assert found.source(("kubeReserved", "cpu")) == "0.conf"
        assert found.source(("kubeReserved", "pid")) == "main"
        assert found.source(("maxPods",)) == ""
        flagged = merged({"kubeReserved": {"cpu": "1"}}, None, {"kubeReserved": {"memory": "1Gi"}})
        assert flagged.source(("kubeReserved", "cpu")) == "command line"

    def test_flags_that_cannot_be_read_end_it(self) -> None:
        found = merge_config(None, None, Flags({}, "x", (("--max-pods", "--max-pods=many"),)))
        assert [reason.rule for reason in found.reasons] == ["flags: unparsable value"]

    @pytest.mark.parametrize("document", [None, [], "text", {}, {"kind": "KubeletConfiguration"}, 5])
    def test_what_is_no_configuration(self, document: Any) -> None:
        for found in (
            merge_config(ConfigFile("a", document), None),
            merge_config(None, [ConfigFile("a", document)]),
        ):
            assert found.reasons[0].file == "a"
            assert found.config == {}

    @given(DOCUMENTS, st.none() | st.lists(DOCUMENTS, max_size=2))
    def test_any_documents_are_merged_or_refused(self, main: dict[str, Any], dropins: list[Any] | None) -> None:
        found = merged(main, dropins)
        assert bool(found.reasons) != bool(found.config)


class TestGates:
    def test_each_release_has_the_gates_that_facts_name(self) -> None:
        assert "CPUManager" in gates_of((1, 33))
        assert "MemoryManager" in gates_of((1, 35))
        assert unknown_gates({"CPUManager": True, "MemoryManager": True, "CpuPinning": True}, (1, 36)) == [
            "CPUManager",
            "CpuPinning",
            "MemoryManager",
        ]
        assert [is_enabled("NodeSwap", {}, (1, minor)) for minor in (28, 30, 34)] == [False, True, True]
        assert locked_gates({"NodeSwap": False}, (1, 33)) == []
        assert locked_gates({"NodeSwap": False}, (1, 34)) == ["NodeSwap"]
        assert locked_gates({"TopologyManagerPolicyOptions": False, "CPUManagerPolicyOptions": True}, (1, 36)) == [
            "TopologyManagerPolicyOptions"
        ]
        assert "PodLevelResourceManagers" not in gates_of((1, 35))

    def test_all_alpha_and_all_beta_set_what_is_not_set(self) -> None:
        on = enabled_gates({"AllAlpha": True, "MemoryQoS": False}, LATEST)
        assert on["CPUManagerPolicyAlphaOptions"]
        assert not on["MemoryQoS"]
        assert not enabled_gates({"AllBeta": False}, LATEST)["CPUManagerPolicyBetaOptions"]

    @pytest.mark.parametrize("release", RELEASES)
    def test_no_default_lacks_its_prerequisites(self, release: tuple[int, int]) -> None:
        assert missing_prerequisites({}, release) == []

    def test_a_gate_without_its_prerequisite(self) -> None:
        given = {"PodLevelResourceManagers": True, "PodLevelResources": False}
        assert ("PodLevelResourceManagers", "PodLevelResources") in missing_prerequisites(given, (1, 36))
        assert rules({"featureGates": given}) == {"featureGates: prerequisite gate is off"}

    def test_prerequisites_name_known_gates(self) -> None:
        known = set(gates_of((1, 35))) | set(gates_of((1, 36)))
        assert {name for pair in DEPENDENCIES.items() for name in (pair[0], *pair[1])} <= known

    def test_openshift_warns_of_unknown_gates_and_refuses_locked_ones(self) -> None:
        found = merged({"featureGates": {"Nope": True}}, tolerant=True)
        assert (found.unknown_gates, found.reasons) == (["Nope"], [])
        assert merged({"featureGates": {"NodeSwap": False}}, tolerant=True).reasons


class TestRules:
    @pytest.mark.parametrize(
        ("config", "rule"),
        [
            ({"podsPerCore": -1}, "podsPerCore: negative"),
            ({"eventBurst": -1}, "eventBurst: negative"),
            ({"imageGCHighThresholdPercent": 101}, "imageGCHighThresholdPercent: outside 0..100"),
            ({"port": 70000}, "port: outside 1..65535"),
            ({"nodeStatusMaxImages": -2}, "nodeStatusMaxImages: below -1"),
            ({"nodeLeaseDurationSeconds": -1}, "nodeLeaseDurationSeconds: not positive"),
            ({"maxParallelImagePulls": 0}, "maxParallelImagePulls: not positive"),
            ({"containerLogMaxFiles": 1}, "containerLogMaxFiles: not above 1"),
            ({"containerLogMaxWorkers": 0}, "containerLogMaxWorkers: below 1"),
            ({"containerLogMonitorInterval": "2s"}, "containerLogMonitorInterval: below 3s"),
            ({"shutdownGracePeriod": "500ms"}, "shutdownGracePeriod: neither 0 nor at least 1s"),
            ({"shutdownGracePeriodCriticalPods": "5s"}, "shutdownGracePeriodCriticalPods: above shutdownGracePeriod"),
            ({"runOnce": True}, "runOnce: not supported any more"),
            ({"hairpinMode": "x"}, "hairpinMode: unknown value"),
            ({"podLogsDir": "logs"}, "podLogsDir: not an absolute path"),
            ({"podLogsDir": "/a/../b"}, "podLogsDir: not normalized"),
            ({"systemCgroups": "/x"}, "systemCgroups: needs cgroupRoot"),
            ({"imageMaximumGCAge": "1m"}, "imageMaximumGCAge: not above imageMinimumGCAge"),
            ({"userNamespaces": {"idsPerPod": 65537}}, "userNamespaces.idsPerPod: not a multiple of 65536"),
            ({"userNamespaces": {"idsPerPod": 2**32}}, "userNamespaces.idsPerPod: above 4294967295"),
            ({"registerWithTaints": [{"key": "a", "effect": "Never"}]}, "registerWithTaints: not a taint"),
            ({"showHiddenMetricsForVersion": "1.30"}, "showHiddenMetricsForVersion: not the previous minor release"),
            ({"logging": {"format": "xml"}}, "logging.format: unknown value"),
            (
                {"enforceNodeAllocatable": ["system-reserved", "system-reserved-compressible"],
                 "systemReservedCgroup": "/s"},
                "enforceNodeAllocatable: both system-reserved variants",
            ),
            (
                {"crashLoopBackOff": {"maxContainerRestartPeriod": "10m"}},
                "crashLoopBackOff.maxContainerRestartPeriod: outside 1s..300s",
            ),
            (
                {"maxParallelImagePulls": 4, "serializeImagePulls": True},
                "maxParallelImagePulls: more than 1 needs serializeImagePulls false",
            ),
            ({"kubeReserved": {"cpu": "x"}}, "kubeReserved/systemReserved: unparsable quantity"),
            ({"evictionHard": {"memory.available": "x"}}, "eviction: unparsable quantity"),
            ({"evictionSoftGracePeriod": {"memory.available": "-1s"}}, "evictionSoftGracePeriod: negative"),
            ({"evictionMinimumReclaim": {"nope": "1"}}, "eviction: unknown signal"),
        ],
    )  # fmt: skip
    def test_each_rule(self, config: dict[str, Any], rule: str) -> None:
        verdict = judged(config)
        assert {reason.rule for reason in verdict.reasons} == {rule}
        assert all(reason.path[0] in config and reason.file == "main" for reason in verdict.reasons)

    @pytest.mark.parametrize(("text", "reserved"), [("1e1%", "1717986944"), ("+5%", "858993472"), ("0.0%", "")])
    def test_shares_in_other_spellings(self, text: str, reserved: str) -> None:
        verdict = judged({"evictionHard": {"memory.available": text}})
        assert verdict.starts
        assert verdict.derived.reservation.get("memory", "") == reserved

    def test_a_reservation_without_a_node_is_for_the_first(self) -> None:
        config = {"memoryManagerPolicy": "Static", "reservedMemory": [{"limits": {"memory": "100Mi"}}, {}]}
        assert rules(config) == set()

    def test_cpus_that_no_machine_has_are_offline(self) -> None:
        assert rules({"reservedSystemCPUs": "0-100000"}) == {"reserved-cpus-not-online"}

    def test_a_signal_that_is_switched_off_needs_no_grace_period(self) -> None:
        assert rules({"evictionSoft": {"memory.available": "0%"}}) == set()

    @pytest.mark.parametrize(
        ("option", "refused_before", "gate_before"),
        [
            ("full-pcpus-only", (1, 22), (1, 22)),
            ("distribute-cpus-across-cores", (1, 31), (1, 37)),
            ("strict-cpu-reservation", (1, 32), (1, 33)),
            ("prefer-align-cpus-by-uncorecache", (1, 32), (1, 34)),
            ("align-by-socket", (1, 25), (1, 37)),
            ("distribute-cpus-across-numa", (1, 23), (1, 33)),
        ],
    )
    @pytest.mark.parametrize("release", RELEASES)
    def test_options_by_release(
        self, option: str, refused_before: tuple[int, int], gate_before: tuple[int, int], release: tuple[int, int]
    ) -> None:
        config = {
            "cpuManagerPolicy": "static",
            "reservedSystemCPUs": "0,1",
            "cpuManagerPolicyOptions": {option: "true"},
        }
        expected = set()
        if release < refused_before:
            expected = {"unknown-cpu-option"}
        elif release < gate_before:
            expected = {"cpu-alpha-options-gate-off"}
        assert rules(config, release) == expected
        with_gate = {**config, "featureGates": {"CPUManagerPolicyAlphaOptions": True}}
        assert rules(with_gate, release) == (expected if release < refused_before else set())

    def test_the_beta_gate_of_the_topology_manager(self) -> None:
        config = {
            "topologyManagerPolicy": "best-effort",
            "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "8"},
            "featureGates": {"TopologyManagerPolicyBetaOptions": False},
        }
        assert rules(config, (1, 30)) == {"unknown-topology-option"}
        assert rules(config, (1, 34)) == {"topology-beta-options-gate-off"}
        assert rules(config, (1, 35)) == set()

    def test_all_options_need_their_gate_while_it_can_be_off(self) -> None:
        config = {
            "cpuManagerPolicy": "static",
            "reservedSystemCPUs": "0",
            "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
            "featureGates": {"CPUManagerPolicyOptions": False},
        }
        assert rules(config, (1, 32)) == {"cpuManagerPolicyOptions: needs gate CPUManagerPolicyOptions"}
        assert rules(config, (1, 33)) == {"featureGates: gate is locked"}

    @pytest.mark.parametrize(
        ("behavior", "release", "gates", "rule"),
        [
            ("LimitedSwap", (1, 28), {}, "memorySwap.swapBehavior: needs gate NodeSwap"),
            ("UnlimitedSwap", (1, 29), {"NodeSwap": True}, ""),
            ("NoSwap", (1, 29), {"NodeSwap": True}, "memorySwap.swapBehavior: unknown value"),
            ("NoSwap", (1, 30), {}, ""),
            ("UnlimitedSwap", (1, 30), {}, "memorySwap.swapBehavior: unknown value"),
        ],
    )
    def test_swap_by_release(self, behavior: str, release: tuple[int, int], gates: dict[str, bool], rule: str) -> None:
        config = {"memorySwap": {"swapBehavior": behavior}, "failSwapOn": False, "featureGates": gates}
        assert rules(config, release) == ({rule} if rule else set())

    def test_a_field_of_a_later_release_is_ignored(self) -> None:
        for name, since in FIELD_SINCE.items():
            assert name in fields_of(since)
            assert name not in fields_of((since[0], since[1] - 1))
        verdict = judged({"failCgroupV1": True}, (1, 30), cgroup_version=1)
        assert verdict.starts
        assert [one.path for one in verdict.merged.ignored] == [("failCgroupV1",)]

    def test_protected_kernel_defaults(self) -> None:
        config = {"protectKernelDefaults": True}
        assert rules(config, sysctls={"kernel.panic": "0"}) == {"protectKernelDefaults: kernel parameter differs"}
        assert rules(config, sysctls={"kernel.panic": "10"}) == set()
        assert rules({}, sysctls={"kernel.panic": "0"}) == set()

    def test_distances_are_looked_for_before_nodes_are_counted(self) -> None:
        bare = discover([RawCpu(cpu, cpu, 0, cpu, None) for cpu in range(9)], [MemoryNode(n, GIB) for n in range(9)])
        config = {
            "topologyManagerPolicy": "restricted",
            "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
        }
        sources = Sources(ConfigFile("main", {**HEAD, **config}))
        verdict = judge_config(sources, bare, HostFacts(), Kubelet())
        assert [reason.rule for reason in verdict.reasons] == ["no-numa-distances"]

    def test_without_a_machine_only_the_files_are_judged(self) -> None:
        sources = Sources(ConfigFile("main", {**HEAD, "reservedSystemCPUs": "900"}))
        assert judge_config(sources, None, HostFacts(), Kubelet()).starts

    def test_checkpoints_are_looked_at_after_the_managers(self) -> None:
        sources = Sources(ConfigFile("main", {**HEAD, "cpuManagerPolicy": "static", "reservedSystemCPUs": "0,1"}))
        stale = Checkpoints(cpu='{"policyName":"none","defaultCpuSet":""}')
        verdict = judge_config(sources, machine(), HostFacts(), Kubelet(), stale)
        assert [reason.rule for reason in verdict.reasons] == ["state-policy-differs"]
        assert "cpu_manager_state" in verdict.reasons[0].fix

    @given(DOCUMENTS | TYPED, st.sampled_from(RELEASES), st.sampled_from(list(Flavor)))
    def test_any_configuration_gets_a_verdict(
        self, document: dict[str, Any], release: tuple[int, int], flavor: Flavor
    ) -> None:
        sources = Sources(ConfigFile("main", {**HEAD, **document}), [ConfigFile("d", {**HEAD, **document})])
        verdict = judge_config(sources, machine(nodes=2), HostFacts(), Kubelet(release, flavor))
        assert verdict.starts == (verdict.stage == "")
        assert all(reason.rule and reason.what for reason in verdict.reasons)
