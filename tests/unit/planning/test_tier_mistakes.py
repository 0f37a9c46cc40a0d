"""Mistakes in tier files: each at its line and column, with what is allowed and the nearest right name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from support.tiers import HEAD, place_of, problems_of

from tunectl.core.codes import CODES
from tunectl.core.errors import InputError
from tunectl.planning.tier_file import load_tier


class Mistake(NamedTuple):
    """A body with one mistake, and what must be said about it."""

    body: str
    place: str
    path: str
    code: str
    says: str


ONE_BY_ONE = [
    Mistake(
        "kubelet:\n  cpu_manager_policy: statik\n",
        "5:23",
        "kubelet.cpu_manager_policy",
        "TUN-1102",
        "did you mean 'static'?",
    ),
    Mistake(
        "kubelet: {cpu_manager_policy: Static}\n",
        "4:31",
        "kubelet.cpu_manager_policy",
        "TUN-1102",
        "one of: none, static",
    ),
    Mistake(
        "kubelet: {memory_manager_policy: static}\n",
        "4:34",
        "kubelet.memory_manager_policy",
        "TUN-1102",
        "did you mean 'Static'?",
    ),
    Mistake(
        "kubelet: {topology_manager_policy: single-numa}\n",
        "4:36",
        "kubelet.topology_manager_policy",
        "TUN-1102",
        "'single-numa-node'",
    ),
    Mistake(
        "kubelet: {topology_manager_scope: node}\n",
        "4:35",
        "kubelet.topology_manager_scope",
        "TUN-1102",
        "container, pod",
    ),
    Mistake(
        "kubelet: {swap_behavior: UnlimitedSwap}\n", "4:26", "kubelet.swap_behavior", "TUN-1102", "NoSwap, LimitedSwap"
    ),
    Mistake("kubelet: {max_pods: lots}\n", "4:21", "kubelet.max_pods", "TUN-1103", "'lots' is not a whole number"),
    Mistake('kubelet: {max_pods: "110"}\n', "4:21", "kubelet.max_pods", "TUN-1103", "write 110 without quotes"),
    Mistake("kubelet: {max_pods: -1}\n", "4:21", "kubelet.max_pods", "TUN-1210", "allowed: 0 or more"),
    Mistake("kubelet: {max_pods: 0110}\n", "4:21", "kubelet.max_pods", "TUN-1103", "no leading zero"),
    Mistake("kubelet: {max_pods: 1_000}\n", "4:21", "kubelet.max_pods", "TUN-1111", 'quote it: "1_000"'),
    Mistake("kubelet: {max_pods: [1]}\n", "4:21", "kubelet.max_pods", "TUN-1103", "a list cannot stand here"),
    Mistake("kubelet: 5\n", "4:10", "kubelet", "TUN-1103", "a map of keys and values belongs here"),
    Mistake("kubelet: [cpu_manager_policy]\n", "4:10", "kubelet", "TUN-1103", "a list cannot stand here"),
    Mistake(
        "kubelet: {cpuManagerPolicy: static}\n", "4:11", "kubelet.cpuManagerPolicy", "TUN-1104", "'cpu_manager_policy'"
    ),
    Mistake(
        'kubelet: {reserved_cpus: "0-3"}\n',
        "4:11",
        "kubelet.reserved_cpus",
        "TUN-1104",
        "it belongs there: cpu.reserved",
    ),
    Mistake("cpu_manager_policy: static\n", "4:1", "cpu_manager_policy", "TUN-1104", "kubelet.cpu_manager_policy"),
    Mistake("kubelett: {}\n", "4:1", "kubelett", "TUN-1104", "did you mean 'kubelet'?"),
    Mistake("cpu: {zzzz: 1}\n", "4:7", "cpu.zzzz", "TUN-1104", "unknown key 'zzzz'"),
    Mistake("irq: {zzzz: 1}\n", "4:7", "irq.zzzz", "TUN-1104", "known keys: balance_isolated, rps"),
    Mistake('cpu: {reserved: "0-x"}\n', "4:17", "cpu.reserved", "TUN-1201", "write like 0-3,8 (kernel numbering)"),
    Mistake('cpu: {reserved: "0-3,7-5"}\n', "4:17", "cpu.reserved", "TUN-1201", "'7-5' runs backwards"),
    Mistake('cpu: {reserved: ""}\n', "4:17", "cpu.reserved", "TUN-1201", "the CPU list is empty"),
    Mistake("cpu: {reserved: rest}\n", "4:17", "cpu.reserved", "TUN-1201", "only cpu.isolated can be what is left"),
    Mistake("cpu: {reserved: true}\n", "4:17", "cpu.reserved", "TUN-1111", "YAML boolean"),
    Mistake("cpu: {reserved: 0.5}\n", "4:17", "cpu.reserved", "TUN-1103", "a kernel CPU list such as 0-3,8"),
    Mistake("cpu: {reserved: {spread: numa}}\n", "4:17", "cpu.reserved", "TUN-1108", "count is missing"),
    Mistake("cpu: {reserved: {count: 130%}}\n", "4:25", "cpu.reserved.count", "TUN-1202", "a share such as 30%"),
    Mistake("cpu: {reserved: {count: 0}}\n", "4:25", "cpu.reserved.count", "TUN-1202", "a whole number such as 8"),
    Mistake(
        "cpu: {reserved: {count: 8, spread: nume}}\n", "4:36", "cpu.reserved.spread", "TUN-1102", "did you mean 'numa'?"
    ),
    Mistake(
        "cpu: {reserved: {count: 8, near: ../x}}\n", "4:34", "cpu.reserved.near", "TUN-1212", "a name such as eth0"
    ),
    Mistake("cpu: {allow_split_cores: yes}\n", "4:26", "cpu.allow_split_cores", "TUN-1103", "write true or false"),
    Mistake(
        "cpu: {allow_split_cores: maybe}\n", "4:26", "cpu.allow_split_cores", "TUN-1103", "'maybe' is not true or false"
    ),
    Mistake(
        "sysctl: {net.ipv4.ip_forward: yes}\n",
        "4:31",
        "sysctl.net.ipv4.ip_forward",
        "TUN-1111",
        'quote it: "yes", or write 1 or 0',
    ),
    Mistake('sysctl: {vm.swappiness: "1\\n2"}\n', "4:25", "sysctl.vm.swappiness", "TUN-2202", "a line break"),
    Mistake('sysctl: {vm.swappiness: "$(id)"}\n', "4:25", "sysctl.vm.swappiness", "TUN-2202", "a dollar sign"),
    Mistake("sysctl: {vm.swappiness: 1:30}\n", "4:25", "sysctl.vm.swappiness", "TUN-1111", "another number"),
    Mistake("sysctl: {swappiness: 1}\n", "4:10", "sysctl.swappiness", "TUN-2202", "write the dotted name"),
    Mistake("sysctl: {vm..swappiness: 1}\n", "4:10", "sysctl.vm..swappiness", "TUN-2202", "write the dotted name"),
    Mistake(
        "sysctl:\n  vm.swappiness: 1\n  vm/swappiness: 2\n", "6:3", "sysctl.vm.swappiness", "TUN-1106", "a second time"
    ),
    Mistake(
        "kubelet: {system_reserved: {memory: 8GiB}}\n",
        "4:37",
        "kubelet.system_reserved.memory",
        "TUN-2200",
        "not a Kubernetes quantity",
    ),
    Mistake(
        "kubelet: {system_reserved: {memory: -8Gi}}\n",
        "4:37",
        "kubelet.system_reserved.memory",
        "TUN-1210",
        "zero or more",
    ),
    Mistake(
        "kubelet: {system_reserved: {hugepages-1Gi: 8Gi}}\n",
        "4:29",
        "kubelet.system_reserved.hugepages-1Gi",
        "TUN-1104",
        "cannot reserve huge pages",
    ),
    Mistake(
        "kubelet: {kube_reserved: {memori: 8Gi}}\n",
        "4:27",
        "kubelet.kube_reserved.memori",
        "TUN-1104",
        "did you mean 'memory'?",
    ),
    Mistake(
        "kubelet: {eviction_hard: {memory.avail: 8Gi}}\n",
        "4:27",
        "kubelet.eviction_hard.memory.avail",
        "TUN-1104",
        "'memory.available'",
    ),
    Mistake(
        "kubelet: {eviction_hard: {memory.available: 120%}}\n",
        "4:45",
        "kubelet.eviction_hard.memory.available",
        "TUN-1210",
        "0% to 100%",
    ),
    Mistake(
        "kubelet: {eviction_hard: {memory.available: 0}}\n",
        "4:45",
        "kubelet.eviction_hard.memory.available",
        "TUN-1210",
        "more than zero",
    ),
    Mistake(
        "kubelet: {cpu_manager_reconcile_period: 10}\n",
        "4:41",
        "kubelet.cpu_manager_reconcile_period",
        "TUN-1103",
        "such as 10s",
    ),
    Mistake(
        "kubelet: {cpu_manager_reconcile_period: 10 s}\n",
        "4:41",
        "kubelet.cpu_manager_reconcile_period",
        "TUN-1203",
        "such as 10s",
    ),
    Mistake(
        "kubelet: {memory_throttling_factor: 1.5}\n",
        "4:37",
        "kubelet.memory_throttling_factor",
        "TUN-1210",
        "at most 1",
    ),
    Mistake(
        "kubelet: {memory_throttling_factor: 0}\n", "4:37", "kubelet.memory_throttling_factor", "TUN-1210", "above 0"
    ),
    Mistake(
        "kubelet: {reserved_memory: [{numa_node: 0}]}\n",
        "4:29",
        "kubelet.reserved_memory.0",
        "TUN-1108",
        "limits is missing",
    ),
    Mistake(
        "kubelet: {config: {cpuManagerPolicy: static}}\n",
        "4:20",
        "kubelet.config.cpuManagerPolicy",
        "TUN-1213",
        "kubelet.cpu_manager_policy",
    ),
    Mistake("kubelet: {config: {kind: X}}\n", "4:20", "kubelet.config.kind", "TUN-1213", "tunectl writes it itself"),
    Mistake(
        "kubelet: {config: {podPidsLimits: 5}}\n", "4:20", "kubelet.config.podPidsLimits", "TUN-1213", "'podPidsLimit'"
    ),
    Mistake(
        "kubelet: {config: {podPidsLimit: 0x10}}\n",
        "4:34",
        "kubelet.config.podPidsLimit",
        "TUN-1111",
        "every YAML reader",
    ),
    Mistake(
        "kubelet: {config: {qosReserved: {memory: .nan}}}\n",
        "4:42",
        "kubelet.config.qosReserved.memory",
        "TUN-1111",
        "every YAML reader",
    ),
    Mistake(
        "kubelet: {config: {podPidsLimit: '5'}}\n",
        "4:34",
        "kubelet.config.podPidsLimit",
        "TUN-1103",
        "the kubelet wants a whole number",
    ),
    Mistake(
        "kubelet: {config: {cgroupDriver: true}}\n",
        "4:34",
        "kubelet.config.cgroupDriver",
        "TUN-1103",
        'quote it: "true"',
    ),
    Mistake(
        "kubelet: {config: {syncFrequency: 1 minute}}\n",
        "4:35",
        "kubelet.config.syncFrequency",
        "TUN-1203",
        "such as 10s",
    ),
    Mistake(
        "kubelet: {config: {clusterDNS: 10.0.0.1}}\n",
        "4:32",
        "kubelet.config.clusterDNS",
        "TUN-1103",
        "the kubelet wants a list",
    ),
    Mistake("kernel: {args: quiet}\n", "4:16", "kernel.args", "TUN-1103", "a list belongs here"),
    Mistake("kernel: {args: [quiet, 'a b']}\n", "4:24", "kernel.args.1", "TUN-2201", "a second argument"),
    Mistake("kernel: {args: ['a=`id`']}\n", "4:17", "kernel.args.0", "TUN-2201", "a backtick"),
    Mistake(
        "kernel: {args: [a, ]}\nkernel_instances: {}\n", "5:19", "kernel_instances", "TUN-1103", "a list belongs here"
    ),
    Mistake("kernel: {args: [null]}\n", "4:17", "kernel.args.0", "TUN-1103", "the value is empty"),
    Mistake("kernel: {modules: {kvm: {x: 'a b'}}}\n", "4:29", "kernel.modules.kvm.x", "TUN-2205", "a blank"),
    Mistake(
        "kernel: {modules: {'k v m': {x: 1}}}\n", "4:20", "kernel.modules.k v m", "TUN-1212", "not a kernel module"
    ),
    Mistake("kernel: {page_size: 16k}\n", "4:21", "kernel.page_size", "TUN-1102", "4k, 64k"),
    Mistake("hugepages: {default_size: 1Gi}\n", "4:27", "hugepages.default_size", "TUN-1209", "did you mean '1G'?"),
    Mistake(
        "hugepages: {default_size: 1G, pages: [{size: 1G}]}\n",
        "4:39",
        "hugepages.pages.0",
        "TUN-1108",
        "count is missing",
    ),
    Mistake(
        "net: {devices: [{vendor_id: '8086'}]}\n",
        "4:29",
        "net.devices.0.vendor_id",
        "TUN-1212",
        "four hexadecimal digits",
    ),
    Mistake("net: {devices: [{vendor_id: 0x8086}]}\n", "4:29", "net.devices.0.vendor_id", "TUN-1103", "in quotes"),
    Mistake("memory: {thp_shmem: madvise}\n", "4:21", "memory.thp_shmem", "TUN-1102", "did you mean 'advise'?"),
    Mistake("memory: {thp_defrag: madvice}\n", "4:22", "memory.thp_defrag", "TUN-1102", "did you mean 'madvise'?"),
    Mistake("frequency: {isolated_khz: 0}\n", "4:27", "frequency.isolated_khz", "TUN-1210", "1 or more"),
    Mistake("resctrl: [{name: a/b}]\n", "4:18", "resctrl.0.name", "TUN-1212", "'a/b' is not a name"),
    Mistake("resctrl: [{name: a, l3_ways_percent: 0}]\n", "4:38", "resctrl.0.l3_ways_percent", "TUN-1210", "1 to 100"),
    Mistake("resctrl: [{name: a, cpus: shard}]\n", "4:27", "resctrl.0.cpus", "TUN-1102", "did you mean 'shared'?"),
    Mistake("placement: {labels: {pool: true}}\n", "4:28", "placement.labels.pool", "TUN-1111", 'quote it: "true"'),
    Mistake("placement: {labels: {pool: a b}}\n", "4:28", "placement.labels.pool", "TUN-1206", "not a label value"),
    Mistake("placement: {labels: {-pool: a}}\n", "4:22", "placement.labels.-pool", "TUN-1206", "not a label name"),
    Mistake("placement: {taints: ['a=b']}\n", "4:22", "placement.taints.0", "TUN-1207", "add :NoSchedule"),
    Mistake(
        "placement: {taints: ['a=b:NoSchedul']}\n",
        "4:22",
        "placement.taints.0",
        "TUN-1207",
        "did you mean 'NoSchedule'?",
    ),
    Mistake(
        "placement: {taints: ['a b=c:NoSchedule']}\n", "4:22", "placement.taints.0", "TUN-1207", "not a label name"
    ),
    Mistake(
        "placement: {taints: ['a=b c:NoSchedule']}\n", "4:22", "placement.taints.0", "TUN-1207", "not a label value"
    ),
    Mistake("openshift: {manifest: profile}\n", "4:23", "openshift.manifest", "TUN-1102", "performance-profile"),
    Mistake("openshift: {name: Hpc}\n", "4:19", "openshift.name", "TUN-1212", "lower-case"),
    Mistake("openshift: {max_unavailable: 0}\n", "4:30", "openshift.max_unavailable", "TUN-1210", "a number such as 1"),
    Mistake('summary: "a\\nb"\n', "4:10", "summary", "TUN-1205", "a line break"),
    Mistake("pool: My Pool\n", "4:7", "pool", "TUN-1212", "not a pool name"),
    Mistake("pool: " + "a" * 64 + "\n", "4:7", "pool", "TUN-1212", "64 characters, at most 63"),
    Mistake("memory: {swap: !!binary aGk=}\n", "4:16", "memory.swap", "TUN-1105", "!!binary has no meaning"),
    Mistake("irq: {rps: true, rps: false}\n", "4:18", "irq.rps", "TUN-1106", "the first is in line 4"),
    Mistake("irq: {<<: 5}\n", "4:11", "irq", "TUN-1103", "<< takes a map"),
    Mistake("irq: {? [a] : b}\n", "4:9", "irq", "TUN-1103", "not a collection"),
    Mistake(
        "placement: {labels: {" + "a" * 64 + ": b}}\n", "4:22", "placement.labels." + "a" * 64, "TUN-1206", "at most 63"
    ),
    Mistake('extends: "a\\0b.yaml"\n', "4:10", "extends", "TUN-1101", "null"),
    Mistake("extends: [a]\n", "4:10", "extends", "TUN-1103", "the name or the file of one tier"),
    Mistake("extends: nosuch\n", "4:10", "extends", "TUN-1109", "known tiers: batch"),
    Mistake("extends: hpc-masive\n", "4:10", "extends", "TUN-1109", "did you mean 'hpc-massive'?"),
    Mistake("extends: ./nosuch.yaml\n", "4:10", "extends", "TUN-1101", "No such file"),
]


@pytest.mark.parametrize("mistake", ONE_BY_ONE, ids=[f"{one.path}-{number}" for number, one in enumerate(ONE_BY_ONE)])
def test_one_mistake_is_told_at_its_place(mistake: Mistake, tmp_path: Path) -> None:
    problems = problems_of(tmp_path, mistake.body)
    assert [problem.code for problem in problems if problem.path == mistake.path][:1] == [mistake.code]
    problem = next(one for one in problems if one.path == mistake.path)
    assert place_of(problem) == mistake.place
    assert mistake.says in f"{problem.what} {problem.why} {problem.fix}"


def test_every_code_of_a_mistake_is_explained() -> None:
    assert {mistake.code for mistake in ONE_BY_ONE} <= set(CODES)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    body = "kubelet:\n  cpu_manager_policy: statik\n  max_pods: lots\ncpu: {reserved: 0-x}\nirqs: {}\nirqs: {}\n"
    problems = problems_of(tmp_path, body)
    assert [(place_of(one), one.path, one.code) for one in problems] == [
        ("5:23", "kubelet.cpu_manager_policy", "TUN-1102"),
        ("6:13", "kubelet.max_pods", "TUN-1103"),
        ("7:17", "cpu.reserved", "TUN-1201"),
        ("8:1", "irqs", "TUN-1104"),
        ("9:1", "irqs", "TUN-1106"),
    ]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("{}\n", ["apiVersion", "kind", ""]),
        ("kind: Tier\nname: a\n", ["apiVersion"]),
        ("apiVersion: tunectl.io/v1\nkind: Tier\nname: a\n", ["apiVersion"]),
        ("apiVersion: tunectl.io/v1alpha1\nkind: Teer\nname: a\n", ["kind"]),
        ("apiVersion: tunectl.io/v1alpha1\nkind: [Tier]\nname: a\n", ["kind"]),
        ("apiVersion: tunectl.io/v1alpha1\nkind: Tier\nname: null\n", [""]),
        (HEAD.replace("mine", "Mine"), ["name"]),
        ("- a\n", [""]),
        ("just text\n", [""]),
    ],
)
def test_a_file_must_say_what_it_is(text: str, places: list[str], tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_tier(str(path))
    assert [one.path for one in caught.value.problems] == places
    assert caught.value.state == "Nothing was contacted."


@pytest.mark.parametrize(
    ("content", "code", "place", "says"),
    [
        (b"", "TUN-1101", ":1:1", "the file is empty"),
        (b"\n# nothing\n", "TUN-1101", ":1:1", "the file is empty"),
        (b"---\n", "TUN-1101", ":1:1", "the file is empty"),
        (b"a: 1\n---\nb: 2\n", "TUN-1107", ":3:1", "2 YAML documents"),
        (b"a: [1\nb: 2\n", "TUN-1105", ":2:2", "not YAML"),
        (b"a:\n\t- b\n", "TUN-1105", ":2:1", "cannot start any token"),
        (b"a: *nowhere\n", "TUN-1105", ":1:4", "undefined alias"),
        (b"a: \x07\n", "TUN-1105", ":1:4", "U+0007"),
        (b"a: 1\nb: \xff\n", "TUN-1101", "", "byte 8 is not UTF-8"),
        (b"a: &a [*a]\n", "TUN-1105", "", "nested too deep"),
        (b"[" * 2000, "TUN-1105", "", ""),
        (b"%YAML 9.9\n---\na: 1\n", "TUN-1105", ":1", "incompatible YAML document"),
    ],
)
def test_what_is_no_yaml_document_is_refused(content: bytes, code: str, place: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        load_tier(str(path))
    (problem,) = caught.value.problems
    assert problem.code == code
    assert problem.where.startswith(f"{path}{place}")
    assert says in f"{problem.what} {problem.why}"


def test_a_small_file_that_means_a_huge_one_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    path = tmp_path / "t.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="the file means too much"):
        load_tier(str(path))


def test_a_directory_a_missing_file_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.yaml").mkdir()
    (tmp_path / "good.yaml").write_text(HEAD, encoding="utf-8")
    (tmp_path / "huge.yaml").write_bytes(b"#" * (1 << 21))
    for name, says in (("d.yaml", "it is a directory"), ("huge.yaml", "1 MiB"), ("goood.yaml", "No such file")):
        with pytest.raises(InputError) as caught:
            load_tier(str(tmp_path / name))
        (problem,) = caught.value.problems
        assert (problem.code, problem.where) == ("TUN-1101", str(tmp_path / name))
        assert says in problem.why
    assert "good.yaml" in problem.fix


def test_a_device_file_is_not_read() -> None:
    with pytest.raises(InputError, match="not a regular file"):
        load_tier("/dev/zero")
