# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The files of an installed system: identity, boot loader, kernel options, packages, swap."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from .grub import DEFAULTS, DROPINS, MENU, assignments, menu
from .node import SimulatedNode
from .profiles import Profile

_NAMESPACE = uuid.UUID("6c2c9b1e-0f65-5d0c-9a53-6d7a1d3c8f10")
# Options all the kernels agree on; those in which they differ are in the profile.
_OPTIONS = {
    "CONFIG_CGROUPS": "y",
    "CONFIG_COMPACTION": "y",
    "CONFIG_CPUSETS": "y",
    "CONFIG_CPU_ISOLATION": "y",
    "CONFIG_DEBUG_FS": "y",
    "CONFIG_HUGETLBFS": "y",
    "CONFIG_HUGETLB_PAGE": "y",
    "CONFIG_KSM": "y",
    "CONFIG_NO_HZ": "y",
    "CONFIG_NO_HZ_COMMON": "y",
    "CONFIG_NUMA": "y",
    "CONFIG_NUMA_BALANCING": "y",
    "CONFIG_NUMA_BALANCING_DEFAULT_ENABLED": "y",
    "CONFIG_PREEMPT": "n",
    "CONFIG_PREEMPT_DYNAMIC": "y",
    "CONFIG_PREEMPT_RT": "n",
    "CONFIG_PREEMPT_VOLUNTARY": "y",
    "CONFIG_PSI": "y",
    "CONFIG_PSI_DEFAULT_DISABLED": "n",
    "CONFIG_SCHED_DEBUG": "y",
    "CONFIG_TRANSPARENT_HUGEPAGE": "y",
    "CONFIG_X86_CPU_RESCTRL": "y",
}


def root_uuid(name: str) -> str:
    """Return the id of a node's root file system: always the same for a name."""
    return str(uuid.uuid5(_NAMESPACE, name))


def system_files(node: SimulatedNode) -> dict[str, str]:
    """Return the files of the distribution, by absolute path, without those of the kubelet."""
    profile = node.profile
    release = profile.kernel_release
    root = root_uuid(node.name)
    grub = {**profile.grub, "GRUB_CMDLINE_LINUX": " ".join(_machine_arguments(node))}
    files = {
        "/etc/os-release": _os_release(profile),
        "/etc/hostname": f"{node.name}\n",
        "/etc/fstab": f"UUID={root} / ext4 errors=remount-ro 0 1\n",
        DEFAULTS: assignments(grub),
        f"/boot/config-{release}": _kernel_config(profile),
        f"/boot/vmlinuz-{release}": "simulated\n",
        MENU: menu(release, root, " ".join(part for part in _plain_arguments(grub, profile) if part)),
        "/etc/sysctl.d/99-kubernetes.conf": _sysctl_file(_KUBERNETES_SYSCTLS),
        "/usr/lib/sysctl.d/50-pid-max.conf": _sysctl_file({"kernel.pid_max": "4194304"}),
        "/var/lib/dpkg/status": _packages(profile),
    }
    files.update({path: _sysctl_file(values) for path, values in profile.sysctl_dropins.items()})
    files.update({f"{DROPINS}/{name}": assignments(values) for name, values in profile.grub_dropins.items()})
    return files


# What installing Kubernetes sets.
_KUBERNETES_SYSCTLS = {
    "net.bridge.bridge-nf-call-iptables": "1",
    "net.bridge.bridge-nf-call-ip6tables": "1",
    "net.ipv4.ip_forward": "1",
}


def _machine_arguments(node: SimulatedNode) -> list[str]:
    # A described machine may come with another default page size: only an argument makes it so.
    size = node.topology.default_hugepage_kib
    usual = 2048
    return [] if size == usual else [f"default_hugepagesz={size}K"]


def _plain_arguments(grub: Mapping[str, str], profile: Profile) -> tuple[str, str]:
    values = dict(grub)
    for name in sorted(profile.grub_dropins):
        values.update(profile.grub_dropins[name])
    return values.get("GRUB_CMDLINE_LINUX", ""), values.get("GRUB_CMDLINE_LINUX_DEFAULT", "")


def _os_release(profile: Profile) -> str:
    pretty = f"{profile.os_name} {profile.version_id} ({profile.codename})"
    lines = [
        f'PRETTY_NAME="{pretty}"',
        f'NAME="{profile.os_name}"',
        f'VERSION_ID="{profile.version_id}"',
        f'VERSION="{profile.version_id} ({profile.codename})"',
        f"VERSION_CODENAME={profile.codename}",
        f"ID={profile.os_id}",
    ]
    if profile.os_id != "debian":
        lines.append("ID_LIKE=debian")
    return "\n".join(lines) + "\n"


def _kernel_config(profile: Profile) -> str:
    options = {**_OPTIONS, **profile.options}
    return "".join(
        f"# {name} is not set\n" if value == "n" else f"{name}={value}\n" for name, value in sorted(options.items())
    )


def _sysctl_file(values: Mapping[str, str]) -> str:
    return "".join(f"{name} = {value}\n" for name, value in values.items())


def _packages(profile: Profile) -> str:
    packages = {"kubelet": f"{profile.kubelet}-1.1", f"linux-image-{profile.kernel_release}": profile.kernel_release}
    return "\n".join(
        f"Package: {name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {version}\n"
        for name, version in packages.items()
    )
