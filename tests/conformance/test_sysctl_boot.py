"""The order and the values of sysctl files, as systemd's own programs have them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from support.oracles import missing

from tunectl.core.sysctl_boot import assignments, boot_files, merged
from tunectl.snapshot_reader import read_snapshot

_SYSCTL = next(
    (path for path in ("/usr/lib/systemd/systemd-sysctl", "/lib/systemd/systemd-sysctl") if Path(path).exists()), ""
)
_NET = "/proc/sys/net/ipv4"
_KEYS = ("rp_filter", "log_martians", "send_redirects", "secure_redirects", "arp_announce", "accept_redirects")
_FIRST = """\
net.ipv4.conf.*.rp_filter = 2
net.ipv4.conf.all.rp_filter = 1
net/ipv4/conf/*/log_martians = 1
-net.ipv4.conf.all.log_martians
; net.ipv4.conf.lo.arp_announce = 1
  net.ipv4.conf.lo.arp_announce =   2
--net.ipv4.conf.lo.accept_redirects = 0
net.ipv4.conf.lo.send_redirects=0
net.ipv4.conf.l?.secure_redirects=0
net.ipv4.conf.default.accept_redirects = 0
net.ipv4.ip_default_ttl = 70
"""
_SECOND = """\
-net.ipv4.ip_default_ttl
net.ipv4.conf.*.send_redirects=1
-net.ipv4.conf.default.rp_filter
net.ipv4.conf.default.accept_redirects
"""


def _private_network(*command: str) -> list[str]:
    rights = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *rights, "--net", *command]


def test_values_are_those_that_systemd_writes(tmp_path: Path) -> None:
    """In a network of its own: the parameters below net/ipv4 are then nobody else's."""
    probe = _private_network("sh", "-c", f"echo 1 > {_NET}/conf/lo/rp_filter")
    if not _SYSCTL or not shutil.which("unshare") or subprocess.run(probe, capture_output=True, check=False).returncode:
        missing("no systemd-sysctl, or no network namespace whose parameters can be written")
    files = [tmp_path / "10.conf", tmp_path / "20.conf"]
    for path, text in zip(files, (_FIRST, _SECOND), strict=True):
        path.write_text(text)
    known = [f"{_NET}/conf/{name}/{key}" for name in ("all", "default", "lo") for key in _KEYS]
    known.append(f"{_NET}/ip_default_ttl")
    show = f"for f in {' '.join(known)}; do echo $f $(cat $f); done"
    names = " ".join(str(path) for path in files)
    script = f"{show}; echo --; {_SYSCTL} --prefix=/net {names}; {show}"
    done = subprocess.run(_private_network("sh", "-c", script), capture_output=True, check=True, text=True)
    before, after = (dict(line.split() for line in part.splitlines()) for part in done.stdout.split("--\n"))
    boot = merged(line for path in files for line in assignments(str(path), path.read_text()))
    writes = dict(boot.writes(known))
    assert len(writes) > 5
    # The kernel hands a change of `default` on to interfaces nobody configured: there the written values count only.
    settled = [path for path in known if path in writes or "/lo/" not in path]
    assert {path: after[path] for path in settled} == {path: writes.get(path, before[path]) for path in settled}
    assert any(after[path] != before[path] for path in settled)


_TREE = {
    "/etc/sysctl.d/99-tunectl.conf": "vm.a=1\n",
    "/etc/sysctl.d/50-x.conf": "vm.a=2\n",
    "/etc/sysctl.d/.hidden.conf": "vm.a=3\n",
    "/etc/sysctl.d/readme": "vm.a=4\n",
    "/run/sysctl.d/50-x.conf": "vm.a=5\n",
    "/run/sysctl.d/99-Tunectl.conf": "vm.a=6\n",
    "/usr/local/lib/sysctl.d/9-early.conf": "vm.a=7\n",
    "/usr/lib/sysctl.d/zz.conf": "vm.a=8\n",
    "/usr/lib/sysctl.d/60-masked.conf": "vm.a=9\n",
    "/etc/sysctl.conf": "vm.a=11\n",
}
_LINKS = {
    "/etc/sysctl.d/60-masked.conf": "/dev/null",
    "/etc/sysctl.d/99-sysctl.conf": "../sysctl.conf",
}


def test_order_is_that_of_systemd(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        missing("no systemd-analyze")
        return
    for path, text in _TREE.items():
        place = tmp_path / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    for path, target in _LINKS.items():
        (tmp_path / path.lstrip("/")).symlink_to(target)
    command = [analyze, "cat-config", "--root", str(tmp_path), "sysctl.d"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    shown = [
        line.removeprefix("# ").removeprefix(str(tmp_path))
        for line in done.stdout.splitlines()
        if line.startswith("# /")
    ]
    assert done.returncode == 0, done.stderr
    assert shown == list(boot_files(read_snapshot(str(tmp_path), "n")))
    assert "/etc/sysctl.d/60-masked.conf" in shown
