# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Kernel arguments and module options that a tier means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .cpuset import CpuSet
from .desire_context import DesireContext, Wanted
from .desired import Area, Impact, Setting
from .findings import Finding, Severity
from .hugepage_plan import base_page_kib, size_text
from .operator_args import OTHER, BootFacts, cpu_vendor, hugepage_args, operator_args, own_args

DOCUMENT = "kernel admin-guide/kernel-parameters"
_AFFINITY = "systemd.cpu_affinity"
_PAIR = ("hugepagesz", "hugepages")
# A real-time kernel shows in its release: 5.14.0-570.1.1.el9_6.x86_64+rt, 6.1.0-18-rt-amd64, 5.15.96-rt61.
_REALTIME_RELEASE = re.compile(r"(?:^|[-+._])rt\d*(?:$|[-+._])")

# These come from the partition and the hugepages; a second value of the tier's own would undo them.
_DERIVED = (
    "isolcpus",
    "nohz_full",
    "rcu_nocbs",
    "irqaffinity",
    "tuned.non_isolcpus",
    _AFFINITY,
    "default_hugepagesz",
    "hugepagesz",
    "hugepages",
)
_WHY = {
    "skew_tick": "Timer ticks of the CPUs do not fall on the same moment.",
    "tsc": "The time stamp counter is trusted, so no watchdog timer disturbs the CPUs.",
    "rcupdate.rcu_normal_after_boot": "After boot RCU does without expedited grace periods, which interrupt all CPUs.",
    "nohz": "Idle CPUs are not woken by the timer tick.",
    "rcu_nocbs": "RCU callbacks of isolated CPUs run on other CPUs.",
    "tuned.non_isolcpus": "A mark for TuneD: the CPUs that are not isolated.",
    _AFFINITY: "Services start on CPUs that are not isolated.",
    "intel_iommu": "Devices can be handed to pods safely.",
    "iommu": "Devices of the host bypass address translation.",
    "nmi_watchdog": "The hard-lockup detector does not interrupt the CPUs.",
    "mce": "Correctable hardware errors are not polled, which would interrupt the CPUs.",
    "processor.max_cstate": "CPUs stay in shallow idle states and wake up at once.",
    "intel_idle.max_cstate": "The Intel idle driver leaves the choice of idle states to ACPI.",
    "idle": "Idle CPUs poll and need no wake-up; it costs power and heat.",
    "intel_pstate": "It decides who controls the frequencies of Intel processors.",
    "amd_pstate": "It decides who controls the frequencies of AMD processors.",
    "nohz_full": "The timer tick stops on isolated CPUs while one task runs there.",
    "isolcpus": "Managed interrupts keep off the isolated CPUs.",
    "nosoftlockup": "The soft-lockup detector does not run on the CPUs.",
    "rcutree.kthread_prio": "RCU threads run before busy real-time tasks.",
    "default_hugepagesz": "Hugepages that name no size are of this one.",
    "hugepagesz": "The next count is about hugepages of this size.",
    "hugepages": "So many hugepages are set aside at boot, while memory is not fragmented.",
    "irqaffinity": "Interrupts start on CPUs that no poll thread owns.",
    "nosmt": "Each core runs one thread only.",
}


def desire_kernel(context: DesireContext) -> Wanted:
    """Return the kernel arguments, the module options and what was found about both."""
    arguments = _arguments(context)
    settings = (*_settings(context, arguments), *_modules(context))
    return Wanted(settings, tuple(_judge(context, arguments)))


def wants_isolation(context: DesireContext) -> bool:
    """Return whether isolated CPUs are isolated by kernel arguments; never with an empty list."""
    isolated = context.partition.isolated | context.partition.ovs_dpdk
    return context.is_profile and context.tier.cpu.enforce_isolation and bool(isolated)


def _arguments(context: DesireContext) -> tuple[str, ...]:
    tier = context.tier
    if not wants_isolation(context):
        return (*hugepage_args(tier.hugepages), *own_args(tier))
    vendor = cpu_vendor(context.topology.arch, context.topology.vendor)
    facts = BootFacts(vendor, _online_at_boot(context), context.environment.pmu_name or "")
    arguments = operator_args(tier, context.partition, facts)
    return arguments if context.is_operated else shortened(arguments, own_args(tier))


def _online_at_boot(context: DesireContext) -> CpuSet:
    """The operator computes from what is online now; alone we know which CPUs will be offline, and compute once."""
    online = context.topology.online
    return online if context.is_operated else online - context.partition.offlined


def shortened(arguments: tuple[str, ...], own: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return arguments of equal meaning without the operator's repetitions, CPUs as ranges.

    Shape: an argument that stands earlier already, letter by letter, is left out: the kernel and systemd would set
    the same value again. Hugepage pairs, where order and number count, and the tier's `own` arguments, which may add
    up (`console=`), all stay.
    """
    first_own = len(arguments) - len(own)
    kept: list[str] = []
    for index, argument in enumerate(arguments):
        name, _equals, value = argument.partition("=")
        if name in _PAIR or index >= first_own or argument not in kept:
            kept.append(f"{name}={CpuSet.parse(value)}" if name == _AFFINITY and index < first_own else argument)
    return tuple(kept)


def _settings(context: DesireContext, arguments: tuple[str, ...]) -> Iterator[Setting]:
    seen: Counter[str] = Counter()
    own = Counter(own_args(context.tier))
    first_own = len(arguments) - sum(own.values())
    size = context.tier.hugepages.default_size
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        size = value if name == "hugepagesz" else size
        key = f"{name}.{size}" if name in _PAIR and size else name
        seen[key] += 1
        is_own = index >= first_own
        yield context.setting(
            Area.CMDLINE,
            name,
            value if equals else None,
            Impact.REBOOT,
            why="The tier asks for this argument." if is_own and name != "nosmt" else _WHY.get(name, ""),
            source=DOCUMENT,
            path=_path_of(context, name, argument, is_own=is_own),
            setting_id=f"cmdline.{key}" + (f"#{seen[key]}" if seen[key] > 1 else ""),
        )


def _path_of(context: DesireContext, name: str, argument: str, *, is_own: bool) -> str:
    if is_own:
        args = context.tier.kernel.args
        return f"kernel.args[{args.index(argument)}]" if argument in args else "cpu.disable_smt"
    if name == "default_hugepagesz":
        return "hugepages.default_size"
    return "hugepages.pages" if name in _PAIR else "cpu.isolated"


def _modules(context: DesireContext) -> Iterator[Setting]:
    for module, options in context.tier.kernel.modules.items():
        for option, value in options.items():
            yield context.setting(
                Area.MODULE,
                f"{module}.{option}",
                str(value),
                Impact.REBOOT,
                why=f"The module {module} gets this option when it is loaded.",
                source="modprobe.d(5)",
                path=f"kernel.modules.{module}.{option}",
            )


def _judge(context: DesireContext, arguments: tuple[str, ...]) -> Iterator[Finding]:
    yield from _managed(context, arguments)
    yield from _unknown_vendor(context)
    yield from _realtime(context)
    yield from _page_size(context)
    if arguments:
        yield from _boot_loader(context)


def _managed(context: DesireContext, arguments: tuple[str, ...]) -> Iterator[Finding]:
    own = own_args(context.tier)
    derived = {name: argument for argument in arguments[: len(arguments) - len(own)] for name in [_name(argument)]}
    for index, argument in enumerate(context.tier.kernel.args):
        name = _name(argument)
        mine = derived.get(name)
        if mine is None or mine == argument:
            continue
        undoes = name in _DERIVED
        yield context.finding(
            "kernel.args.managed",
            Severity.CRITICAL if undoes else Severity.WARNING,
            f"the tier's argument {argument} competes with {mine}, which follows from the tier itself",
            path=f"kernel.args[{index}]",
            expected=mine,
            actual=argument,
            why="both would stand on the command line and the later one wins"
            if not undoes
            else "the CPU sets or hugepages of the tier would not be those that the kernel uses",
            remedy=f"remove {argument} from kernel.args and change what {mine} comes from",
            setting=f"cmdline.{name}",
        )


def _name(argument: str) -> str:
    return argument.partition("=")[0].replace("-", "_")


def _unknown_vendor(context: DesireContext) -> Iterator[Finding]:
    topology = context.topology
    if not wants_isolation(context) or cpu_vendor(topology.arch, topology.vendor) != OTHER:
        return
    name = topology.vendor or "unknown"
    if context.is_operated:
        yield context.finding(
            "kernel.args.vendor",
            Severity.CRITICAL,
            f"the node tuning operator has no profile for processors of vendor {name}",
            path="cpu.isolated",
            expected="GenuineIntel, AuthenticAMD or aarch64",
            actual=name,
            why="TuneD would not load the profile and the pool would get no kernel argument at all",
            remedy="use another pool for these machines",
        )
    else:
        yield context.finding(
            "kernel.args.vendor",
            Severity.INFO,
            f"the processor's vendor is {name}: arguments that are a vendor's own (IOMMU, idle states, frequencies) "
            "are left out",
            path="cpu.isolated",
            expected="GenuineIntel, AuthenticAMD or aarch64",
            actual=name,
            remedy="add what this processor needs to kernel.args",
        )


def _realtime(context: DesireContext) -> Iterator[Finding]:
    if not context.tier.kernel.realtime or not context.on_node or not context.knows_node:
        return
    release = context.environment.kernel_release
    is_realtime = context.environment.realtime
    if is_realtime is None:
        is_realtime = bool(_REALTIME_RELEASE.search(release))
    if not is_realtime:
        yield context.finding(
            "kernel.realtime.missing",
            Severity.CRITICAL,
            f"the tier wants a real-time kernel and the node runs {release}",
            path="kernel.realtime",
            expected="a PREEMPT_RT kernel",
            actual=release,
            why="tunectl does not install kernels; without it the latencies of the tier cannot be had",
            remedy="install the distribution's real-time kernel (kernel-rt, linux-image-rt), make it the default and "
            "reboot; or set kernel.realtime: false",
        )


def _page_size(context: DesireContext) -> Iterator[Finding]:
    running = context.environment.page_kib
    if context.tier.kernel.page_size and context.on_node and running and base_page_kib(context) != running:
        yield context.finding(
            "kernel.page-size",
            Severity.CRITICAL,
            f"the tier wants a kernel with {context.tier.kernel.page_size} pages and the node runs one with "
            f"{size_text(running)}",
            path="kernel.page_size",
            expected=context.tier.kernel.page_size,
            actual=size_text(running),
            why="the page size is fixed when a kernel is built",
            remedy="install the kernel with that page size and reboot, or change kernel.page_size",
        )


def _boot_loader(context: DesireContext) -> Iterator[Finding]:
    loader = context.environment.boot_loader
    if not context.on_node or not context.knows_node or loader in _LOADERS:
        return
    yield context.finding(
        "boot.loader.unsupported",
        Severity.CRITICAL,
        f"kernel arguments cannot be set through this node's boot loader ({loader})",
        path="kernel.args" if context.tier.kernel.args else "cpu.isolated",
        expected="GRUB, loader entries or rpm-ostree",
        actual=loader,
        why="the arguments would be written and never reach the kernel",
        remedy=_LOADER_REMEDY.get(loader, "boot the node with GRUB, or set cpu.enforce_isolation: false"),
    )


_LOADERS = ("grub", "bls", "ostree")
_LOADER_REMEDY = {
    "systemd-boot": "add the arguments to the options line of the loader entries and to /etc/kernel/cmdline (a unified "
    "kernel image is built anew with it: kernel-install add), or set cpu.enforce_isolation: false",
}
