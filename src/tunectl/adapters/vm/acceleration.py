"""Whether hardware acceleration really boots a guest on this computer: a device node alone proves nothing."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from tunectl.adapters.vm.image import Image
from tunectl.adapters.vm.qemu import probe_arguments, run_for

EMULATION = "tcg,thread=multi"
HARDWARE = "kvm"
_DEVICE = Path("/dev/kvm")
_PROBE_S = 30.0
# The kernel says this when all its own work is done and it turns to user space.
_WORD = "Run /init as init process"


def accelerator_for(image: Image, cache: Path) -> str:
    """Return QEMU's name of the accelerator to use; the answer of a probe is kept until the computer boots anew.

    A guest is booted under hardware acceleration and must reach user space within 30 seconds.
    """
    if not os.access(_DEVICE, os.R_OK | os.W_OK):
        return EMULATION
    remembered = cache / "acceleration.json"
    boot_id = _boot_id()
    try:
        known = json.loads(remembered.read_text(encoding="utf-8"))
        if known["boot_id"] == boot_id:
            return HARDWARE if known["works"] else EMULATION
    except (OSError, ValueError, KeyError, TypeError):
        pass
    works = boots(image)
    remembered.parent.mkdir(parents=True, exist_ok=True)
    remembered.write_text(json.dumps({"boot_id": boot_id, "works": works}) + "\n", encoding="utf-8")
    return HARDWARE if works else EMULATION


def boots(image: Image) -> bool:
    """Return whether a guest reaches user space under hardware acceleration."""
    with tempfile.TemporaryDirectory() as scratch:
        console = Path(scratch) / "console.log"
        run_for(probe_arguments(image.kernel, image.initrd, console), _PROBE_S)
        return console.is_file() and _WORD in console.read_text(encoding="utf-8", errors="replace")


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""
