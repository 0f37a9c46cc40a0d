"""A kubelet of kubeadm's packages reads no drop-ins: a drop-in of its unit changes that, and stays."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.snapshots import snapshot_of
from support.tuning import machine

from tunectl.core.kubelet_config_dir import DEFAULT_KUBELET_DIR, OWN_UNIT_FILE
from tunectl.core.plan import NodePlan
from tunectl.core.snapshot import Snapshot
from tunectl.core.tier import KubeletSpec, Tier
from tunectl.planning.pool import plan_pool

UNIT = "[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n"
KUBEADM = """\
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""
DROPIN = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
TIER = Tier("t", kubelet=KubeletSpec(max_pods=42))


def node(version: str = "1.31.2", dropin: str = KUBEADM, **more: str) -> Snapshot:
    files = {
        "/var/lib/kubelet/config.yaml": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n",
        "/usr/lib/systemd/system/kubelet.service": UNIT,
        DROPIN: dropin,
        "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu memory\n",
        **more,
    }
    directories = {path.rpartition("/")[0] for path in (DROPIN, *more)}
    listings = {
        one: tuple(path.rpartition("/")[2] for path in files if path.startswith(f"{one}/")) for one in directories
    }
    base = snapshot_of(machine(), "n1", files)
    facts = {**base.facts, "kubelet_version": version}
    return replace(base, facts=facts, listings={**base.listings, **listings, "/proc/sys": ("kernel", "vm")})


def planned(snapshot: Snapshot) -> NodePlan:
    return plan_pool(TIER, [snapshot]).nodes[0]


def test_the_directory_is_given_to_the_kubelet_by_a_file_of_our_own() -> None:
    plan = planned(node())
    assert [one.id for one in plan.findings if one.blocks] == []
    files = {item.path: item.content for item in plan.files}
    assert set(files) == {f"{DEFAULT_KUBELET_DIR}/99-tunectl.conf", OWN_UNIT_FILE}
    line = f'Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml --config-dir={DEFAULT_KUBELET_DIR}"'
    assert line in files[OWN_UNIT_FILE].splitlines()
    assert "ALPHA" not in files[OWN_UNIT_FILE]
    assert {"daemon-reload", "kubelet-restart"} <= set(plan.actions)


def test_after_that_nothing_is_left_to_do_and_the_file_stays() -> None:
    files = {item.path: item.content for item in planned(node()).files}
    again = planned(node(**files))
    assert [change.setting for change in again.changes] == []
    assert {item.path for item in again.files} == set(files)


def test_older_kubelets_need_a_variable_too() -> None:
    files = {item.path: item.content for item in planned(node(version="1.29.0")).files}
    assert 'Environment="KUBELET_CONFIG_DROPIN_DIR_ALPHA=1"' in files[OWN_UNIT_FILE].splitlines()
    assert planned(node(version="1.29.0", **files)).changes == ()


@pytest.mark.parametrize(
    ("version", "dropin"),
    [
        ("1.27.9", KUBEADM),
        ("", KUBEADM),
        ("1.31.2", KUBEADM.replace(" $KUBELET_CONFIG_ARGS", " --config=/var/lib/kubelet/config.yaml")),
        ("1.31.2", KUBEADM.replace("--config=/var/lib/kubelet/config.yaml", "--config=/var/lib/kubelet/$X.yaml")),
    ],
)
def test_where_that_cannot_work_the_plan_is_blocked_with_the_way(version: str, dropin: str) -> None:
    plan = planned(node(version, dropin))
    assert [one.id for one in plan.findings if one.blocks] == ["kubelet.config-dir"]
    assert OWN_UNIT_FILE not in [item.path for item in plan.files]


def test_a_directory_that_somebody_else_gave_is_used_as_it_is() -> None:
    theirs = KUBEADM.replace('config.yaml"', 'config.yaml --config-dir=/etc/mine.d"')
    plan = planned(node(dropin=theirs))
    assert [item.path for item in plan.files] == ["/etc/mine.d/99-tunectl.conf"]
