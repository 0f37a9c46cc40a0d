"""What kubeadm is given."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from support.kubeadm_fields import unknown_fields

from tunectl.core.bootstrap.ca_hash import ca_hash
from tunectl.core.bootstrap.cluster import Member, endpoint_host, is_node_name, read_cluster
from tunectl.core.bootstrap.documents import JoinSecrets, init_documents, join_documents, self_set_labels, taint_of
from tunectl.core.bootstrap.version import Version, parse_version, skew_breaches
from tunectl.core.errors import InputError

VARIABLES = {
    "tunectl_kube_version": "1.33.2",
    "tunectl_kube_endpoint": "k8s.example.com",
    "tunectl_kube_pod_subnet": "10.244.0.0/16",
    "tunectl_kube_cert_sans": ["api.example.com"],
    "tunectl_kube_kubelet": {"maxPods": 200, "cgroupDriver": "cgroupfs"},
    "other": 1,
}
CLUSTER = read_cluster(VARIABLES, ["cp-1", "cp-2"])
SECRETS = JoinSecrets("abcdef.0123456789abcdef", ("sha256:" + "0" * 64,), "f" * 64)
WORKER = Member(
    "w-1",
    "192.0.2.21",
    labels={"example.com/pool": "hpc", "node-role.kubernetes.io/hpc": "", "node.kubernetes.io/rack": "7"},
    taints=("dedicated=hpc:NoSchedule", "quiet:NoExecute"),
)


def test_the_first_control_plane_gets_three_documents_that_kubeadm_knows() -> None:
    init, cluster, kubelet = init_documents(CLUSTER, Member("cp-1", "192.0.2.11", is_control_plane=True))
    assert unknown_fields(init) == unknown_fields(cluster) == []
    assert cluster["kubernetesVersion"] == "v1.33.2"
    assert cluster["controlPlaneEndpoint"] == "k8s.example.com:6443"
    assert cluster["apiServer"] == {"certSANs": ["api.example.com"]}
    assert init["nodeRegistration"]["taints"] == [
        {"effect": "NoSchedule", "key": "node-role.kubernetes.io/control-plane"}
    ]
    assert init["localAPIEndpoint"] == {"advertiseAddress": "192.0.2.11"}
    assert init["patches"] == {"directory": "/etc/kubernetes/patches"}
    # kubeadm makes the token up: none is written into a file, and it dies within the hour
    assert all("token" not in one and one["ttl"] == "1h0m0s" for one in init["bootstrapTokens"])
    assert kubelet["cgroupDriver"] == "systemd"
    assert kubelet["maxPods"] == 200
    assert "certificateKey" not in init


def test_a_worker_joins_with_what_a_kubelet_may_say_of_itself() -> None:
    (join,) = join_documents(CLUSTER, WORKER, "192.0.2.11:6443", SECRETS)
    assert unknown_fields(join) == []
    assert "controlPlane" not in join
    arguments = {one["name"]: one["value"] for one in join["nodeRegistration"]["kubeletExtraArgs"]}
    assert arguments == {"node-ip": "192.0.2.21", "node-labels": "example.com/pool=hpc,node.kubernetes.io/rack=7"}
    assert join["nodeRegistration"]["taints"] == [
        {"effect": "NoSchedule", "key": "dedicated", "value": "hpc"},
        {"effect": "NoExecute", "key": "quiet"},
    ]
    token = join["discovery"]["bootstrapToken"]
    assert token["caCertHashes"] == list(SECRETS.ca_hashes)
    assert "unsafeSkipCAVerification" not in token


def test_a_further_control_plane_brings_the_key_of_the_certificates() -> None:
    (join,) = join_documents(CLUSTER, Member("cp-2", "192.0.2.12", is_control_plane=True), "a:6443", SECRETS)
    assert unknown_fields(join) == []
    assert join["controlPlane"] == {
        "certificateKey": "f" * 64,
        "localAPIEndpoint": {"advertiseAddress": "192.0.2.12"},
    }


def test_secrets_do_not_show() -> None:
    assert SECRETS.token not in repr(SECRETS)
    assert SECRETS.certificate_key not in f"{SECRETS}"


def test_labels_that_the_api_server_refuses_from_a_kubelet_are_left_to_others() -> None:
    labels = dict.fromkeys(
        (
            "pool",
            "example.com/x",
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
            "foo.node.kubernetes.io/x",
            "node-role.kubernetes.io/worker",
            "node-restriction.kubernetes.io/x",
            "k8s.io/x",
            "a.k8s.io/x",
            "kubernetes.io/x",
        ),
        "",
    )
    assert list(self_set_labels(labels)) == list(labels)[:5]


@pytest.mark.parametrize(
    ("variables", "codes"),
    [
        ({}, ["TUN-1920"]),
        ({"tunectl_kube_version": 1.33}, ["TUN-1921"]),
        ({"tunectl_kube_version": "1.30.4"}, ["TUN-1921"]),
        ({"tunectl_kube_version": "1.33.2", "tunectl_kube_pod_subnet": "10.0.0.1/8"}, ["TUN-1921"]),
        ({"tunectl_kube_version": "1.33.2", "tunectl_kube_endpoint": "a:b"}, ["TUN-1921"]),
        ({"tunectl_kube_version": "1.33.2", "tunectl_kube_patches_dir": "patches"}, ["TUN-1921"]),
        ({"tunectl_kube_version": "1.33.2", "tunectl_kube_cri_socket": "/run/x.sock"}, ["TUN-1921"]),
    ],
)
def test_variables_that_cannot_be_are_all_named(variables: dict[str, object], codes: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_cluster(variables, ["cp-1"])
    assert [one.code for one in caught.value.problems] == codes
    assert all(one.fix and one.why and "tunectl_kube_" in one.where for one in caught.value.problems)


def test_control_planes_must_be_and_must_have_an_endpoint_in_common() -> None:
    with pytest.raises(InputError, match="TUN-1922"):
        read_cluster({"tunectl_kube_version": "1.33.2"}, [])
    with pytest.raises(InputError, match="TUN-1923"):
        read_cluster({"tunectl_kube_version": "1.33.2"}, ["a", "b"])
    assert endpoint_host(read_cluster({"tunectl_kube_version": "v1.33.2"}, ["a"])) == ""
    six = read_cluster({"tunectl_kube_version": "1.33.2", "tunectl_kube_endpoint": "[2001:db8::1]:6443"}, ["a"])
    assert endpoint_host(six) == "2001:db8::1"


def test_node_names() -> None:
    assert all(is_node_name(one) for one in ("a", "cp-1.example.com", "10-0-0-1"))
    assert not any(is_node_name(one) for one in ("", "A", "a_b", "-a", "a-", "a..b", "a.-b", "a" * 254))


@pytest.mark.parametrize(
    ("programs", "wrong"),
    [
        ({"kubeadm": "1.33.1", "kubelet": "1.33.2", "kubectl": "1.34.0"}, []),
        ({"kubeadm": "1.34.0", "kubelet": "1.30.0"}, []),
        ({"kubeadm": "1.32.9"}, ["kubeadm"]),
        ({"kubeadm": "1.35.0"}, ["kubeadm"]),
        ({"kubelet": "1.34.0"}, ["kubelet"]),
        ({"kubelet": "1.29.9"}, ["kubelet"]),
        ({"kubectl": "1.31.0"}, ["kubectl"]),
    ],
)
def test_skew(programs: dict[str, str], wrong: list[str]) -> None:
    known = {name: version for name, text in programs.items() if (version := parse_version(text))}
    assert len(known) == len(programs)
    assert [name for name, _ in skew_breaches(Version(1, 33, 2), known)] == wrong


def test_versions_are_read_strictly() -> None:
    assert str(parse_version("v1.33.2-rc.1")) == "v1.33.2"
    assert parse_version("1.33") == Version(1, 33)
    assert [parse_version(one) for one in ("", "1", "1.33.2.1", "v1.x", "stable")] == [None] * 5


def test_taints() -> None:
    assert taint_of("a.b/c=d:NoSchedule") == {"effect": "NoSchedule", "key": "a.b/c", "value": "d"}


def test_the_hash_of_an_authority_is_that_of_openssl(tmp_path: Path) -> None:
    for number, kind in enumerate((["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"])):
        key, certificate = tmp_path / f"{number}.key", tmp_path / f"{number}.crt"
        subject = ["-subj", "/CN=kubernetes", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(
            ["openssl", "req", "-x509", "-nodes", "-newkey", *kind, *subject], check=True, capture_output=True
        )
        public = ["openssl", "x509", "-pubkey", "-noout", "-in", str(certificate)]
        pem = subprocess.run(public, check=True, capture_output=True).stdout
        der = subprocess.run(
            ["openssl", "pkey", "-pubin", "-outform", "der"], input=pem, check=True, capture_output=True
        ).stdout
        digest = subprocess.run(["sha256sum"], input=der, check=True, capture_output=True, text=False).stdout
        assert ca_hash(certificate.read_text(encoding="utf-8")) == f"sha256:{digest.decode().split()[0]}"
        damaged = certificate.read_text(encoding="utf-8").splitlines()
        with pytest.raises(ValueError, match="certificate"):
            ca_hash("\n".join([*damaged[:3], damaged[-1]]))
    with pytest.raises(ValueError, match="no PEM"):
        ca_hash("")


def test_documents_are_plain_data() -> None:
    for document in init_documents(CLUSTER, WORKER):
        assert json.loads(json.dumps(document)) == document
