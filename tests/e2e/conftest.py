"""Two virtual machines with two NUMA nodes each, shared by all tests of this directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tunectl.adapters.vm.image import PROGRAMS

TUNECTL = str(Path(sys.executable).parent / "tunectl")
NODES = ("lab-1", "lab-2")


@dataclass(frozen=True)
class Machines:
    """A folder with a lab of virtual machines, and the command line in it."""

    folder: Path

    def tunectl(self, *args: str, expect: int = 0) -> str:
        """Run tunectl and return what it printed; fails with all that was said when the exit code is another."""
        command = [TUNECTL, *args]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=1500)
        assert done.returncode == expect, f"{args} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def on(self, node: str, script: str) -> str:
        """Run a shell script as root on a machine, over SSH, and return what it printed."""
        command = [TUNECTL, "lab", "shell", node, "--", "sudo", "-n", "sh", "-eu"]
        done = subprocess.run(
            command,
            cwd=self.folder,
            input=f"{script}\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    def digests(self, node: str) -> str:
        """Return the SHA-256 of every file that tuning could touch, by path."""
        places = "/etc /boot/grub/grub.cfg"
        skipped = "-path /etc/machine-id -prune -o -path '/etc/hosts' -prune -o"
        return self.on(node, f"find {places} {skipped} -type f -exec sha256sum {{}} + | sort -k2")

    def boot_id(self, node: str) -> str:
        """Return what is new after each boot."""
        return self.on(node, "cat /proc/sys/kernel/random/boot_id")


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Bring the lab up, and take it down whatever happens."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None]
    if missing:
        reason = f"lab machines need {', '.join(missing)}: see tools/debian-packages.txt"
        if os.environ.get("TUNECTL_REQUIRE_ALL"):
            pytest.fail(reason)
        pytest.skip(reason)
    kept = os.environ.get("TUNECTL_E2E_FOLDER")
    made = Machines(Path(kept) if kept else tmp_path_factory.mktemp("lab"))
    made.tunectl("lab", "up", "--kind", "vm", "--count", "2", "--shape", "2s2c1t")
    yield made
    if not kept:
        made.tunectl("lab", "down")
