# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every error code with one sentence that explains it; `tunectl explain` and the reference are made from it."""

from __future__ import annotations

CODES: dict[str, str] = {
    "TUN-2200": "A value is not a Kubernetes quantity, so its size cannot be computed.",
    "TUN-2201": "A kernel argument holds something that the shell, GRUB or the kernel would not keep as one value.",
    "TUN-2202": "A kernel parameter's name or value cannot stand in a sysctl.d file.",
    "TUN-2203": "A value cannot stand in a systemd unit without changing its meaning.",
    "TUN-2204": "A path or value of the running kernel cannot stand in a tmpfiles.d line.",
    "TUN-2205": "A module option cannot stand in a modprobe.d line.",
}
