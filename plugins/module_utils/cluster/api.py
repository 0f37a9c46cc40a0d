# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Requests to an API server as JSON, with retries where a retry is right, and errors in our words."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ..core.errors import FailedError, InputError, UnknownError, problem

_PASSING = (429, 500, 502, 503, 504)
_ATTEMPTS = 5
_PAGE = 500
_LONGEST_WAIT_S = 30.0


@dataclass(frozen=True)
class Answer:
    """What the API server answered: HTTP status and body; `wait_s` is what Retry-After asks for, 0 without."""

    status: int
    body: Mapping[str, Any]
    wait_s: float = 0.0

    @property
    def said(self) -> str:
        """The message of a Status, on one line."""
        return " ".join(str(self.body.get("message") or f"HTTP status {self.status}").split())


@dataclass
class Api:
    """One API server.

    Shape: `client` is a `kubernetes.client.ApiClient`; `address` is said in errors. `sleep` waits seconds.
    Sad paths: `UnknownError` TUN-5700 when the server cannot be reached or keeps failing, `FailedError` TUN-4704 for
    an answer that a request did not expect. Messages hold no credentials: neither headers nor request bodies.
    """

    client: Any
    address: str
    sleep: Callable[[float], None] = time.sleep

    def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        """Return all objects of a list, page by page."""
        return list(self._pages(path, query))

    def get(self, path: str) -> dict[str, Any] | None:
        """Return an object, None where there is none."""
        answer = self.request("GET", path, expected=(404,))
        return None if answer.status == 404 else dict(answer.body)  # noqa: PLR2004  HTTP's own number

    def request(
        self,
        verb: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        expected: tuple[int, ...] = (),
    ) -> Answer:
        """Send a request until it is answered for good, at most five times.

        Shape: `expected` are statuses beside 2xx that the caller understands; they are never tried again.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            last = attempt == _ATTEMPTS
            try:
                answer = self._once(verb, path, body, query)
            except OSError as error:
                if last:
                    raise self._unreachable(verb, path, str(error)) from error
                self.sleep(2.0 ** (attempt - 1))
                continue
            if answer.status < 300 or answer.status in expected:  # noqa: PLR2004  HTTP's own number
                return answer
            if answer.status not in _PASSING:
                raise self._refused(verb, path, answer)
            if last:
                raise self._unreachable(verb, path, answer.said)
            self.sleep(min(answer.wait_s or 2.0 ** (attempt - 1), _LONGEST_WAIT_S))
        raise AssertionError

    def _pages(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        more = {"limit": str(_PAGE)}
        while more:
            body = self.request("GET", path, query={**query, **more}).body
            yield from (dict(one) for one in body.get("items") or ())
            token = str((body.get("metadata") or {}).get("continue") or "")
            more = {"limit": str(_PAGE), "continue": token} if token else {}

    def _once(self, verb: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, str] | None) -> Answer:
        from urllib3.exceptions import HTTPError  # noqa: PLC0415  slow to import

        settings = self.client.configuration
        # asked for each request, because tokens of exec plugins and service accounts are renewed
        credentials = {one["key"]: one["value"] for one in settings.auth_settings().values() if one.get("value")}
        kind = "application/merge-patch+json" if verb == "PATCH" else "application/json"
        try:
            answer = self.client.rest_client.pool_manager.request(
                verb,
                f"{settings.host}{path}" + (f"?{urlencode(query)}" if query else ""),
                body=None if body is None else json.dumps(body).encode(),
                headers={"Accept": "application/json", "Content-Type": kind, **credentials},
                timeout=60.0,
                retries=False,
            )
        except HTTPError as error:
            # the text of urllib3 names host and reason, nothing of the request
            raise OSError(str(error)) from error
        return Answer(int(answer.status), _document(answer.data), _wait_of(answer.headers))

    def _refused(self, verb: str, path: str, answer: Answer) -> FailedError:
        fixes = {
            401: "the credentials of the kubeconfig are not valid (any more): log in again",
            403: "let the user of the kubeconfig do that: docs/how-to/drain-and-reboot.md has the ClusterRole",
        }
        found = problem(
            "TUN-4704",
            f"the API server refused {verb} {path}",
            where=self.address,
            why=f"{answer.status}: {answer.said}",
            fix=fixes.get(answer.status, "kubectl describe shows the object; then run tunectl again"),
        )
        return FailedError((found,), "")

    def _unreachable(self, verb: str, path: str, why: str) -> UnknownError:
        found = problem(
            "TUN-5700",
            f"the API server did not answer {verb} {path}, asked {_ATTEMPTS} times",
            where=self.address,
            why=" ".join(why.split()),
            fix="kubectl --kubeconfig FILE get nodes must work from this machine",
        )
        return UnknownError((found,), "")


def connect(kubeconfig: str, context: str = "") -> Api:
    """Return the API server that a kubeconfig names; without one, that of the pod that this runs in.

    Shape: `kubeconfig` may hold several files, as the variable KUBECONFIG; `context` empty means the current one.
    Sad paths: `InputError` TUN-1900 for a kubeconfig that cannot be used, TUN-1901 without the package `kubernetes`.
    """
    try:
        from kubernetes import client, config  # noqa: PLC0415  slow to import, and optional
    except ImportError as error:
        found = problem(
            "TUN-1901",
            "speaking to a cluster needs the Python package kubernetes",
            where="the controller",
            why=str(error),
            fix="pip install 'tunectl[cluster]', or kubernetes into the Python that runs Ansible",
        )
        raise InputError((found,)) from error
    settings = client.Configuration()
    try:
        if kubeconfig:
            _readable(kubeconfig)
            config.load_kube_config(kubeconfig, context=context or None, client_configuration=settings)  # type: ignore[no-untyped-call]
        else:
            config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]
    except (config.ConfigException, OSError, ValueError, TypeError, KeyError) as error:
        raise _unusable(kubeconfig, context, error) from error
    return Api(client.ApiClient(settings), str(settings.host))


def _readable(kubeconfig: str) -> None:
    for name in kubeconfig.split(os.pathsep):
        with Path(name).expanduser().open("rb"):
            pass


def _unusable(kubeconfig: str, context: str, error: Exception) -> InputError:
    why = getattr(error, "strerror", None) or " ".join(str(error).split())
    asked = f"{kubeconfig or 'the service account of this pod'}{f', context {context}' if context else ''}"
    fix = "kubectl config view --kubeconfig FILE shows its contexts"
    return InputError((problem("TUN-1900", "the kubeconfig cannot be used", where=asked, why=why, fix=fix),))


def _document(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        # a proxy answered in place of the API server
        return {"message": body[:200].decode(errors="replace")}
    return found if isinstance(found, dict) else {}


def _wait_of(headers: Any) -> float:
    given = str((headers or {}).get("Retry-After") or "")
    return float(given) if given.isdigit() else 0.0
