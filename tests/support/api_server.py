"""A stand-in for kube-apiserver over real HTTP: nodes, pods, budgets, leases, evictions and access reviews.

It keeps what the API promises and a drain relies on: resource versions and 409 for a stale one, merge patches where
null takes a key away, pages of lists, field selectors on the node of a pod, 401 without the token, evictions that are
turned down with 429 by a budget without room and with 500 by two budgets, preconditions on the uid, and Status objects
for every refusal. Budgets are counted from the pods that are there.
"""

from __future__ import annotations

import copy
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "secret-of-the-test"  # noqa: S105  known to this stand-in only
Object = dict[str, Any]
_LISTS = {
    "/api/v1/nodes": "nodes",
    "/api/v1/pods": "pods",
    "/apis/policy/v1/poddisruptionbudgets": "budgets",
}


class ApiServer:
    """Objects by kind and key, the log of the requests, and faults to be answered before anything else."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Object]] = {"nodes": {}, "pods": {}, "budgets": {}, "leases": {}}
        self.log: list[str] = []
        self.faults: list[tuple[int, dict[str, str]]] = []
        self.denied: set[tuple[str, str]] = set()
        self.page = 500
        self.lingering: dict[str, int] = {}
        self.after_eviction: Callable[[str], None] = lambda _key: None
        self.renews_leases = True
        self.lock = threading.RLock()
        self.url = ""
        self._version = 0

    def add(self, kind: str, key: str, document: Object) -> Object:
        meta = document.setdefault("metadata", {})
        meta.setdefault("uid", str(uuid.uuid4()))
        meta["resourceVersion"] = self._next()
        self.objects[kind][key] = document
        return document

    def node(self, name: str, *, boot_id: str = "", **allocatable: str) -> Object:
        status: Object = {
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": f"10.0.0.{len(self.objects['nodes']) + 1}"}],
            "nodeInfo": {"bootID": boot_id},
            "allocatable": {"cpu": "8", **allocatable},
        }
        labels = {"kubernetes.io/hostname": name}
        self.add("leases", name, {"metadata": {"name": name}, "spec": {"renewTime": "0"}})
        return self.add("nodes", name, {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": status})

    def pod(self, node: str, name: str, *, owner: str = "ReplicaSet", **more: Any) -> Object:
        meta: Object = {"name": name, "namespace": "default", "labels": more.pop("labels", {"app": name})}
        if owner:
            meta["ownerReferences"] = [{"kind": owner, "name": "owner", "controller": True}]
        if more.pop("mirror", False):
            meta["annotations"] = {"kubernetes.io/config.mirror": "x"}
        spec: Object = {"nodeName": node, "volumes": [{"name": "d", "emptyDir": {}}] if more.pop("data", False) else []}
        status = {"phase": more.pop("phase", "Running"), "conditions": [{"type": "Ready", "status": "True"}]}
        assert not more
        return self.add("pods", f"default/{name}", {"metadata": meta, "spec": spec, "status": status})

    def budget(self, name: str, labels: dict[str, str], min_available: int) -> Object:
        spec = {"selector": {"matchLabels": labels}, "minAvailable": min_available}
        return self.add(
            "budgets", f"default/{name}", {"metadata": {"name": name, "namespace": "default"}, "spec": spec}
        )

    def answer(self, verb: str, target: str, token: str, body: Object) -> tuple[int, Object, dict[str, str]]:
        with self.lock:
            url = urlsplit(target)
            self.log.append(f"{verb} {url.path}")
            if self.faults:
                status, headers = self.faults.pop(0)
                return status, _status(status, "injected fault"), headers
            if token != f"Bearer {TOKEN}":
                return (*_refusal(401, "Unauthorized"), {})
            query = {key: values[0] for key, values in parse_qs(url.query).items()}
            return (*self._route(verb, url.path, query, body), {})

    def _route(self, verb: str, path: str, query: dict[str, str], body: Object) -> tuple[int, Object]:
        if verb == "GET" and path in _LISTS:
            return self._list(_LISTS[path], query)
        if path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
            asked = body["spec"]["resourceAttributes"]
            resource = "/".join(filter(None, (asked["resource"], asked.get("subresource", ""))))
            return 201, {**body, "status": {"allowed": (asked["verb"], resource) not in self.denied}}
        parts = path.strip("/").split("/")
        if parts[:3] == ["api", "v1", "nodes"] and len(parts) == 4:
            return self._one("nodes", parts[3], verb, body)
        if parts[-2:-1] == ["leases"]:
            return self._lease(parts[-1])
        if parts[-1] == "eviction" and verb == "POST":
            return self._evict(f"{parts[3]}/{parts[5]}", body)
        return _refusal(404, "the server could not find the requested resource")

    def _list(self, kind: str, query: dict[str, str]) -> tuple[int, Object]:
        self._let_go()
        wanted = query.get("fieldSelector", "").removeprefix("spec.nodeName=")
        found = [one for one in self.objects[kind].values() if not wanted or one["spec"]["nodeName"] == wanted]
        if kind == "budgets":
            found = [self._counted(one) for one in found]
        size, start = min(self.page, int(query.get("limit", "500"))), int(query.get("continue", "0"))
        more = {"continue": str(start + size)} if start + size < len(found) else {}
        return 200, {"kind": "List", "metadata": more, "items": copy.deepcopy(found[start : start + size])}

    def _one(self, kind: str, name: str, verb: str, body: Object) -> tuple[int, Object]:
        found = self.objects[kind].get(name)
        if found is None:
            return _refusal(404, f'{kind} "{name}" not found')
        if verb == "PATCH":
            version = body.get("metadata", {}).pop("resourceVersion", None)
            if version not in (None, found["metadata"]["resourceVersion"]):
                return _refusal(409, "the object has been modified")
            _merge(found, body)
            found["metadata"]["resourceVersion"] = self._next()
        return 200, copy.deepcopy(found)

    def _lease(self, name: str) -> tuple[int, Object]:
        found = self.objects["leases"][name]
        if self.renews_leases:
            found["spec"]["renewTime"] = self._next()
        return 200, copy.deepcopy(found)

    def _evict(self, key: str, body: Object) -> tuple[int, Object]:
        pod = self.objects["pods"].get(key)
        if pod is None:
            return _refusal(404, f'pods "{key}" not found')
        if body["deleteOptions"]["preconditions"]["uid"] != pod["metadata"]["uid"]:
            return _refusal(409, "the UID in the precondition does not match")
        covering = [self._counted(one) for one in self.objects["budgets"].values() if _covers(one, pod)]
        if pod["status"]["phase"] == "Running" and len(covering) > 1:
            return _refusal(500, "This pod has more than one PodDisruptionBudget, which the eviction does not support.")
        if pod["status"]["phase"] == "Running" and any(one["status"]["disruptionsAllowed"] < 1 for one in covering):
            return _refusal(429, "Cannot evict pod as it would violate the pod's disruption budget.")
        if self.lingering.get(key, 0):
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        else:
            del self.objects["pods"][key]
        self.after_eviction(key)
        return 201, _status(201, "")

    def _let_go(self) -> None:
        for key in [key for key, one in self.objects["pods"].items() if "deletionTimestamp" in one["metadata"]]:
            self.lingering[key] -= 1
            if self.lingering[key] <= 0:
                del self.objects["pods"][key]

    def _counted(self, budget: Object) -> Object:
        healthy = sum(
            1
            for pod in self.objects["pods"].values()
            if _covers(budget, pod) and "deletionTimestamp" not in pod["metadata"]
        )
        wanted = budget["spec"]["minAvailable"]
        status = {
            "currentHealthy": healthy,
            "desiredHealthy": wanted,
            "disruptionsAllowed": max(0, healthy - wanted),
        }
        return {**budget, "status": status}

    def _next(self) -> str:
        self._version += 1
        return str(self._version)


@contextmanager
def serving(server: ApiServer) -> Iterator[ApiServer]:
    """Serve on a free port of this machine until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _all(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}") if length else {}
            token = self.headers.get("Authorization", "")
            status, document, headers = server.answer(self.command, self.path, token, body)
            if status == 0:
                self.close_connection = True
                return
            data = json.dumps(document).encode()
            self.send_response(status)
            for key, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(data))}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _all  # noqa: N815  the names that http.server calls

        def log_message(self, *_args: Any) -> None:
            """Say nothing: the log of the server is data."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def write_kubeconfig(path: Path, url: str, token: str = TOKEN) -> Path:
    """Write a kubeconfig with one context, `test`."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _covers(budget: Object, pod: Object) -> bool:
    labels = pod["metadata"]["labels"]
    return all(labels.get(key) == value for key, value in budget["spec"]["selector"]["matchLabels"].items())


def _merge(target: Object, patch: Object) -> None:
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            _merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


def _refusal(code: int, message: str) -> tuple[int, Object]:
    return code, _status(code, message)


def _status(code: int, message: str) -> Object:
    state = "Success" if code < 300 else "Failure"
    return {"kind": "Status", "apiVersion": "v1", "status": state, "message": message, "code": code}
