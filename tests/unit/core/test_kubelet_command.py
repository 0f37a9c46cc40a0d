from collections.abc import Mapping

import pytest

from tunectl.core.kubelet_command import KubeletCommand, has_kubelet, kubelet_command
from tunectl.core.kubelet_flags import flag_fields, read_flags
from tunectl.core.kubelet_state import configuration_files, kubelet_state
from tunectl.core.snapshot import Snapshot

_UNIT = "/usr/lib/systemd/system/kubelet.service"
_DROPIN = """[Service]
Environment="A=--kubeconfig=/k" 'B=--config=/var/lib/kubelet/config.yaml'
# Environment="A=--wrong"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
EnvironmentFile=-/etc/none
ExecStart=
ExecStart=/usr/bin/kubelet $A ${B} \\
  $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS $UNSET --v=2
"""


def _snapshot(files: Mapping[str, str]) -> Snapshot:
    listings: dict[str, tuple[str, ...]] = {}
    for path in files:
        directory, _slash, name = path.rpartition("/")
        listings[directory] = (*listings.get(directory, ()), name)
    return Snapshot("n", files, listings=listings)


def test_the_running_process_speaks_first() -> None:
    files = {
        "/proc/1/comm": "systemd\n",
        "/proc/1/cmdline": "/sbin/init\0kubelet\0",
        "/proc/7/comm": "kubelet\n",
        "/proc/7/cmdline": "/usr/bin/kubelet\0--config\0/k.yaml\0",
        _UNIT: "[Service]\nExecStart=/usr/bin/kubelet --config=/other\n",
    }
    assert kubelet_command(_snapshot(files)) == KubeletCommand(("--config", "/k.yaml"), "/proc/7/cmdline")


def test_a_dead_process_leaves_the_word_to_the_unit() -> None:
    files = {"/proc/7/comm": "kubelet\n", _UNIT: "[Service]\nExecStart=/usr/bin/kubelet --config=/other\n"}
    assert kubelet_command(_snapshot(files)).flag("config") == "/other"


def test_the_unit_is_read_as_systemd_reads_it() -> None:
    files = {
        _UNIT: "[Service]\nExecStart=/usr/bin/kubelet --wrong\n",
        f"{_UNIT}.d/10-kubeadm.conf": _DROPIN,
        f"{_UNIT}.d/notes.txt": "ExecStart=\nExecStart=/wrong\n",
        "/var/lib/kubelet/kubeadm-flags.env": 'KUBELET_KUBEADM_ARGS="--max-pods=9 --node-labels=a=b"\n',
        "/etc/default/kubelet": "KUBELET_EXTRA_ARGS=--config-dir=/etc/kubernetes/kubelet.conf.d/\n",
    }
    command = kubelet_command(_snapshot(files))
    assert command.words == (
        "--kubeconfig=/k",
        "--config=/var/lib/kubelet/config.yaml",
        "--max-pods=9",
        "--node-labels=a=b",
        "--config-dir=/etc/kubernetes/kubelet.conf.d/",
        "--v=2",
    )
    assert command.source == f"{_UNIT}.d/10-kubeadm.conf"


def test_the_administrators_files_hide_the_packages() -> None:
    files = {
        _UNIT: "[Service]\nExecStart=/usr/bin/kubelet --package\n",
        f"{_UNIT}.d/10-a.conf": "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --package-dropin\n",
        "/etc/systemd/system/kubelet.service": "[Service]\nExecStart=/usr/bin/kubelet --admin\n",
        "/etc/systemd/system/kubelet.service.d/10-a.conf": "[Service]\nEnvironment=X=1\n",
    }
    assert kubelet_command(_snapshot(files)).words == ("--admin",)


def test_an_empty_assignment_resets_a_list() -> None:
    unit = "[Service]\nEnvironment=A=--old\nEnvironment=\nExecStart=/usr/bin/kubelet --x $A\n"
    assert kubelet_command(_snapshot({_UNIT: unit})).words == ("--x",)
    assert kubelet_command(_snapshot({_UNIT: f"{unit}ExecStart=\n"})) == KubeletCommand()


def test_an_open_quote_does_not_stop_reading() -> None:
    files = {_UNIT: "[Service]\nEnvironment=A='--x y\nExecStart=/usr/bin/kubelet $A --y\n"}
    assert kubelet_command(_snapshot(files)).words[-1] == "--y"


def test_flags() -> None:
    command = KubeletCommand(("--a=1", "--b", "2", "--c", "--a=3", "-v", "4"))
    assert list(command.flags()) == [("a", "1"), ("b", "2"), ("c", ""), ("a", "3"), ("v", "4")]
    assert (command.flag("a"), command.flag("none")) == ("3", "")


def test_fields_of_flags() -> None:
    words = (
        "--cpu-manager-policy=static",
        "--cpu-manager-policy-options=full-pcpus-only=true,x=y",
        "--cpu-manager-policy-options=z=1",
        "--max-pods=many",
        "--pods-per-core=4",
        "--fail-swap-on",
        "--cpu-cfs-quota=false",
        "--eviction-hard=memory.available<1Gi,nodefs.available<10%",
        "--eviction-soft-grace-period=memory.available=1m",
        "--reserved-memory=0:memory=1Gi,hugepages-2Mi=4Mi;1:memory=2Gi",
        "--feature-gates=A=true,B=false",
        "--feature-gates=B=1",
        "--enforce-node-allocatable=pods,kube-reserved",
        "--hostname-override=n",
    )
    assert [flag for flag, _why in read_flags(KubeletCommand(words)).faults] == ["--max-pods"]
    assert flag_fields(KubeletCommand(words)) == {
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": {"full-pcpus-only": "true", "x": "y", "z": "1"},
        "podsPerCore": 4,
        "failSwapOn": True,
        "cpuCFSQuota": False,
        "evictionHard": {"memory.available": "1Gi", "nodefs.available": "10%"},
        "evictionSoftGracePeriod": {"memory.available": "1m"},
        "reservedMemory": [
            {"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": "4Mi"}},
            {"numaNode": 1, "limits": {"memory": "2Gi"}},
        ],
        "featureGates": {"A": True, "B": True},
        "enforceNodeAllocatable": ["pods", "kube-reserved"],
    }


@pytest.mark.parametrize(
    ("files", "facts", "present"),
    [
        ({}, {}, False),
        ({}, {"kubelet_binary": "/usr/bin/kubelet"}, True),
        ({_UNIT: ""}, {}, True),
        ({"/var/lib/kubelet/config.yaml": ""}, {}, True),
        ({"/proc/7/comm": "kubelet", "/proc/7/cmdline": "kubelet\0--x\0"}, {}, True),
    ],
)
def test_signs_of_a_kubelet(files: dict[str, str], facts: dict[str, str], *, present: bool) -> None:
    snapshot = Snapshot("n", files, facts=facts)
    assert has_kubelet(snapshot, kubelet_command(snapshot)) is present
    assert kubelet_state(snapshot, {}).present is present


def _running(*flags: str, **listings: tuple[str, ...]) -> Snapshot:
    files = {"/proc/7/comm": "kubelet\n", "/proc/7/cmdline": "\0".join(("kubelet", *flags)) + "\0"}
    return Snapshot("n", files, listings={f"/d{path}": names for path, names in listings.items()})


def test_configuration_files_come_in_the_order_in_which_they_count() -> None:
    snapshot = _running(
        "--config=/k.yaml",
        "--config-dir=/d/",
        **{"": ("20-b.conf", "05-s", "10-a.conf", "x.yaml"), "/05-s": ("9.conf",)},
    )
    assert configuration_files(snapshot) == ("/k.yaml", "/d/05-s/9.conf", "/d/10-a.conf", "/d/20-b.conf")


def test_without_flags_the_usual_file_is_assumed_only_when_nothing_tells() -> None:
    assert configuration_files(_running("--v=2")) == ()
    assert configuration_files(Snapshot("n", {})) == ("/var/lib/kubelet/config.yaml",)


def test_dropins_count_without_a_main_file() -> None:
    snapshot = _running("--config-dir=/d", **{"": ("1.conf",)})
    snapshot = Snapshot("n", {**snapshot.files, "/d/1.conf": ""}, listings=snapshot.listings)
    head = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    state = kubelet_state(snapshot, {"/d/1.conf": {**head, "maxPods": 5}})
    assert (state.main_file, state.config_dir, state.config["maxPods"]) == ("", "/d", 5)


@pytest.mark.parametrize(
    ("document", "trouble"),
    [
        (None, "config.yaml: the file is empty"),
        ([], "config.yaml: the file is no map"),
        ({"kind": "KubeletConfiguration"}, "must say apiVersion: kubelet.config.k8s.io/v1beta1 and"),
    ],
)
def test_a_file_on_which_the_kubelet_does_not_start(document: object, trouble: str) -> None:
    snapshot = Snapshot("n", {"/var/lib/kubelet/config.yaml": "", _UNIT: ""})
    state = kubelet_state(snapshot, {"/var/lib/kubelet/config.yaml": document})
    assert trouble in state.trouble
    assert not state.config


def test_a_file_that_could_not_be_read_is_trouble() -> None:
    snapshot = _running("--config=/k.yaml")
    unreadable = Snapshot("n", snapshot.files, unreadable={"/k.yaml": "permission denied"})
    assert kubelet_state(unreadable, {}).trouble.startswith("/k.yaml: it could not be read: permission denied;")


def test_flags_count_although_no_file_is_there() -> None:
    snapshot = Snapshot("n", {_UNIT: "[Service]\nExecStart=/usr/bin/kubelet --max-pods=7\n"})
    state = kubelet_state(snapshot, {})
    assert (state.trouble, state.config["maxPods"], state.sources) == ("", 7, {"maxPods": _UNIT})
