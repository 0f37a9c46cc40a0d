# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Whether the kubelet of this node says that it is healthy, at the place where its configuration has it say so."""

from __future__ import annotations

import http.client
import re
from collections.abc import Sequence
from pathlib import Path

# Source: KubeletConfiguration v1beta1, healthzPort and healthzBindAddress; port 0 switches it off.
_ADDRESS, _PORT = "127.0.0.1", 10248
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - to ask there, not to listen
_FIELD = re.compile(r"^(healthzPort|healthzBindAddress):[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE)
_FLAG = re.compile(r"--healthz-(port|bind-address)[= ](\S+)")
_CONFIG_FLAG = re.compile(r"--config(-dir)?[= ](/\S+)")
_LIMIT_S = 5.0
_MAIN = "/var/lib/kubelet/config.yaml"
_DROP_INS = "/etc/kubernetes/kubelet.conf.d"


def healthz_place(texts: Sequence[str], flags: str = "") -> tuple[str, int] | None:
    """Return address and port of the kubelet's health endpoint, None where it is switched off.

    Shape: `texts` are configuration files in the order in which they count, `flags` the command line, which beats them.
    """
    values = {"healthzPort": str(_PORT), "healthzBindAddress": _ADDRESS}
    for text in texts:
        values.update(_FIELD.findall(text))
    for name, value in _FLAG.findall(flags):
        values["healthzPort" if name == "port" else "healthzBindAddress"] = value
    port = int(values["healthzPort"]) if values["healthzPort"].isdecimal() else _PORT
    address = values["healthzBindAddress"]
    return (_ANY.get(address, address), port) if port else None


def kubelet_place(root: str = "/") -> tuple[str, int] | None:
    """Return address and port of the health endpoint of this node's kubelet, None where it is switched off.

    Shape: told by the files that the running process names, and by its flags.
    """
    base = Path(root)
    words = _command_line(base)
    paths = dict(_CONFIG_FLAG.findall(words))
    main, directory = paths.get("", _MAIN), paths.get("-dir", _DROP_INS)
    files = [base / main.lstrip("/"), *sorted((base / directory.lstrip("/")).rglob("*.conf"))]
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]
    return healthz_place(texts, words)


def _command_line(base: Path) -> str:
    lines = (_line_of(comm) for comm in (base / "proc").glob("[0-9]*/comm"))
    return next((line for line in lines if line), "")


def _line_of(comm: Path) -> str:
    try:
        if comm.read_text(encoding="utf-8", errors="replace").strip() != "kubelet":
            return ""
        return comm.with_name("cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " ").strip()
    except OSError:
        # It has ended meanwhile.
        return ""


def unhealthy(place: tuple[str, int]) -> str:
    """Return why the kubelet is not healthy, in its words where it has any; "" when it says `ok`."""
    connection = http.client.HTTPConnection(*place, timeout=_LIMIT_S)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        text = answer.read(400).decode("utf-8", "replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return f"http://{place[0]}:{place[1]}/healthz does not answer: {error}"
    finally:
        connection.close()
    return "" if answer.status == 200 else f"/healthz says {answer.status}: {text}"  # noqa: PLR2004 - HTTP's OK
