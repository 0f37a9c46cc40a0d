# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Architecture, vendor and model of the processors."""

from __future__ import annotations

from .snapshot import Snapshot

# Source: Arm architecture, MIDR_EL1 implementer codes.
_ARM_IMPLEMENTERS = {
    0x41: "ARM",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x53: "Samsung",
    0x56: "Marvell",
    0x61: "Apple",
    0x6D: "Microsoft",
    0xC0: "Ampere",
}
_RELEASE_ARCHITECTURES = ("x86_64", "aarch64", "ppc64le", "s390x", "riscv64")


def cpuinfo(snapshot: Snapshot) -> dict[str, str]:
    """Return the fields of the first processor in /proc/cpuinfo, empty when it was not read."""
    fields: dict[str, str] = {}
    for line in (snapshot.text("/proc/cpuinfo") or "").splitlines():
        if not line.strip():
            break
        key, _colon, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    return fields


def architecture(snapshot: Snapshot) -> str:
    """Return what `uname -m` says, or what cpuinfo and the kernel release let know, "" when nothing tells."""
    uname = snapshot.facts.get("uname")
    machine = uname.get("machine") if isinstance(uname, dict) else None
    if isinstance(machine, str) and machine:
        return machine
    return _from_cpuinfo(cpuinfo(snapshot)) or _from_release(snapshot.text("/proc/sys/kernel/osrelease") or "")


def vendor_and_model(snapshot: Snapshot) -> tuple[str, str]:
    """Return the processors' vendor and model as cpuinfo spells them; Arm implementers by name; "" when not told."""
    fields = cpuinfo(snapshot)
    vendor = fields.get("vendor_id", "")
    model = fields.get("model name", "")
    if not vendor and "CPU implementer" in fields:
        vendor = _implementer(fields["CPU implementer"])
        model = model or f"{vendor} part {fields.get('CPU part', '')}".strip()
    if not vendor and fields.get("cpu", "").startswith("POWER"):
        vendor, model = "IBM", model or fields["cpu"]
    return vendor, model


def _implementer(text: str) -> str:
    try:
        return _ARM_IMPLEMENTERS.get(int(text, 16), text)
    except ValueError:
        return text


def _from_cpuinfo(fields: dict[str, str]) -> str:
    if "flags" in fields and "vendor_id" in fields:
        return "x86_64" if "lm" in fields["flags"].split() else "i686"
    if "CPU implementer" in fields:
        return "aarch64" if fields.get("CPU architecture") == "8" else "armv7l"
    if fields.get("cpu", "").startswith("POWER"):
        return "ppc64le"
    return "s390x" if fields.get("vendor_id") == "IBM/S390" else ""


def _from_release(release: str) -> str:
    return next((arch for arch in _RELEASE_ARCHITECTURES if arch in release), "")
