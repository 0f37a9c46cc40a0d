"""A machine comes into the cluster once, goes on after an interruption, and is never reset."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.tunectl.node.plugins.module_utils import bootstrap_programs, kubeadm_entry
from ansible_collections.tunectl.node.plugins.module_utils.bootstrap_files import note, standing
from ansible_collections.tunectl.node.plugins.module_utils.core.bootstrap.ca_hash import ca_hash
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import FailedError, RefusedError
from ansible_collections.tunectl.node.plugins.module_utils.kubeadm_entry import Entry, enter
from support.kube_programs import install, said

from tunectl.core.bootstrap.cluster import Member, read_cluster
from tunectl.core.bootstrap.documents import JoinSecrets, init_documents, join_documents
from tunectl.render.yaml_text import yaml_stream, yaml_text

TOKEN = "abcdef.0123456789abcdef"  # noqa: S105  of a stand-in
CLUSTER = read_cluster({"tunectl_kube_version": "1.33.2", "tunectl_kube_endpoint": "api:6443"}, ["cp-1"])


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("ca")
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-subj", "/CN=kubernetes", "-keyout", str(folder / "key"), "-out", str(folder / "crt")]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "crt").read_text(encoding="utf-8")


@pytest.fixture
def root(tmp_path: Path, authority: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    programs = install(tmp_path)
    (tmp_path / "ca.pem").write_text(authority, encoding="utf-8")
    monkeypatch.setattr(bootstrap_programs, "PATHS", f"{programs}:{bootstrap_programs.PATHS}")
    return tmp_path


def text_of(documents: tuple[dict[str, Any], ...]) -> str:
    return yaml_stream(yaml_text(one) for one in documents)


def init() -> Entry:
    config = text_of(init_documents(CLUSTER, Member("cp-1", "192.0.2.11", is_control_plane=True)))
    return Entry("init", "cp-1", config, "/etc/kubernetes/patches", {"kubelet.yaml": "a: 1\n"})


def join(authority_hash: str) -> Entry:
    secrets = JoinSecrets(TOKEN, (authority_hash,))
    config = text_of(join_documents(CLUSTER, Member("w-1", taints=("a=b:NoSchedule",)), "api:6443", secrets))
    return Entry("join", "w-1", config, "/etc/kubernetes/patches", authority=authority_hash)


def test_the_first_control_plane_is_made_once(root: Path) -> None:
    done = enter(str(root), init())
    assert (done.changed, done.standing, done.resumed) == (True, "member", False)
    assert done.authority.startswith("sha256:")
    (command,) = said(root)
    assert command.endswith("kubeadm-init.yaml --skip-token-print --skip-certificate-key-print")
    kinds = [one["kind"] for one in json.loads((root / "documents.json").read_text(encoding="utf-8"))]
    assert kinds == ["InitConfiguration", "ClusterConfiguration", "KubeletConfiguration"]
    assert (root / "etc/kubernetes/patches/kubelet.yaml").read_text(encoding="utf-8") == "a: 1\n"
    # no document outlives kubeadm
    assert list((root / "run/tunectl").iterdir()) == []
    assert standing(str(root), "cp-1").standing.value == "member"

    again = enter(str(root), init())
    assert (again.changed, again.authority) == (False, done.authority)
    assert len(said(root)) == 1


def test_a_worker_joins_what_it_knows_by_its_hash_and_no_secret_stays(root: Path, authority: str) -> None:
    expected = ca_hash(authority)
    done = enter(str(root), join(expected))
    assert done.authority == expected
    assert TOKEN not in " ".join(said(root))
    left = [path for path in root.rglob("*") if path.is_file() and "programs" not in path.parts]
    holders = [path.name for path in left if TOKEN in path.read_text(encoding="utf-8", errors="replace")]
    assert holders == ["documents.json"]  # the stand-in's own notes


def test_check_mode_runs_nothing(root: Path) -> None:
    done = enter(str(root), init(), dry=True)
    assert (done.changed, done.standing) == (True, "bare")
    assert said(root) == []
    assert not (root / "var/lib/tunectl").exists()


def test_an_interrupted_entry_goes_on_and_ignores_only_what_it_left_itself(root: Path, authority: str) -> None:
    (root / "fail-kubeadm").touch()
    entry = join(ca_hash(authority))
    with pytest.raises(FailedError, match="TUN-4730") as caught:
        enter(str(root), entry)
    told = f"{caught.value} {caught.value.problems}"
    assert TOKEN not in told
    assert "f" * 64 not in told
    assert "timed out" in told
    assert standing(str(root), "w-1").standing.value == "unfinished"
    (root / "fail-kubeadm").unlink()
    done = enter(str(root), entry)
    assert (done.changed, done.resumed) == (True, True)
    ignored = said(root)[-1].partition("--ignore-preflight-errors=")[2].split(",")
    assert "FileAvailable--etc-kubernetes-pki-ca.crt" in ignored
    assert "all" not in ignored
    assert not enter(str(root), entry).changed


def test_an_entry_that_ended_while_nobody_looked_is_closed_without_kubeadm(root: Path, authority: str) -> None:
    entry = join(ca_hash(authority))
    enter(str(root), entry)
    note(str(root), "join", "started", entry.authority)
    done = enter(str(root), replace(entry, is_ready=True))
    assert (done.changed, done.resumed, done.standing) == (True, True, "member")
    assert len(said(root)) == 1


def test_half_a_control_plane_is_refused_with_the_way_out(root: Path, authority: str) -> None:
    entry = join(ca_hash(authority))
    enter(str(root), entry)
    note(str(root), "join", "started", entry.authority)
    with pytest.raises(RefusedError, match="TUN-3732") as caught:
        enter(str(root), replace(entry, is_ready=True, is_control_plane=True))
    assert "kubeadm reset" in caught.value.problems[0].fix


@pytest.mark.parametrize("trace", ["etc/kubernetes/admin.conf", "etc/kubernetes/kubelet.conf", "var/lib/etcd/member"])
def test_a_machine_of_others_is_left_alone(root: Path, trace: str) -> None:
    (root / trace).parent.mkdir(parents=True)
    (root / trace).write_text("theirs", encoding="utf-8")
    with pytest.raises(RefusedError, match="TUN-3731"):
        enter(str(root), init())
    assert said(root) == []
    assert (root / trace).read_text(encoding="utf-8") == "theirs"
    assert not (root / "var/lib/tunectl").exists()


def test_a_member_of_another_cluster_is_refused(root: Path, authority: str) -> None:
    enter(str(root), join(ca_hash(authority)))
    with pytest.raises(RefusedError, match="TUN-3731"):
        enter(str(root), join("sha256:" + "0" * 64))


def test_kubeadm_that_leaves_the_wrong_authority_is_not_believed(root: Path) -> None:
    with pytest.raises(FailedError, match="TUN-4731"):
        enter(str(root), join("sha256:" + "0" * 64))


def test_a_document_that_kubeadm_does_not_know_is_its_error(root: Path) -> None:
    bad = replace(init(), config=init().config.replace("bootstrapTokens", "bootstrapTokenz"))
    with pytest.raises(FailedError, match="unknown field"):
        enter(str(root), bad)


def test_tokens_are_made_and_taken_back_by_their_public_half(root: Path) -> None:
    token = kubeadm_entry.make_token("30m0s")
    assert token == TOKEN
    kubeadm_entry.delete_token(token)
    key = init_documents(CLUSTER, Member("cp-1", is_control_plane=True), "a" * 64)
    kubeadm_entry.upload_certificates(str(root), text_of(key))
    lines = said(root)
    assert "--ttl 30m0s" in lines[0]
    assert lines[1] == "kubeadm token delete abcdef --kubeconfig /etc/kubernetes/admin.conf"
    assert lines[2].startswith("kubeadm init phase upload-certs --upload-certs --config ")
    assert TOKEN not in " ".join(lines)
    assert "a" * 64 not in " ".join(lines)
