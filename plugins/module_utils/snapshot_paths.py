# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which files of a node a snapshot holds, as data."""

from __future__ import annotations

BOOT_ID = "/proc/sys/kernel/random/boot_id"

CPU = "/sys/devices/system/cpu"
NUMA = "/sys/devices/system/node"

# The first of each group that is there is enough: old kernels have only the later spellings.
SIBLING_FILES = ("thread_siblings_list", "core_cpus_list", "thread_siblings", "core_cpus")
TOPOLOGY_FILES = ("physical_package_id", "core_id", "die_id", "cluster_id")
CPU_FILES = ("online", "offline", "present", "possible", "isolated", "nohz_full", "smt/active", "smt/control")
HUGEPAGE_COUNTS = ("nr_hugepages", "free_hugepages", "surplus_hugepages")
HYBRID_CPUS = ("/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus", "/sys/devices/cpu_lowpower/cpus")
# Classes whose entries have a `device` with a place.
DEVICE_CLASSES = ("net", "nvme", "infiniband", "drm")
PCI_DEVICES = "/sys/bus/pci/devices"
# Network, NVMe, display and accelerator, as the file `class` begins.
PCI_CLASSES = ("0x02", "0x0108", "0x03", "0x12")

FILES = (
    "/proc/cmdline",
    "/proc/meminfo",
    "/proc/swaps",
    "/proc/version",
    "/proc/sys/kernel/osrelease",
    "/proc/irq/default_smp_affinity",
    "/etc/os-release",
    "/etc/default/grub",
    "/etc/kernel/cmdline",
    "/etc/tunectl/kernel-arguments",
    "/boot/grub/grubenv",
    "/boot/grub2/grubenv",
    "/etc/sysctl.conf",
    "/etc/sysconfig/irqbalance",
    "/etc/default/irqbalance",
    "/etc/tuned/active_profile",
    "/etc/tuned/profile_mode",
    "/etc/saptune/extra",
    "/etc/sysconfig/saptune",
    "/run/ostree-booted",
    "/boot/loader/loader.conf",
    "/boot/efi/loader/loader.conf",
    "/efi/loader/loader.conf",
    "/sys/kernel/security/lockdown",
    "/sys/kernel/realtime",
    "/sys/devices/cpu/caps/pmu_name",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/mm/ksm/merge_across_nodes",
    "/sys/devices/virtual/workqueue/cpumask",
    "/sys/devices/virtual/workqueue/cpumask_isolated",
    "/sys/devices/system/cpu/cpuidle/current_driver",
    "/sys/devices/system/cpu/cpuidle/current_governor",
    "/sys/devices/system/cpu/intel_pstate/status",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/fs/cgroup/cgroup.controllers",
    "/sys/fs/cgroup/cpuset.cpus.effective",
    "/var/lib/kubelet/cpu_manager_state",
    "/var/lib/kubelet/memory_manager_state",
    "/etc/tmpfiles.d/tunectl.conf",
    "/var/lib/tunectl/current",
    "/run/tunectl/irq-refused",
)

LISTINGS = (
    "/boot/grub",
    "/boot/grub2",
    "/boot/loader/entries",
    "/boot/efi/EFI",
    "/boot/efi/loader/entries",
    "/run/tuned",
    "/sys/fs/cgroup",
    "/sys/kernel/debug/sched",
    "/sys/kernel/debug/sched/numa_balancing",
    "/sys/fs/resctrl",
    "/etc/systemd/system",
    "/etc/systemd/system/multi-user.target.wants",
)

# Directories of which all files with the suffix are read.
DIRECTORIES = (
    ("/etc/default/grub.d", ".cfg"),
    ("/etc/sysctl.d", ".conf"),
    ("/run/sysctl.d", ".conf"),
    ("/usr/local/lib/sysctl.d", ".conf"),
    ("/usr/lib/sysctl.d", ".conf"),
    ("/lib/sysctl.d", ".conf"),
    ("/boot/loader/entries", ".conf"),
    ("/etc/modprobe.d", ".conf"),
    ("/sys/kernel/mm/transparent_hugepage", ""),
    ("/sys/kernel/mm/transparent_hugepage/khugepaged", ""),
)

GRUB_MENUS = ("/boot/grub/grub.cfg", "/boot/grub2/grub.cfg")

SCHEDULER_KNOBS = (
    "base_slice_ns",
    "latency_ns",
    "min_granularity_ns",
    "wakeup_granularity_ns",
    "idle_min_granularity_ns",
    "migration_cost_ns",
    "nr_migrate",
    "tunable_scaling",
    "latency_warn_ms",
    "latency_warn_once",
    "preempt",
    "features",
    "numa_balancing/scan_delay_ms",
    "numa_balancing/scan_period_min_ms",
    "numa_balancing/scan_period_max_ms",
    "numa_balancing/scan_size_mb",
    "numa_balancing/hot_threshold_ms",
)

# Below /proc/sys, directories of one set of parameters per network interface or scheduling domain.
SYSCTL_DETAIL = ("conf", "neigh", "sched_domain", "binfmt_misc")

KUBELET_MAIN = ("/var/lib/kubelet/config.yaml", "/etc/kubernetes/kubelet.conf")
KUBELET_DROPINS = "/etc/kubernetes/kubelet.conf.d"
KUBELET_ENVIRONMENT = (
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/kubernetes/kubelet-env",
)
UNIT_DIRECTORIES = ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
KUBELET_BINARIES = ("/usr/bin/kubelet", "/usr/local/bin/kubelet", "/opt/bin/kubelet")

# Programs that tune a node by themselves, by the name of their process; the kubelet for its arguments.
TUNERS = ("tuned", "irqbalance", "saptune", "numad", "ksmtuned", "thermald", "power-profiles-")
PROCESSES = (*TUNERS, "kubelet")
# Whether an administrator masked or replaced these shows in the link of their name.
UNITS = ("tuned", "irqbalance", "kubelet")

# The list starts with the options that decide whether a setting can work at all.
KERNEL_CONFIG = (
    "CONFIG_HZ=",
    "CONFIG_HZ_",
    "CONFIG_NO_HZ",
    "CONFIG_PREEMPT",
    "CONFIG_CPUSETS",
    "CONFIG_CPU_ISOLATION",
    "CONFIG_SCHED_DEBUG",
    "CONFIG_TRANSPARENT_HUGEPAGE",
    "CONFIG_COMPACTION",
    "CONFIG_HUGETLB",
    "CONFIG_NUMA_BALANCING",
    "CONFIG_PSI",
    "CONFIG_RCU_NOCB_CPU",
    "CONFIG_RESCTRL",
    "CONFIG_X86_CPU_RESCTRL",
    "CONFIG_ARM64_MPAM",
    "CONFIG_KSM",
)

# Kernel parameters that tiers set, that the kubelet sets, or that tell who else tunes.
SYSCTLS = (
    "vm.swappiness",
    "vm.overcommit_memory",
    "vm.overcommit_ratio",
    "vm.panic_on_oom",
    "vm.stat_interval",
    "vm.min_free_kbytes",
    "vm.watermark_scale_factor",
    "vm.watermark_boost_factor",
    "vm.zone_reclaim_mode",
    "vm.compaction_proactiveness",
    "vm.compact_unevictable_allowed",
    "vm.extfrag_threshold",
    "vm.numa_stat",
    "vm.percpu_pagelist_high_fraction",
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.dirty_writeback_centisecs",
    "vm.dirty_expire_centisecs",
    "vm.vfs_cache_pressure",
    "vm.max_map_count",
    "vm.nr_hugepages",
    "vm.nr_overcommit_hugepages",
    "vm.hugetlb_shm_group",
    "kernel.numa_balancing",
    "kernel.nmi_watchdog",
    "kernel.watchdog",
    "kernel.watchdog_thresh",
    "kernel.watchdog_cpumask",
    "kernel.soft_watchdog",
    "kernel.hung_task_timeout_secs",
    "kernel.timer_migration",
    "kernel.panic",
    "kernel.panic_on_oops",
    "kernel.keys.root_maxkeys",
    "kernel.keys.root_maxbytes",
    "kernel.sched_rt_runtime_us",
    "kernel.sched_rt_period_us",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_min_granularity_ns",
    "kernel.sched_wakeup_granularity_ns",
    "kernel.sched_latency_ns",
    "kernel.sched_migration_cost_ns",
    "kernel.sched_nr_migrate",
    "kernel.pid_max",
    "kernel.threads-max",
    "net.core.rps_default_mask",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.somaxconn",
    "net.core.netdev_max_backlog",
    "net.ipv4.tcp_fastopen",
    "fs.aio-max-nr",
    "fs.file-max",
    "fs.inotify.max_user_watches",
    "fs.inotify.max_user_instances",
)
