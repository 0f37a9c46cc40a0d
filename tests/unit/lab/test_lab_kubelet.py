"""The simulated kubelet: which configuration it takes, which checkpoints it writes, when it does not start."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.labs import node_tree, text_of

from tunectl.core.kubelet.config_judge import Sources
from tunectl.core.kubelet.config_merge import merge_config
from tunectl.lab.kubelet import CPU_STATE, MEMORY_STATE, STATE, KubeletState
from tunectl.lab.kubelet_config import CONFIG, DROPINS, configuration_sources, kubelet_arguments
from tunectl.lab.reboot import settle

_STATIC: dict[str, Any] = {"cpuManagerPolicy": "static", "reservedSystemCPUs": "0,8"}


def _drop_in(root: Path, config: dict[str, Any], name: str = "99-tunectl.conf") -> None:
    document = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", **config}
    (root / DROPINS.lstrip("/") / name).write_text(yaml.safe_dump(document))


def _restart(root: Path) -> KubeletState:
    outcome = settle(root, restart_kubelet=True)
    assert outcome.kubelet is not None
    return outcome.kubelet


def _restart_empty(root: Path) -> KubeletState:
    for path in (CPU_STATE, MEMORY_STATE):
        (root / path.lstrip("/")).unlink()
    return _restart(root)


def _merged(sources: Sources) -> dict[str, Any]:
    # A release in which NodeSwap can still be switched off.
    return merge_config(sources.main, sources.dropins, sources.flags, version=(1, 33)).config


def _config(root: Path) -> dict[str, Any]:
    return _merged(configuration_sources(root, kubelet_arguments(root)))


def test_a_new_node_runs_a_kubelet_without_pinning(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    assert text_of(root, CPU_STATE) == '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
    assert text_of(root, MEMORY_STATE) == '{"policyName":"None","machineState":{},"checksum":4236770233}'
    assert json.loads(text_of(root, STATE))["state"] == "running"
    assert text_of(root, "/proc/1187/comm") == "kubelet"
    assert f"--config-dir={DROPINS}" in text_of(root, "/proc/1187/cmdline").split("\0")


def test_the_kubelet_sets_its_kernel_parameters(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    assert text_of(root, "/proc/sys/vm/overcommit_memory") == "1"
    assert text_of(root, "/proc/sys/kernel/panic") == "10"
    (root / "proc/sys/vm/overcommit_memory").write_text("0\n")
    settle(root)
    assert text_of(root, "/proc/sys/vm/overcommit_memory") == "0"
    _restart(root)
    assert text_of(root, "/proc/sys/vm/overcommit_memory") == "1"


def test_protected_defaults_stop_the_start(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, {"protectKernelDefaults": True})
    (root / "proc/sys/kernel/panic").write_text("0\n")
    state = _restart(root)
    assert state.state == "failed"
    assert "kernel.panic is 0 and the kubelet needs 10" in state.reason


def test_a_stale_checkpoint_stops_a_new_policy_and_the_old_file_stays(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    before = text_of(root, CPU_STATE)
    _drop_in(root, _STATIC)
    state = _restart(root)
    assert state.state == "failed"
    assert "policy none" in state.reason
    assert text_of(root, CPU_STATE) == before
    recorded = json.loads(text_of(root, STATE))
    assert recorded["simulated"] is True
    assert recorded["reason"].startswith("simulated kubelet: failed: ")
    assert not (root / "proc/1187/comm").exists()


def test_without_checkpoints_the_static_policy_starts_on_all_cpus(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, _STATIC)
    assert _restart_empty(root) == KubeletState("running")
    assert json.loads(text_of(root, CPU_STATE))["defaultCpuSet"] == "0-15"
    assert _restart(root) == KubeletState("running")


def test_a_strict_reservation_leaves_the_reserved_cpus_out(tmp_path: Path) -> None:
    root = node_tree(tmp_path, profile="debian13")
    _drop_in(root, {**_STATIC, "cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}})
    assert _restart_empty(root).state == "running"
    assert json.loads(text_of(root, CPU_STATE))["defaultCpuSet"] == "1-7,9-15"


def test_an_option_the_release_does_not_know_stops_the_start(tmp_path: Path) -> None:
    root = node_tree(tmp_path, profile="debian12")
    _drop_in(root, {**_STATIC, "cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}})
    assert "strict-cpu-reservation" in _restart_empty(root).reason


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"cpuManagerPolicy": "static"}, "CPU reservation"),
        ({"cpuManagerPolicy": "statik", "reservedSystemCPUs": "0"}, "statik"),
        ({**_STATIC, "reservedSystemCPUs": "0,99"}, "99"),
        ({**_STATIC, "reservedSystemCPUs": "0;1"}, "0;1"),
        ({"memoryManagerPolicy": "static"}, "static"),
        ({"memoryManagerPolicy": "Static", "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]},
         "104857600"),
        ({"memoryManagerPolicy": "Static", "reservedMemory": [{"numaNode": 9, "limits": {"memory": "100Mi"}}]}, "9"),
        ({"systemReserved": {"memory": "100Ti"}}, "memory are reserved"),
        ({"kubeReserved": {"memory": "lots"}}, "lots"),
    ],
)  # fmt: skip
def test_what_the_kubelet_refuses_is_told(config: dict[str, Any], words: str, tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, config)
    state = _restart_empty(root)
    assert state.state == "failed"
    assert words in state.reason


def test_reserved_memory_that_adds_up_is_recorded_by_node(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    reserved = [{"numaNode": node, "limits": {"memory": "550Mi"}} for node in (0, 1)]
    _drop_in(root, {"memoryManagerPolicy": "Static", "kubeReserved": {"memory": "1000Mi"}, "reservedMemory": reserved})
    assert _restart_empty(root) == KubeletState("running")
    table = json.loads(text_of(root, MEMORY_STATE))["machineState"]["1"]["memoryMap"]["memory"]
    assert table["systemReserved"] == 550 << 20
    assert table["free"] == table["total"] - (550 << 20)
    assert _restart(root) == KubeletState("running")
    moved = [{"numaNode": 0, "limits": {"memory": "1100Mi"}}]
    _drop_in(root, {"memoryManagerPolicy": "Static", "kubeReserved": {"memory": "1000Mi"}, "reservedMemory": moved})
    assert "machine state" in _restart(root).reason


def test_new_hugepages_make_the_memory_checkpoint_stale(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    reserved = [{"numaNode": 0, "limits": {"memory": "100Mi"}}]
    _drop_in(root, {"memoryManagerPolicy": "Static", "reservedMemory": reserved})
    assert _restart_empty(root).state == "running"
    (root / "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages").write_text("64\n")
    settle(root)
    assert "machine state" in _restart(root).reason


def test_later_drop_ins_and_then_flags_win(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, {"maxPods": 10, "kubeReserved": {"cpu": "1", "memory": "1Gi"}}, "10-a.conf")
    _drop_in(root, {"maxPods": 20, "kubeReserved": {"memory": "2Gi"}}, "20-b.conf")
    _drop_in(root, {"maxPods": 30}, "30-c.conf.bak")
    config = _config(root)
    assert config["maxPods"] == 20
    assert config["kubeReserved"] == {"cpu": "1", "memory": "2Gi"}
    (root / "etc/default/kubelet").write_text(
        f'KUBELET_EXTRA_ARGS="--config-dir={DROPINS} --cpu-manager-policy=static --kube-reserved=cpu=3"\n'
    )
    config = _config(root)
    assert config["cpuManagerPolicy"] == "static"
    assert config["kubeReserved"] == {"cpu": "3"}


def test_eviction_of_the_main_file_replaces_and_of_a_drop_in_merges(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, {"evictionHard": {"memory.available": "2Gi"}})
    assert _config(root)["evictionHard"]["nodefs.available"] == "10%"
    with (root / CONFIG.lstrip("/")).open("a") as main:
        main.write("evictionHard:\n  memory.available: 1Gi\n")
    assert _config(root)["evictionHard"] == {"memory.available": "2Gi"}


def test_without_the_flag_no_drop_in_is_read(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    (root / "etc/default/kubelet").write_text("KUBELET_EXTRA_ARGS=\n")
    _drop_in(root, _STATIC)
    assert _config(root)["cpuManagerPolicy"] == "none"


@pytest.mark.parametrize("text", ["", "kind: KubeletConfiguration\n", "a: [\n", "kind: Other\napiVersion: v1\n"])
def test_a_drop_in_that_is_no_configuration_stops_the_start(text: str, tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    (root / DROPINS.lstrip("/") / "50-x.conf").write_text(text)
    state = _restart(root)
    assert state.state == "failed"
    assert f"{DROPINS}/50-x.conf" in state.reason


@pytest.mark.parametrize(
    ("flag", "key", "value"),
    [
        ("--fail-swap-on=false", "failSwapOn", False),
        ("--protect-kernel-defaults", "protectKernelDefaults", True),
        ("--reserved-cpus 0-1", "reservedSystemCPUs", "0-1"),
        ("--feature-gates=MemoryQoS=true,NodeSwap=false", "featureGates", {"MemoryQoS": True, "NodeSwap": False}),
        ("--eviction-hard=memory.available<1Gi", "evictionHard", {"memory.available": "1Gi"}),
        ("--reserved-memory=0:memory=1Gi;1:memory=2Gi,hugepages-1Gi=1Gi", "reservedMemory",
         [{"numaNode": 0, "limits": {"memory": "1Gi"}},
          {"numaNode": 1, "limits": {"memory": "2Gi", "hugepages-1Gi": "1Gi"}}]),
    ],
)  # fmt: skip
def test_flags_win_over_every_file(flag: str, key: str, value: object, tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, {"reservedSystemCPUs": "7", "evictionHard": {"memory.available": "9Gi"}})
    (root / "etc/default/kubelet").write_text(f"# none\nKUBELET_EXTRA_ARGS='--config-dir={DROPINS} {flag}'\n")
    assert _config(root)[key] == value


def test_null_in_a_later_drop_in_takes_away_what_stood_before(tmp_path: Path) -> None:
    root = node_tree(tmp_path)
    _drop_in(root, {"evictionHard": {"memory.available": "9Gi"}, "maxPods": 5}, "10-a.conf")
    _drop_in(root, {"evictionHard": None, "maxPods": None}, "20-b.conf")
    config = _config(root)
    assert config["maxPods"] == 110
    # The kubelet puts the default thresholds in where it reads the main file, and nowhere else.
    assert config["evictionHard"] == {}
