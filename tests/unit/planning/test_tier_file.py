"""Tier files: every kind of value, inheritance, where tiers are found, and the built-in ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.tiers import HEAD, load_body, write_tier

from tunectl.core.cpuset import CpuSet
from tunectl.core.errors import InputError
from tunectl.core.tier import CpuIntent, HugepageRequest, Manifest, ReservedMemory, Spread, Tier, WorkloadHints
from tunectl.planning.paths import tiers_dir
from tunectl.planning.tier_file import load_tier, tier_files

BUILT_IN = ("batch", "hpc-massive", "hpc-standard", "latency-sensitive", "memory-quiet", "shared")

EVERYTHING = """\
summary: all kinds of values
pool: my_pool.a
cpu:
  reserved: 0-3, 64-67
  isolated: {count: 25%, spread: packed, near: "0000:3b:00.0", include: 8-9}
  shared: 5
  offlined: "126-127"
  balance_isolated: false
kubelet:
  cpu_manager_policy: static
  cpu_manager_policy_options: {full-pcpus-only: true, strict-cpu-reservation: "False"}
  cpu_manager_reconcile_period: 1m30s
  topology_manager_policy: restricted
  topology_manager_policy_options: {max-allowable-numa-nodes: 16}
  memory_manager_policy: Static
  reserved_memory:
    - {numa_node: 1, limits: {memory: 1100Mi}}
  system_reserved: {cpu: 0.5, memory: 8Gi, pid: 1000}
  eviction_hard: {memory.available: 2Gi, nodefs.available: 10%, imagefs.available: 0%}
  max_pods: 250
  memory_throttling_factor: 0.8
  config:
    podPidsLimit: 4096
    featureGates: {KubeletPSI: true}
    clusterDNS: [10.0.0.1]
    cpuCFSQuota: null
workload_hints: {high_power_consumption: true, mixed_cpus: true}
kernel:
  args: [mitigations=off, "isolcpus=managed_irq,domain"]
  modules: {kvm: {halt_poll_ns: 0}}
hugepages:
  default_size: 1G
  pages: [{size: 1G, count: 8, node: 0}, {size: 2M, count: 0}]
memory: {ksm: false, swap: null}
sysctl:
  net/ipv4/conf/eth0.100/rp_filter: 0
  net.ipv4.tcp_rmem: " 4096 87380 16777216 "
  kernel.sched_rt_runtime_us: -1
placement:
  labels: {node-role.kubernetes.io/hpc: "", year: 2026}
  taints: [dedicated:NoExecute, "workload=hpc:NoSchedule"]
openshift:
  manifest: performance-profile
  max_unavailable: 1
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Tier:
    return load_body(tmp_path_factory.mktemp("tiers"), EVERYTHING)


def test_cpus_are_lists_or_intents(everything: Tier) -> None:
    cpu = everything.cpu
    assert (cpu.reserved, cpu.shared, cpu.offlined) == tuple(map(CpuSet.parse, ("0-3,64-67", "5", "126-127")))
    assert cpu.isolated == CpuIntent(0, 25, Spread.PACKED, "0000:3b:00.0", CpuSet.parse("8-9"))
    assert (cpu.balance_isolated, cpu.ovs_dpdk, cpu.otherwise) == (False, None, None)


def test_policy_options_are_kept_as_the_text_that_the_kubelet_wants(everything: Tier) -> None:
    kubelet = everything.kubelet
    assert kubelet.cpu_manager_policy_options == {"full-pcpus-only": "true", "strict-cpu-reservation": "false"}
    assert kubelet.topology_manager_policy_options == {"max-allowable-numa-nodes": "16"}


def test_numbers_without_quotes_are_text_where_text_belongs(everything: Tier) -> None:
    kubelet = everything.kubelet
    assert kubelet.system_reserved == {"cpu": "0.5", "memory": "8Gi", "pid": "1000"}
    assert (kubelet.max_pods, kubelet.memory_throttling_factor) == (250, "0.8")
    assert everything.kernel.modules == {"kvm": {"halt_poll_ns": "0"}}
    assert everything.placement.labels == {"node-role.kubernetes.io/hpc": "", "year": "2026"}
    assert everything.openshift.max_unavailable == "1"


def test_lists_of_maps_become_values(everything: Tier) -> None:
    assert everything.hugepages.pages == (HugepageRequest("1G", 8, 0), HugepageRequest("2M", 0, None))
    assert everything.kubelet.reserved_memory == (ReservedMemory(1, {"memory": "1100Mi"}),)
    assert everything.workload_hints == WorkloadHints(high_power_consumption=True, mixed_cpus=True)
    assert everything.openshift.manifest is Manifest.PERFORMANCE_PROFILE


def test_kernel_parameters_have_one_name_and_no_outer_blanks(everything: Tier) -> None:
    assert everything.sysctl == {
        "net.ipv4.conf.eth0/100.rp_filter": "0",
        "net.ipv4.tcp_rmem": "4096 87380 16777216",
        "kernel.sched_rt_runtime_us": "-1",
    }


def test_further_kubelet_fields_are_json_data_and_null_leaves_them_out(everything: Tier) -> None:
    assert everything.kubelet.config == {
        "podPidsLimit": 4096,
        "featureGates": {"KubeletPSI": True},
        "clusterDNS": ["10.0.0.1"],
    }
    assert (everything.memory.ksm, everything.memory.swap) == (False, None)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("cpu", "cpu:"),
        ("cpu.reserved", "0-3, 64-67"),
        ("cpu.isolated", "isolated: {count"),
        ("cpu.isolated.count", "25%, spread"),
        ("kubelet.eviction_hard.nodefs.available", "10%, imagefs"),
        ("hugepages.pages.0.count", "8, node"),
        ("hugepages.pages.1.size.nothing.below", "2M, count"),
        ("kernel.args.1", '"isolcpus=managed_irq,domain"]'),
        ("sysctl.net.ipv4.conf.eth0/100.rp_filter", "0"),
        ("kubelet.config.podPidsLimit", "4096"),
        ("openshift.name", "openshift:"),
    ],
)
def test_every_value_knows_where_it_was_written(everything: Tier, path: str, text: str) -> None:
    origin = everything.origin(path)
    assert (HEAD + EVERYTHING).splitlines()[origin.line - 1][origin.column - 1 :].startswith(text)


def test_anchors_aliases_and_merge_keys_mean_what_they_say(tmp_path: Path) -> None:
    body = (
        "kubelet:\n  system_reserved: &amount {cpu: 1, memory: 1Gi}\n"
        "  kube_reserved:\n    <<: *amount\n    memory: 2Gi\n  eviction_hard: {}\n"
    )
    kubelet = load_body(tmp_path, body).kubelet
    assert kubelet.system_reserved == {"cpu": "1", "memory": "1Gi"}
    assert kubelet.kube_reserved == {"cpu": "1", "memory": "2Gi"}


def test_own_keys_win_over_merged_ones_and_earlier_maps_over_later(tmp_path: Path) -> None:
    body = (
        "kernel: {modules: {a: &a {x: 1, y: 1}, b: &b {y: 2, z: 2}}}\n"
        "sysctl: {vm.swappiness: 5}\n"
        "placement: {labels: {<<: [*a, *b], x: 3}}\n"
    )
    assert load_body(tmp_path, body).placement.labels == {"x": "3", "y": "1", "z": "2"}


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode() + b"irq: {rps: true}\r\n")
    tier = load_tier(str(path))
    assert (tier.irq.rps, tier.origin("irq.rps").line) == (True, 4)


# Inheritance


def test_a_tier_is_laid_on_the_one_it_extends(tmp_path: Path) -> None:
    body = (
        "extends: hpc-standard\nsummary: less memory\nkubelet:\n"
        "  system_reserved: {memory: 4Gi}\n  topology_manager_policy: null\n"
    )
    base, tier = load_tier("hpc-standard"), load_body(tmp_path, body)
    assert tier.name == "mine"
    assert tier.kubelet.system_reserved == {"cpu": "4", "memory": "4Gi"}
    assert tier.kubelet.kube_reserved == base.kubelet.kube_reserved
    assert tier.kubelet.topology_manager_policy == ""
    assert (tier.pool, tier.openshift) == (base.pool, base.openshift)


def test_values_keep_the_place_of_the_tier_that_set_them(tmp_path: Path) -> None:
    tier = load_body(tmp_path, "extends: hpc-standard\nkubelet: {system_reserved: {memory: 4Gi}}\n")
    assert str(tier.origin("kubelet.system_reserved.memory")) == f"{tmp_path}/mine.yaml:5:37"
    assert tier.origin("kubelet.system_reserved.cpu").file == "tiers/hpc-standard.yaml"


def test_lists_and_cpu_sets_are_replaced_as_a_whole(tmp_path: Path) -> None:
    write_tier(tmp_path, "kernel: {args: [a, b]}\ncpu: {reserved: {count: 8, spread: packed}}\n", "base")
    tier = load_body(tmp_path, "extends: ./base.yaml\nkernel: {args: [c]}\ncpu: {reserved: 0-1}\n")
    assert (tier.kernel.args, tier.cpu.reserved) == (("c",), CpuSet.parse("0-1"))


def test_one_key_of_an_inherited_intent_can_be_changed(tmp_path: Path) -> None:
    write_tier(tmp_path, "cpu: {reserved: {count: 8, spread: packed}}\n", "base")
    tier = load_body(tmp_path, "extends: ./base.yaml\ncpu: {reserved: {count: 4}}\n")
    assert tier.cpu.reserved == CpuIntent(count=4, spread=Spread.PACKED)


def test_both_spellings_of_a_kernel_parameter_are_one_key(tmp_path: Path) -> None:
    write_tier(tmp_path, "sysctl: {vm.swappiness: 1, vm.stat_interval: 10}\n", "base")
    tier = load_body(tmp_path, "extends: ./base.yaml\nsysctl: {vm/swappiness: 2, vm.stat_interval: null}\n")
    assert tier.sysctl == {"vm.swappiness": "2"}


def test_files_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_tier(tmp_path / "b", "pool: deep\n", "base")
    write_tier(tmp_path / "a", "extends: ../b/base.yaml\nirq: {rps: true}\n", "middle")
    tier = load_body(tmp_path, "extends: a/middle.yaml\n")
    assert (tier.pool, tier.irq.rps) == ("deep", True)


def test_a_tier_with_the_name_of_a_built_in_one_can_extend_it(tmp_path: Path) -> None:
    write_tier(tmp_path, "extends: batch\nirq: {rps: true}\n", "batch")
    tier = load_tier("batch", [tmp_path])
    assert (tier.irq.rps, tier.placement) == (True, load_tier("batch").placement)


def test_a_ring_is_refused_with_its_chain(tmp_path: Path) -> None:
    write_tier(tmp_path, "extends: ./b.yaml\n", "a")
    write_tier(tmp_path, "extends: ./c.yaml\n", "b")
    write_tier(tmp_path, "extends: ./a.yaml\n", "c")
    with pytest.raises(InputError) as caught:
        load_tier(str(tmp_path / "a.yaml"))
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("TUN-1110", f"{tmp_path}/c.yaml:4:10")
    assert [part.rpartition("/")[2] for part in problem.why.split(" -> ")] == ["a.yaml", "b.yaml", "c.yaml", "a.yaml"]


def test_mistakes_of_both_files_are_told_each_at_its_place(tmp_path: Path) -> None:
    write_tier(tmp_path, "irq: {rps: 1}\n", "base")
    with pytest.raises(InputError) as caught:
        load_body(tmp_path, "extends: ./base.yaml\nkernel: {realtime: 1}\n")
    assert [one.where for one in caught.value.problems] == [f"{tmp_path}/base.yaml:4:12", f"{tmp_path}/mine.yaml:5:20"]


@pytest.mark.parametrize(
    ("base", "code", "says"),
    [
        ("- a\n", "TUN-1103", "a tier is a map"),
        ("a: [\n", "TUN-1105", "not YAML"),
        ("a: 1\n", "TUN-1108", "apiVersion"),
    ],
)
def test_a_base_that_is_no_tier_is_a_mistake_of_its_own_file(base: str, code: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_body(tmp_path, "extends: ./base.yaml\nirqs: {}\n")
    problems = caught.value.problems
    assert code in {one.code for one in problems if one.where.startswith(f"{tmp_path}/base.yaml")}
    assert says in " ".join(one.what for one in problems)
    assert "irqs" in {one.path for one in problems}


# Where tiers are found


def test_names_are_looked_up_in_the_given_directories_first(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    for directory in (first, second):
        directory.mkdir()
        write_tier(directory, f"summary: from {directory.name}\n", "batch")
    write_tier(second, "", "other")
    assert load_tier("batch", [first, second]).summary == "from one"
    assert load_tier("other", [first, second]).name == "other"
    assert set(tier_files([tmp_path / "nowhere", second])) == {*BUILT_IN, "other"}


def test_an_unknown_name_is_refused_with_the_nearest_and_the_list() -> None:
    with pytest.raises(InputError) as caught:
        load_tier("hpc-masive")
    (problem,) = caught.value.problems
    assert (problem.code, problem.fix) == ("TUN-1109", "did you mean 'hpc-massive'?")
    assert problem.why == f"known tiers: {', '.join(BUILT_IN)}"


def test_a_file_that_is_found_by_its_name_must_call_itself_so(tmp_path: Path) -> None:
    (tmp_path / "fast.yaml").write_text(HEAD, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_tier("fast", [tmp_path])
    (problem,) = caught.value.problems
    assert (problem.code, problem.fix) == ("TUN-1112", "name: fast, or rename the file")
    assert load_tier(str(tmp_path / "fast.yaml")).name == "mine"


# The built-in tiers


def test_the_built_in_tiers_are_these_and_load() -> None:
    assert tuple(sorted(tier_files())) == BUILT_IN
    assert all(path.parent == tiers_dir() for path in tier_files().values())
    assert [load_tier(name).pool_name for name in BUILT_IN] == list(BUILT_IN)


def test_hpc_standard_is_the_kubelet_config_of_the_report() -> None:
    tier = load_tier("hpc-standard")
    kubelet = tier.kubelet
    assert (kubelet.cpu_manager_policy, kubelet.topology_manager_policy) == ("static", "single-numa-node")
    assert kubelet.system_reserved == kubelet.kube_reserved == {"cpu": "4", "memory": "8Gi"}
    assert kubelet.eviction_hard == {"memory.available": "2Gi"}
    assert tier.openshift.manifest is Manifest.KUBELET_CONFIG
    assert (tier.openshift.name, tier.openshift.pool_labels) == ("hpc-tuning-app", {"custom-kubelet": "hpc-tuning"})
    assert not tier.is_partitioned


def test_hpc_massive_has_the_lists_of_the_report_and_the_same_intent_elsewhere() -> None:
    tier = load_tier("hpc-massive")
    assert tier.cpu.reserved == CpuSet.parse("0-18,32-50")
    assert tier.cpu.isolated == CpuSet.parse("19-31,51-127")
    assert len(CpuSet.parse("19-31,51-127")) == 90
    assert tier.cpu.otherwise == CpuIntent(percent=30, spread=Spread.NUMA)
    assert (tier.kubelet.topology_manager_policy, tier.kernel.realtime) == ("restricted", False)
    assert (tier.openshift.name, tier.is_profile) == ("hpc-massive-profile", True)


def test_the_content_platform_tiers_keep_their_pools_apart() -> None:
    latency, batch, shared = (load_tier(name) for name in ("latency-sensitive", "batch", "shared"))
    assert latency.placement.taints == ("workload=latency-sensitive:NoSchedule",)
    assert batch.placement.taints == ("workload=batch:NoSchedule",)
    assert shared.placement.taints == ()
    assert [one.placement.labels for one in (latency, batch, shared)] == [
        {"pool": "latency-sensitive"},
        {"pool": "batch"},
        {"pool": "shared"},
    ]
    kubelet = latency.kubelet
    assert (kubelet.cpu_manager_policy, kubelet.cpu_manager_reconcile_period) == ("static", "10s")
    assert (kubelet.topology_manager_policy, kubelet.topology_manager_scope) == ("single-numa-node", "pod")
    for other in (batch, shared):
        assert (other.kubelet.cpu_manager_policy, other.kubelet.topology_manager_policy) == ("none", "best-effort")


def test_memory_quiet_holds_the_values_of_the_note() -> None:
    tier = load_tier("memory-quiet")
    assert tier.sysctl == {
        "vm.zone_reclaim_mode": "0",
        "vm.compaction_proactiveness": "20",
        "vm.watermark_scale_factor": "10",
        "kernel.numa_balancing": "0",
        "kernel.sched_min_granularity_ns": "10000000",
    }
    assert (tier.memory.transparent_hugepages, tier.memory.thp_defrag) == ("madvise", "defer+madvise")


def test_a_file_name_alone_is_also_looked_for_where_names_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiers").mkdir()
    (tmp_path / "tiers" / "mine.yaml").write_text("apiVersion: tunectl.io/v1alpha1\nkind: Tier\nname: mine\n")
    monkeypatch.chdir(tmp_path)
    assert load_tier("mine.yaml", [tmp_path / "tiers"]).name == "mine"
    for elsewhere in ("./mine.yaml", "tiers/other.yaml", "other.yaml"):
        with pytest.raises(InputError):
            load_tier(elsewhere, [tmp_path / "tiers"])
    (tmp_path / "mine.yaml").write_text("apiVersion: tunectl.io/v1alpha1\nkind: Tier\nname: mine\nsummary: here\n")
    assert load_tier("mine.yaml", [tmp_path / "tiers"]).summary == "here"
