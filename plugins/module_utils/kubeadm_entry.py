# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Runs kubeadm on a machine, once: what is in the cluster stays, what was interrupted goes on, others are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .bootstrap_files import note, place, read_text, short_lived, standing, write_whole
from .bootstrap_programs import must
from .core.bootstrap.ca_hash import ca_hash
from .core.bootstrap.membership import Membership, Standing
from .core.bootstrap.places import ADMIN_CONF, CA_FILE, KUBELET_CONF
from .core.errors import FailedError, RefusedError, problem

# What an interrupted kubeadm of ours leaves, by the names of its own preflight checks; never `all`.
# Source: kubeadm cmd/preflight/checks.go, FileAvailable, DirAvailable and Port checks.
_OWN_LEFTOVERS = {
    "init": (
        "FileAvailable--etc-kubernetes-manifests-kube-apiserver.yaml",
        "FileAvailable--etc-kubernetes-manifests-kube-controller-manager.yaml",
        "FileAvailable--etc-kubernetes-manifests-kube-scheduler.yaml",
        "FileAvailable--etc-kubernetes-manifests-etcd.yaml",
        "DirAvailable--var-lib-etcd",
        "Port-6443",
        "Port-10250",
        "Port-10257",
        "Port-10259",
        "Port-2379",
        "Port-2380",
    ),
    "join": (
        "DirAvailable--etc-kubernetes-manifests",
        "FileAvailable--etc-kubernetes-bootstrap-kubelet.conf",
        "FileAvailable--etc-kubernetes-kubelet.conf",
        "FileAvailable--etc-kubernetes-pki-ca.crt",
        "Port-10250",
    ),
}
_CONTROL_PLANE_FILES = ("/etc/kubernetes/manifests/kube-apiserver.yaml", "/etc/kubernetes/manifests/etcd.yaml")
_TOKEN = re.compile(r"^([a-z0-9]{6})\.[a-z0-9]{16}$", re.MULTILINE)
_TIMEOUT_S = 1200


@dataclass(frozen=True)
class Entry:
    """How a machine shall come into the cluster.

    Shape: `role` is init or join; `config` the documents as YAML; `patches` file name -> text; `authority` the hash of
    the cluster that it joins, empty for init; `is_ready` whether the cluster already has its node, ready.
    """

    role: str
    node: str
    config: str
    patches_dir: str
    patches: Mapping[str, str] = field(default_factory=dict)
    authority: str = ""
    is_ready: bool = False
    is_control_plane: bool = False


@dataclass(frozen=True)
class Entered:
    """What was done. Shape: `resumed` whether an interrupted entry was gone on with."""

    changed: bool
    standing: str
    authority: str
    resumed: bool = False


def enter(root: str, entry: Entry, *, dry: bool = False) -> Entered:
    """Bring a machine into the cluster and return what was done; a member is left as it is.

    Shape: the journal is written before kubeadm starts and closed when it has ended well, so that whoever comes next
    knows whose the files are. The documents are in a file only while kubeadm reads them.
    Sad paths: `RefusedError` TUN-3731 for a machine of another cluster, TUN-3732 for one that stopped where kubeadm
    cannot go on; `FailedError` TUN-4730 when kubeadm fails, TUN-4731 when it left no node behind.
    """
    found = standing(root, entry.node)
    _refuse_others(found, entry)
    if found.standing is Standing.MEMBER:
        return Entered(changed=False, standing=found.standing.value, authority=found.ca)
    resumed = found.standing is Standing.PARTIAL
    if dry:
        return Entered(changed=True, standing=found.standing.value, authority=found.ca, resumed=resumed)
    if resumed and entry.role == "join" and entry.is_ready:
        _refuse_half(root, entry)
    else:
        _run_kubeadm(root, entry, resumed=resumed)
    return Entered(changed=True, standing=Standing.MEMBER.value, authority=_closed(root, entry), resumed=resumed)


def _run_kubeadm(root: str, entry: Entry, *, resumed: bool) -> None:
    note(root, entry.role, "started", entry.authority)
    for name, text in sorted(entry.patches.items()):
        write_whole(root, f"{entry.patches_dir}/{name}", text)
    with short_lived(root, f"kubeadm-{entry.role}.yaml", entry.config) as path:
        command = ["kubeadm", entry.role, "--config", path]
        if entry.role == "init":
            command += ["--skip-token-print", "--skip-certificate-key-print"]
        if resumed:
            command.append(f"--ignore-preflight-errors={','.join(_OWN_LEFTOVERS[entry.role])}")
        must(command, "TUN-4730", f"kubeadm {entry.role} failed on {entry.node}", timeout_s=_TIMEOUT_S)


def _closed(root: str, entry: Entry) -> str:
    authority = _authority(root)
    missing = [path for path in (KUBELET_CONF, CA_FILE) if not place(root, path).exists()]
    if entry.role == "init" and not place(root, ADMIN_CONF).exists():
        missing.append(ADMIN_CONF)
    wrong = bool(entry.authority) and authority != entry.authority
    if missing or wrong:
        raise FailedError(
            (
                problem(
                    "TUN-4731",
                    f"kubeadm {entry.role} ended well and {entry.node} is no member of the cluster",
                    where=entry.node,
                    why=f"there is no {', '.join(missing)}" if missing else f"its authority is {authority or 'none'}",
                    fix="journalctl -u kubelet on that machine says more; run the same command again after that",
                ),
            ),
            "The machine is as kubeadm left it.",
        )
    note(root, entry.role, "done", authority)
    return authority


def _authority(root: str) -> str:
    try:
        return ca_hash(read_text(root, CA_FILE) or "")
    except ValueError:
        return ""


def _refuse_others(found: Membership, entry: Entry) -> None:
    is_other = bool(entry.authority) and bool(found.ca) and found.ca != entry.authority
    if found.standing is Standing.FOREIGN or (found.standing is not Standing.NONE and is_other):
        raise RefusedError(
            (
                problem(
                    "TUN-3731",
                    f"{entry.node} belongs to another cluster, or to nobody known",
                    where=entry.node,
                    why=f"{found.why}: {', '.join(found.traces) or 'its journal'}",
                    fix="when that cluster gives it up: kubeadm reset on that machine, by hand; tunectl never does it",
                ),
            )
        )


def _refuse_half(root: str, entry: Entry) -> None:
    """Refuse a control plane whose node is ready and whose API server or etcd is not there: kubeadm starts over."""
    missing = [path for path in _CONTROL_PLANE_FILES if not place(root, path).exists()]
    if entry.is_control_plane and missing:
        raise RefusedError(
            (
                problem(
                    "TUN-3732",
                    f"{entry.node} is a ready node and only half a control plane",
                    where=entry.node,
                    why=f"there is no {', '.join(missing)}, and kubeadm does not join a node that is ready",
                    fix=f"drain and delete node {entry.node}, run kubeadm reset on that machine, then run this again",
                ),
            )
        )


def make_token(ttl: str) -> str:
    """Return a new bootstrap token that lives for `ttl`, from the running cluster; it is printed nowhere.

    Sad paths: `FailedError` TUN-4732.
    """
    command = ["kubeadm", "token", "create", "--kubeconfig", ADMIN_CONF, "--ttl", ttl, "--description", "tunectl"]
    done = must(command, "TUN-4732", "the cluster gives no token to join with")
    match = _TOKEN.search(done.out.strip())
    if match is None:
        raise FailedError(
            (
                problem(
                    "TUN-4732",
                    "the cluster gives no token to join with",
                    where="kubeadm token create",
                    why="what it printed is no token",
                    fix="run it by hand on the first control plane",
                ),
            )
        )
    return match.group(0)


def delete_token(token: str) -> None:
    """Take a token back by its public half; raises `FailedError` TUN-4732."""
    identifier = token.partition(".")[0]
    command = ["kubeadm", "token", "delete", identifier, "--kubeconfig", ADMIN_CONF]
    must(command, "TUN-4732", "the token that machines joined with is still valid")


def upload_certificates(root: str, config: str) -> None:
    """Give the cluster the certificates of its control planes, under the key in `config`; raises TUN-4733."""
    with short_lived(root, "kubeadm-certs.yaml", config) as path:
        command = ["kubeadm", "init", "phase", "upload-certs", "--upload-certs", "--config", path]
        command.append("--skip-certificate-key-print")
        must(command, "TUN-4733", "the certificates of the control plane cannot be handed on")
