# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The software a simulated node runs: distribution, kernel and kubelet, with the values such systems have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.errors import InputError, problem
from .boot import Kernel


@dataclass(frozen=True)
class Profile:
    """One distribution release with its kernel and kubelet.

    Shape: `kernel_release` is `uname -r`; `options` are the kernel options in which the releases differ, `y`, `n` or
    a number; `grub` are the assignments of /etc/default/grub, `grub_dropins` the files of /etc/default/grub.d.
    """

    name: str
    os_id: str
    os_name: str
    version_id: str
    codename: str
    kernel_release: str
    kernel: tuple[int, int]
    build: str
    kubelet: str
    grub: Mapping[str, str]
    grub_dropins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    sysctl_dropins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def boots(self) -> Kernel:
        """What decides how the kernel boots."""
        always = self.options.get("CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS") == "y"
        return Kernel(self.kernel, self.options.get("CONFIG_NO_HZ_FULL") == "y", "always" if always else "madvise")

    @property
    def kubelet_version(self) -> tuple[int, int]:
        """Major and minor release of the kubelet."""
        major, minor, _patch = self.kubelet.split(".")
        return int(major), int(minor)


_DEBIAN_GRUB = {
    "GRUB_DEFAULT": "0",
    "GRUB_TIMEOUT": "5",
    "GRUB_DISTRIBUTOR": "Debian",
    "GRUB_CMDLINE_LINUX_DEFAULT": "quiet",
    "GRUB_CMDLINE_LINUX": "",
}
_UBUNTU_GRUB = {
    "GRUB_DEFAULT": "0",
    "GRUB_TIMEOUT_STYLE": "hidden",
    "GRUB_TIMEOUT": "0",
    "GRUB_DISTRIBUTOR": "Ubuntu",
    "GRUB_CMDLINE_LINUX_DEFAULT": "quiet splash",
    "GRUB_CMDLINE_LINUX": "",
}
# What Ubuntu's cloud images ship: it replaces the default of the main file.
_UBUNTU_CLOUD = {
    "50-cloudimg-settings.cfg": {
        "GRUB_RECORDFAIL_TIMEOUT": "0",
        "GRUB_TIMEOUT": "0",
        "GRUB_CMDLINE_LINUX_DEFAULT": "console=tty1 console=ttyS0",
        "GRUB_TERMINAL": "console",
    }
}
_DEBIAN_OPTIONS = {
    "CONFIG_HZ": "250",
    "CONFIG_HZ_250": "y",
    "CONFIG_NO_HZ_FULL": "y",
    "CONFIG_NO_HZ_IDLE": "n",
    "CONFIG_RCU_NOCB_CPU": "y",
    "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS": "y",
    "CONFIG_TRANSPARENT_HUGEPAGE_MADVISE": "n",
}
_UBUNTU_OPTIONS = {
    **_DEBIAN_OPTIONS,
    "CONFIG_TRANSPARENT_HUGEPAGE_ALWAYS": "n",
    "CONFIG_TRANSPARENT_HUGEPAGE_MADVISE": "y",
}
_UBUNTU_SYSCTLS = {
    "/etc/sysctl.d/10-kernel-hardening.conf": {"kernel.kptr_restrict": "1"},
    "/etc/sysctl.d/10-magic-sysrq.conf": {"kernel.sysrq": "176"},
    "/etc/sysctl.d/10-zeropage.conf": {"vm.mmap_min_addr": "65536"},
}

PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            name="debian12",
            os_id="debian",
            os_name="Debian GNU/Linux",
            version_id="12",
            codename="bookworm",
            kernel_release="6.1.0-28-amd64",
            kernel=(6, 1),
            build="#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1 (2024-11-22)",
            kubelet="1.31.4",
            grub=_DEBIAN_GRUB,
            options=_DEBIAN_OPTIONS,
        ),
        Profile(
            name="debian13",
            os_id="debian",
            os_name="Debian GNU/Linux",
            version_id="13",
            codename="trixie",
            kernel_release="6.12.43+deb13-amd64",
            kernel=(6, 12),
            build="#1 SMP PREEMPT_DYNAMIC Debian 6.12.43-1 (2025-08-27)",
            kubelet="1.34.1",
            grub=_DEBIAN_GRUB,
            options=_DEBIAN_OPTIONS,
        ),
        Profile(
            name="ubuntu2204",
            os_id="ubuntu",
            os_name="Ubuntu",
            version_id="22.04",
            codename="jammy",
            kernel_release="5.15.0-126-generic",
            kernel=(5, 15),
            build="#136-Ubuntu SMP Wed Nov 6 10:38:22 UTC 2024",
            kubelet="1.30.8",
            grub=_UBUNTU_GRUB,
            grub_dropins=_UBUNTU_CLOUD,
            # Ubuntu's generic kernels cannot stop the tick of busy CPUs before 6.8.
            options={
                **_UBUNTU_OPTIONS,
                "CONFIG_NO_HZ_FULL": "n",
                "CONFIG_NO_HZ_IDLE": "y",
                "CONFIG_RCU_NOCB_CPU": "n",
            },
            sysctl_dropins=_UBUNTU_SYSCTLS,
        ),
        Profile(
            name="ubuntu2404",
            os_id="ubuntu",
            os_name="Ubuntu",
            version_id="24.04",
            codename="noble",
            kernel_release="6.8.0-51-generic",
            kernel=(6, 8),
            build="#52-Ubuntu SMP PREEMPT_DYNAMIC Thu Dec 5 13:09:44 UTC 2024",
            kubelet="1.32.1",
            grub=_UBUNTU_GRUB,
            grub_dropins=_UBUNTU_CLOUD,
            options={**_UBUNTU_OPTIONS, "CONFIG_HZ": "1000", "CONFIG_HZ_1000": "y", "CONFIG_HZ_250": "n"},
            sysctl_dropins=_UBUNTU_SYSCTLS,
        ),
    )
}


def load_profile(name: str) -> Profile:
    """Return the profile of that name; raises `InputError` TUN-1602 with the names there are."""
    if name not in PROFILES:
        why = f"the lab has {', '.join(sorted(PROFILES))}"
        raise InputError((problem("TUN-1602", f"there is no software profile {name!r}", why=why),))
    return PROFILES[name]
