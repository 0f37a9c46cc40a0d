# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every error code with one sentence that explains it; `tunectl explain` and the reference are made from it."""

from __future__ import annotations

CODES: dict[str, str] = {
    "TUN-1000": "The command line has a flag, argument or command that is not known, or misses one that is needed.",
    "TUN-1001": "The command does not have the output format that was asked for.",
    "TUN-1002": "Two outputs were asked for on stdout, which carries one document; the others go into files.",
    "TUN-1003": "An output file cannot be written where it was asked for.",
    "TUN-1004": "A duration is not written like 90s, 10m or 1h30m.",
    "TUN-1005": "A value set over the tier on the command line is not written PATH=VALUE, or its value cannot be read.",
    "TUN-1010": "A node pattern matches none of the nodes in the snapshots that were named.",
    "TUN-1011": "Two of the snapshots that were named are of the same node, so that one would hide the other.",
    "TUN-1300": "The lab was asked for a machine that is not among the shipped ones.",
    "TUN-1301": "A machine shape is not written like 2s32c2t or 1s64c2t4n, or its numbers do not fit together.",
    "TUN-2200": "A value is not a Kubernetes quantity, so its size cannot be computed.",
    "TUN-2201": "A kernel argument holds something that the shell, GRUB or the kernel would not keep as one value.",
    "TUN-2202": "A kernel parameter's name or value cannot stand in a sysctl.d file.",
    "TUN-2203": "A value cannot stand in a systemd unit without changing its meaning.",
    "TUN-2204": "A path or value of the running kernel cannot stand in a tmpfiles.d line.",
    "TUN-2205": "A module option cannot stand in a modprobe.d line.",
    "TUN-2230": "The kubelet of a node reads no drop-in directory, so its settings would be written and never read.",
    "TUN-2231": "The boot loader of a node does not read grub.d, so kernel arguments written there would be lost.",
    "TUN-4900": "The command was interrupted from the keyboard.",
    "TUN-4901": "The result could not be written to stdout, for instance because a disk is full.",
    "TUN-9000": "tunectl met a situation that it was not written for; the report file holds what a maintainer needs.",
}
