# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel parameters as they are after boot, before user space sets any. Values are those of x86_64 kernels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from ..core.cmdline import Argument
from ..core.cpuset import CpuSet
from ..core.topology import Topology

_PIDS = "4194304"
# khugepaged asks for so much free memory per populated zone. Source: kernel mm/khugepaged.c.
_KIB_PER_ZONE = 22528
_SHARED_MEMORY = "18446744073692774399"

# Source: kernel admin-guide/sysctl, and kernels of 5.15 to 6.12 on bare metal.
_KERNEL = {
    "acct": "4\t2\t30",
    "core_pattern": "core",
    "core_pipe_limit": "0",
    "core_uses_pid": "0",
    "dmesg_restrict": "1",
    "hung_task_check_count": "4194304",
    "hung_task_panic": "0",
    "hung_task_timeout_secs": "120",
    "hung_task_warnings": "10",
    "keys/maxbytes": "20000",
    "keys/maxkeys": "200",
    "keys/root_maxbytes": "25000000",
    "keys/root_maxkeys": "1000000",
    "kptr_restrict": "0",
    "msgmax": "8192",
    "msgmnb": "16384",
    "msgmni": "32000",
    "nmi_watchdog": "1",
    "ostype": "Linux",
    "panic": "0",
    "panic_on_oops": "0",
    "panic_on_warn": "0",
    "perf_cpu_time_max_percent": "25",
    "perf_event_max_sample_rate": "100000",
    "pid_max": _PIDS,
    "printk": "4\t4\t1\t7",
    "randomize_va_space": "2",
    "sched_autogroup_enabled": "1",
    "sched_cfs_bandwidth_slice_us": "5000",
    "sched_deadline_period_max_us": "4194304",
    "sched_deadline_period_min_us": "100",
    "sched_rr_timeslice_ms": "100",
    "sched_rt_period_us": "1000000",
    "sched_rt_runtime_us": "950000",
    "sched_schedstats": "0",
    "shmall": _SHARED_MEMORY,
    "shmmax": _SHARED_MEMORY,
    "shmmni": "4096",
    "soft_watchdog": "1",
    "softlockup_panic": "0",
    "sysrq": "438",
    "tainted": "0",
    "task_delayacct": "0",
    "timer_migration": "1",
    "unprivileged_bpf_disabled": "2",
    "watchdog": "1",
    "watchdog_thresh": "10",
}
_VM = {
    "admin_reserve_kbytes": "8192",
    "compact_unevictable_allowed": "1",
    "compaction_proactiveness": "20",
    "dirty_background_bytes": "0",
    "dirty_background_ratio": "10",
    "dirty_bytes": "0",
    "dirty_expire_centisecs": "3000",
    "dirty_ratio": "20",
    "dirty_writeback_centisecs": "500",
    "dirtytime_expire_seconds": "43200",
    "extfrag_threshold": "500",
    "hugetlb_shm_group": "0",
    "laptop_mode": "0",
    "legacy_va_layout": "0",
    "lowmem_reserve_ratio": "256\t256\t32\t0\t0",
    "max_map_count": "65530",
    "memory_failure_early_kill": "0",
    "memory_failure_recovery": "1",
    "min_slab_ratio": "5",
    "min_unmapped_ratio": "1",
    "mmap_min_addr": "65536",
    "mmap_rnd_bits": "28",
    "nr_overcommit_hugepages": "0",
    "numa_stat": "1",
    "numa_zonelist_order": "Node",
    "oom_dump_tasks": "1",
    "oom_kill_allocating_task": "0",
    "overcommit_kbytes": "0",
    "overcommit_memory": "0",
    "overcommit_ratio": "50",
    "page-cluster": "3",
    "panic_on_oom": "0",
    "percpu_pagelist_high_fraction": "0",
    "stat_interval": "1",
    "swappiness": "60",
    "unprivileged_userfaultfd": "0",
    "user_reserve_kbytes": "131072",
    "vfs_cache_pressure": "100",
    "watermark_boost_factor": "15000",
    "watermark_scale_factor": "10",
    "zone_reclaim_mode": "0",
}
_NET = {
    "bridge/bridge-nf-call-arptables": "1",
    "bridge/bridge-nf-call-ip6tables": "1",
    "bridge/bridge-nf-call-iptables": "1",
    "core/bpf_jit_enable": "1",
    "core/bpf_jit_harden": "0",
    "core/busy_poll": "0",
    "core/busy_read": "0",
    "core/default_qdisc": "fq_codel",
    "core/dev_weight": "64",
    "core/netdev_budget": "300",
    "core/netdev_budget_usecs": "8000",
    "core/netdev_max_backlog": "1000",
    "core/optmem_max": "20480",
    "core/rmem_default": "212992",
    "core/rmem_max": "212992",
    "core/rps_sock_flow_entries": "0",
    "core/somaxconn": "4096",
    "core/wmem_default": "212992",
    "core/wmem_max": "212992",
    "ipv4/ip_forward": "0",
    "ipv4/ip_local_port_range": "32768\t60999",
    "ipv4/neigh/default/gc_thresh1": "128",
    "ipv4/neigh/default/gc_thresh2": "512",
    "ipv4/neigh/default/gc_thresh3": "1024",
    "ipv4/tcp_congestion_control": "cubic",
    "ipv4/tcp_fastopen": "1",
    "ipv4/tcp_fin_timeout": "60",
    "ipv4/tcp_keepalive_intvl": "75",
    "ipv4/tcp_keepalive_probes": "9",
    "ipv4/tcp_keepalive_time": "7200",
    "ipv4/tcp_max_syn_backlog": "4096",
    "ipv4/tcp_mtu_probing": "0",
    "ipv4/tcp_rmem": "4096\t131072\t6291456",
    "ipv4/tcp_sack": "1",
    "ipv4/tcp_slow_start_after_idle": "1",
    "ipv4/tcp_timestamps": "1",
    "ipv4/tcp_tw_reuse": "2",
    "ipv4/tcp_window_scaling": "1",
    "ipv4/tcp_wmem": "4096\t16384\t4194304",
    "netfilter/nf_conntrack_buckets": "262144",
    "netfilter/nf_conntrack_max": "262144",
}
_FS = {
    "aio-max-nr": "65536",
    "file-max": "9223372036854775807",
    "inotify/max_queued_events": "16384",
    "inotify/max_user_instances": "128",
    "inotify/max_user_watches": "1048576",
    "nr_open": "1073741816",
    "pipe-max-size": "1048576",
    "protected_hardlinks": "1",
    "protected_symlinks": "1",
    "suid_dumpable": "0",
}
# Parameters that came or went: path -> (first kernel, first kernel without, value).
_CAME_AND_WENT: Mapping[str, tuple[tuple[int, int], tuple[int, int], str]] = {
    "kernel/sched_child_runs_first": ((2, 6), (6, 7), "0"),
    "kernel/oops_limit": ((6, 2), (99, 0), "10000"),
    "kernel/warn_limit": ((6, 2), (99, 0), "0"),
    "kernel/split_lock_mitigate": ((6, 0), (99, 0), "1"),
    "kernel/io_uring_disabled": ((6, 6), (99, 0), "0"),
    "kernel/numa_balancing_promote_rate_limit_MBps": ((6, 1), (99, 0), "65536"),
    "net/core/rps_default_mask": ((6, 3), (99, 0), "0"),
    "net/core/mem_pcpu_rsv": ((6, 6), (99, 0), "256"),
    "vm/enable_soft_offline": ((6, 11), (99, 0), "1"),
    "vm/hugetlb_optimize_vmemmap": ((5, 19), (99, 0), "0"),
    "vm/memfd_noexec": ((6, 3), (99, 0), "0"),
}


def sysctl_files(topology: Topology, kernel: tuple[int, int], release: str, watched: CpuSet) -> dict[str, str]:
    """Return /proc/sys as it is after boot, by absolute path; `watched` are the CPUs of the lockup detector."""
    values = {f"kernel/{name}": value for name, value in _KERNEL.items()}
    values.update((f"vm/{name}", value) for name, value in _VM.items())
    values.update((f"net/{name}", value) for name, value in _NET.items())
    values.update((f"fs/{name}", value) for name, value in _FS.items())
    values.update((name, value) for name, (since, until, value) in _CAME_AND_WENT.items() if since <= kernel < until)
    memory_nodes = [node for node in topology.numa_nodes if node.memory_kib]
    values.update(
        {
            "kernel/numa_balancing": str(int(len(topology.numa_nodes) > 1)),
            "kernel/osrelease": release,
            "kernel/threads-max": str(topology.memory_kib // 32),
            "kernel/watchdog_cpumask": watched.format(),
            "vm/min_free_kbytes": str(_min_free_kib(topology.memory_kib, len(memory_nodes))),
        }
    )
    return {f"/proc/sys/{name}": f"{value}\n" for name, value in values.items()}


def argument_writes(args: Iterable[Argument]) -> Iterator[tuple[str, str]]:
    """Yield the kernel parameters that arguments of the command line set, as (path, value) in order.

    Source: kernel admin-guide/kernel-parameters; `sysctl.NAME=VALUE` is known since 5.8.
    """
    for arg in args:
        value = arg.value or ""
        if arg.name == "nmi_watchdog" and value in ("0", "1"):
            yield "/proc/sys/kernel/nmi_watchdog", value
        elif arg.name == "nosoftlockup" and arg.value is None:
            yield "/proc/sys/kernel/soft_watchdog", "0"
        elif arg.name == "nowatchdog" and arg.value is None:
            yield from ((f"/proc/sys/kernel/{name}", "0") for name in ("watchdog", "soft_watchdog", "nmi_watchdog"))
        elif arg.name == "numa_balancing" and value in ("enable", "disable"):
            yield "/proc/sys/kernel/numa_balancing", str(int(value == "enable"))
        elif arg.name == "noautogroup" and arg.value is None:
            yield "/proc/sys/kernel/sched_autogroup_enabled", "0"
        elif arg.name.startswith("sysctl.") and arg.value is not None:
            name = arg.name[len("sysctl.") :]
            yield "/proc/sys/" + (name if "/" in name else name.replace(".", "/")), value


def _min_free_kib(memory_kib: int, nodes: int) -> int:
    # Source: kernel mm/page_alloc.c (calculate_min_free_kbytes); DMA and DMA32 zones exist on the first node only.
    return max(min(math.isqrt(memory_kib * 16), 262144), _KIB_PER_ZONE * (nodes + 2))
