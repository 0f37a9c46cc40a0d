"""Stand-ins for kubeadm, kubectl, systemctl and containerd: they check what they are given and keep it.

They stand at the border of the process only. `kubeadm` refuses a document with an unknown field, a file that others may
read, and an option that it does not have, as the real one does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.kubeadm_fields import FIELDS

_KUBEADM = """#!{python}
import json, os, re, stat, sys
sys.path[:0] = {path!r}
import yaml
root, cluster, fields = {root!r}, {cluster!r}, {fields!r}
words = sys.argv[1:]
with open(root + "/said", "a") as log:
    log.write("kubeadm " + " ".join(words) + "\\n")
fail = root + "/fail-kubeadm"
def unknown(value, known, where=""):
    if isinstance(value, list):
        for item in value:
            unknown(item, known, where)
    elif isinstance(value, dict) and (known or not where):
        for key, inner in value.items():
            if key not in known:
                sys.exit(f'error: strict decoding error: unknown field "{{where}}.{{key}}"')
            unknown(inner, known[key], f"{{where}}.{{key}}")
def documents():
    path = words[words.index("--config") + 1]
    if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
        sys.exit("others may read the configuration")
    found = list(yaml.safe_load_all(open(path)))
    for one in found:
        if one["apiVersion"].startswith("kubeadm"):
            if one["apiVersion"] != "kubeadm.k8s.io/v1beta4":
                sys.exit("no kind is registered for that version")
            unknown(one, fields[one["kind"]])
    json.dump(found, open(root + "/documents.json", "w"))
    return found
def put(path, text="x"):
    os.makedirs(os.path.dirname(root + path), exist_ok=True)
    open(root + path, "w").write(text)
if words[:2] == ["token", "create"]:
    print("abcdef.0123456789abcdef")
elif words[:2] == ["token", "delete"]:
    if words[2] != "abcdef":
        sys.exit("token is malformed")
elif words[0] in ("init", "join"):
    found = documents()
    if words[1:3] == ["phase", "upload-certs"]:
        if not re.fullmatch("[0-9a-f]{{64}}", found[0]["certificateKey"]):
            sys.exit("bad certificate key")
        sys.exit(0)
    ignored = next((w.split("=", 1)[1].split(",") for w in words if w.startswith("--ignore-preflight-errors=")), [])
    if os.path.exists(root + "/etc/kubernetes/pki/ca.crt") and words[0] == "join":
        if "FileAvailable--etc-kubernetes-pki-ca.crt" not in ignored:
            sys.exit("[ERROR FileAvailable--etc-kubernetes-pki-ca.crt]: already exists")
    put("/etc/kubernetes/pki/ca.crt", open(root + "/ca.pem").read())
    if os.path.exists(fail):
        sys.exit("timed out, token abcdef.0123456789abcdef " + "f" * 64)
    put("/etc/kubernetes/kubelet.conf")
    if words[0] == "init":
        put("/etc/kubernetes/admin.conf")
    entry = found[0]["nodeRegistration"]
    given = {{one["name"]: one["value"] for one in entry["kubeletExtraArgs"]}}
    labels = dict(pair.split("=", 1) for pair in given.get("node-labels", "").split(",") if pair)
    state = json.load(open(cluster))
    ready = {{"type": "Ready", "status": "True"}}
    state["nodes"][entry["name"]] = {{
        "metadata": {{"name": entry["name"], "labels": labels}},
        "spec": {{"taints": entry["taints"]}},
        "status": {{"conditions": [ready], "nodeInfo": {{"kubeletVersion": "v1.33.2"}}}},
    }}
    json.dump(state, open(cluster, "w"))
elif words == ["version", "-o", "short"]:
    print("v1.33.2")
else:
    sys.exit("unknown command")
"""

_KUBECTL = """#!{python}
import json, os, sys
root, cluster = {root!r}, {cluster!r}
words = sys.argv[1:]
if words == ["version", "--client"]:
    print("Client Version: v1.33.2")
    sys.exit(0)
with open(root + "/said", "a") as log:
    log.write("kubectl " + " ".join(words) + "\\n")
assert words[:2] == ["--kubeconfig", "/etc/kubernetes/admin.conf"], words
words = words[2:]
state = json.load(open(cluster))
if words[0] == "diff":
    sys.exit(0 if sys.stdin.read() in state["manifests"] else 1)
if words[0] == "apply":
    text = sys.stdin.read()
    if "refuse" in text:
        sys.exit("error: no matches for kind")
    state["manifests"].append(text)
elif words[:2] == ["get", "nodes"]:
    print(json.dumps({{"items": list(state["nodes"].values())}}))
elif words[:2] == ["get", "configmap"]:
    print(json.dumps({{"data": {{"kubelet": state["kubelet"]}}}}))
elif words[:2] == ["label", "node"]:
    for pair in words[4:]:
        key, _, value = pair.partition("=")
        state["nodes"][words[2]]["metadata"]["labels"][key] = value
elif words[:2] == ["taint", "node"]:
    for text in words[4:]:
        head, _, effect = text.rpartition(":")
        key, _, value = head.partition("=")
        taint = {{"key": key, "effect": effect, **({{"value": value}} if value else {{}})}}
        state["nodes"][words[2]]["spec"].setdefault("taints", []).append(taint)
else:
    sys.exit("unknown command")
json.dump(state, open(cluster, "w"))
"""

_SYSTEMCTL = """#!/bin/sh
echo "systemctl $*" >> {root}/said
case "$1" in
is-enabled) test -e "{root}/enabled-$3" ;;
enable) touch "{root}/enabled-$2" ;;
is-active) test -e "{root}/active" ;;
restart) touch "{root}/active" ;;
esac
"""

_CONTAINERD = """#!/bin/sh
case "$*" in
--version) echo "containerd containerd.io {version} abc" ;;
serve) exec sleep infinity ;;
"config dump") cat "{root}/etc/containerd/config.toml" ;;
*) exit 1 ;;
esac
"""


def install(root: Path, *, containerd: str = "v2.1.4", nodes: Mapping[str, Any] | None = None) -> Path:
    """Put the stand-ins into a directory of a root and return it; `nodes` are those of the cluster behind kubectl."""
    packages = [path for path in sys.path if path.endswith("site-packages")]
    texts = {"kubeadm": _KUBEADM, "kubectl": _KUBECTL, "systemctl": _SYSTEMCTL, "containerd": _CONTAINERD}
    texts["modprobe"] = '#!/bin/sh\necho "modprobe $*" >> {root}/said\n'
    values = {"python": sys.executable, "root": str(root), "cluster": str(root / "cluster.json"), "path": packages}
    write_programs(root / "programs", texts, {**values, "version": containerd})
    write_cluster(root / "cluster.json", nodes or {})
    return root / "programs"


def install_for_machines(brought: Path, there: Path, cluster: str) -> None:
    """Write what a bootstrap brings to whole machines, and what is on them before, with their cluster in a file."""
    values = {"python": "/usr/bin/python3", "root": "", "cluster": cluster, "path": ["/opt/site"], "version": "v2.1.4"}
    kubelet = '#!/bin/sh\ntest "$1" = --version && echo "Kubernetes v1.33.2" && exit\nexec sleep infinity\n'
    write_programs(brought, {"kubeadm": _KUBEADM, "kubectl": _KUBECTL, "kubelet": kubelet}, values)
    silent = "#!/bin/sh\nexit 0\n"
    texts = {"containerd": _CONTAINERD, **dict.fromkeys(("iptables", "conntrack", "crictl", "modprobe"), silent)}
    write_programs(there, texts, values)


def write_programs(folder: Path, texts: Mapping[str, str], values: Mapping[str, Any]) -> None:
    """Write programs that can be run."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text.format(**values, fields=FIELDS), encoding="utf-8")
        (folder / name).chmod(0o755)


def write_cluster(path: Path, nodes: Mapping[str, Any]) -> None:
    """Write the state of the cluster behind kubectl."""
    state = {"manifests": [], "nodes": dict(nodes), "kubelet": "cgroupDriver: systemd\n"}
    path.write_text(json.dumps(state), encoding="utf-8")


def said(root: Path) -> list[str]:
    """Return the command lines that the stand-ins were started with."""
    path = root / "said"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def node(name: str, *, ready: bool = True) -> dict[str, Any]:
    """Return a Node object."""
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True" if ready else "False", "message": "cni not initialized"}],
            "nodeInfo": {"kubeletVersion": "v1.33.2"},
        },
    }
