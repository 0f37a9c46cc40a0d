"""Does a kubelet start on this configuration? If not, which line is at fault, and what to write there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tunectl.core.desired import Platform
from tunectl.core.environment import environment
from tunectl.core.errors import InputError, problem
from tunectl.core.findings import Finding, Origin, Severity, Verdict
from tunectl.core.kubelet.config_decode import Path
from tunectl.core.kubelet.config_gates import LATEST, Version
from tunectl.core.kubelet.config_host import HostFacts
from tunectl.core.kubelet.config_judge import Sources, judge_config
from tunectl.core.kubelet.config_judge import Verdict as StartVerdict
from tunectl.core.kubelet.config_merge import ConfigFile, Flags, merge_config
from tunectl.core.kubelet.config_start import Checkpoints, Kubelet
from tunectl.core.kubelet.machine import KubeletMachine, machine_of
from tunectl.core.kubelet.node import Flavor
from tunectl.core.kubelet_command import KubeletCommand
from tunectl.core.kubelet_flags import flag_of_field, read_flags
from tunectl.core.kubelet_start import (
    INVALID,
    MACHINE,
    TWICE,
    Subject,
    config_findings,
    driver_findings,
    hazard_findings,
    readmission_findings,
    start_findings,
)
from tunectl.core.observed import observe
from tunectl.core.snapshot import Snapshot
from tunectl.core.sysfs import read_topology
from tunectl.core.tier import Tier
from tunectl.core.topology import Topology
from tunectl.planning.documents import snapshot_documents
from tunectl.planning.kubelet_plan import (
    Planned,
    config_place,
    described_start,
    flavor_of,
    node_kubelet,
    planned_start,
    turned_away,
    untold,
)
from tunectl.planning.kubelet_yaml import read_config_text
from tunectl.planning.pool import Planner

OLDEST: Version = (1, 28)


@dataclass(frozen=True)
class NamedText:
    """A file by its name."""

    name: str
    text: str


@dataclass(frozen=True)
class Written:
    """What the user wrote, or named, instead of what nodes have.

    Shape: None where nothing was named; `version` and `flavor` likewise.
    """

    main: NamedText | None = None
    dropins: Sequence[NamedText] | None = None
    flags: str | None = None
    checkpoints: Checkpoints | None = None
    version: Version | None = None
    flavor: Flavor | None = None


@dataclass(frozen=True)
class Judged:
    """One kubelet: whether it starts, and everything that there is to say. `stage` is where it ends, empty if not."""

    name: str
    kubelet: Kubelet
    starts: bool
    stage: str = ""
    on_machine: bool = True
    findings: tuple[Finding, ...] = ()
    reservation: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False


@dataclass(frozen=True)
class Validation:
    """All kubelets that were judged."""

    kubelets: tuple[Judged, ...]

    @property
    def exit_code(self) -> int:
        """3 when a kubelet does not start or would do damage, else 0."""
        blocked = any(finding.blocks for kubelet in self.kubelets for finding in kubelet.findings)
        return 3 if blocked or not all(kubelet.starts for kubelet in self.kubelets) else 0


def parse_version(text: str) -> Version:
    """Return the release of a text like `1.34` or `v1.34.2`; raises `InputError` TUN-1811 for another one."""
    parts = text.removeprefix("v").split(".")
    if len(parts) in (2, 3) and all(part.isascii() and part.isdigit() for part in parts[:2]):
        version = (int(parts[0]), int(parts[1]))
        if OLDEST <= version <= LATEST:
            return version
    fix = f"write a release from {_dotted(OLDEST)} to {_dotted(LATEST)}"
    what = f"tunectl does not know the kubelet {text!r}"
    raise InputError((problem("TUN-1811", what, where="--kubelet-version", why="no such release is known", fix=fix),))


def parse_flags(text: str) -> Flags:
    """Return what flags set; raises `InputError` TUN-1812 for text that is no command line."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        fix = "write them as in KUBELET_EXTRA_ARGS, quotation marks closed"
        what = "the flags are no command line"
        raise InputError((problem("TUN-1812", what, where="--flags", why=str(error), fix=fix),)) from error
    if words and not words[0].startswith("-"):
        words = words[1:]
    return read_flags(KubeletCommand(tuple(words), "--flags"))


def validate_files(written: Written, topology: Topology | None, name: str) -> Judged:
    """Return what a kubelet does with the files alone, on a described machine if there is one."""
    kubelet = Kubelet(written.version or LATEST, written.flavor or Flavor.UPSTREAM)
    sources = _written_sources(written, Sources())
    machine = None if topology is None else machine_of(topology)
    checkpoints = written.checkpoints or Checkpoints()
    return _judged(_Case(name, written, sources, machine, HostFacts(), kubelet, checkpoints))


def validate_node(written: Written, snapshot: Snapshot, platform: Platform) -> Judged:
    """Return what the kubelet of a node does with its own files, or with those that were written instead."""
    observed = observe(snapshot, snapshot_documents(snapshot))
    software = environment(observed)
    node = node_kubelet(observed, software, written.flavor or flavor_of(platform))
    kubelet = replace(node.kubelet, version=written.version or node.kubelet.version)
    case = _Case(
        snapshot.node,
        written,
        _written_sources(written, node.sources),
        machine_of(read_topology(snapshot)),
        node.host,
        kubelet,
        written.checkpoints or node.checkpoints,
        snapshot,
        software.cgroup_driver if _pods_tell(software.cgroup_driver, observed.kubelet.config) else "",
    )
    return _judged(case)


def _pods_tell(driver: str, config: Mapping[str, object]) -> bool:
    # Where it equals the configuration, nothing is to be said.
    return bool(driver) and driver != config.get("cgroupDriver")


def validate_plan(tier: Tier, snapshot: Snapshot, platform: Platform) -> Judged:
    """Return what the kubelet of a node would do after the tier was applied to it."""
    planner = Planner(tier, platform)
    plan = planner.plan_node(snapshot)
    observed = observe(snapshot, snapshot_documents(snapshot))
    software = environment(observed)
    topology = planner.topologies[snapshot.node]
    planned = Planned(tier, topology, plan.desired, plan.files, plan.changes, plan.actions, plan.findings)
    start = planned_start(observed, software, planned, platform)
    # What stands in the plan's findings already is not said twice.
    told = [finding for finding in plan.findings if finding.id.startswith("kubelet.")]
    known = {(finding.id, finding.message) for finding in told}
    found = [*told, *(one for one in untold(start.findings, told) if (one.id, one.message) not in known)]
    found += config_findings(start.subject, start.verdict, start.kubelet)
    return _result(snapshot.node, start.kubelet, start.verdict, found, on_machine=True, simulated=snapshot.simulated)


def validate_tier(tier: Tier, topology: Topology, name: str, platform: Platform, version: Version | None) -> Judged:
    """Return what a kubelet with a tier's settings alone does on a described machine."""
    start = described_start(tier, topology, name, platform, version or LATEST)
    found = [*start.findings, *config_findings(start.subject, start.verdict, start.kubelet)]
    return _result(name, start.kubelet, start.verdict, found, on_machine=True, simulated=False)


@dataclass(frozen=True)
class _Case:
    """One kubelet to judge."""

    name: str
    written: Written
    sources: Sources
    machine: KubeletMachine | None
    host: HostFacts
    kubelet: Kubelet
    checkpoints: Checkpoints
    snapshot: Snapshot | None = None
    driver: str = ""

    def place(self, file: str, path: Path) -> Origin:
        """Return where a field stands."""
        own = [one for one in (self.written.main, *(self.written.dropins or ())) if one is not None]
        text = next((one.text for one in own if one.name == file), None)
        if text is not None:
            found = read_config_text(text)
            return Origin(file, *(found.fault_place if found.fault else found.place(path)))
        return config_place(self.snapshot, file, path) if self.snapshot is not None else Origin(file)


def _written_sources(written: Written, base: Sources) -> Sources:
    main = base.main if written.main is None else _config_file(written.main)
    # A file that was named stands for itself: what a node has beside it does not count.
    dropins = base.dropins if written.main is None else None
    if written.dropins is not None:
        dropins = tuple(_config_file(one) for one in written.dropins)
    flags = base.flags if written.main is None else Flags()
    if written.flags is not None:
        flags = parse_flags(written.flags)
    return Sources(main, dropins, flags)


def _config_file(named: NamedText) -> ConfigFile:
    found = read_config_text(named.text)
    return ConfigFile(named.name, found.document, found.fault)


def _judged(case: _Case) -> Judged:
    openshift = case.kubelet.flavor is Flavor.OPENSHIFT and case.written.checkpoints is None
    checkpoints = Checkpoints() if openshift else case.checkpoints
    verdict = judge_config(case.sources, case.machine, case.host, case.kubelet, checkpoints)
    subject = Subject(case.name, case.place)
    found = list(start_findings(subject, verdict, case.kubelet))
    if case.machine is not None:
        found += hazard_findings(subject, verdict, case.machine, case.kubelet)
        found += readmission_findings(subject, turned_away(verdict, checkpoints))
    found += config_findings(subject, verdict, case.kubelet)
    found += driver_findings(subject, verdict, case.driver)
    found += _flag_findings(subject, case, verdict)
    found += _twice(subject, case)
    simulated = case.snapshot is not None and case.snapshot.simulated
    on_machine = case.machine is not None
    return _result(case.name, case.kubelet, verdict, found, on_machine=on_machine, simulated=simulated)


def _result(  # noqa: PLR0913  what a verdict leaves open
    name: str,
    kubelet: Kubelet,
    verdict: StartVerdict,
    found: Sequence[Finding],
    *,
    on_machine: bool,
    simulated: bool,
) -> Judged:
    every = [*found, *_good(Subject(name), verdict, kubelet, on_machine=on_machine)]
    # A gate that an old release may know is no proof that the kubelet does not start.
    unsure = bool(verdict.reasons) and not any(finding.blocks for finding in found)
    derived = verdict.derived
    return Judged(
        name,
        kubelet,
        starts=verdict.starts or unsure,
        stage=verdict.stage,
        on_machine=on_machine,
        findings=tuple(every),
        reservation=derived.reservation,
        allocatable=derived.allocatable,
        simulated=simulated,
    )


def _good(subject: Subject, verdict: StartVerdict, kubelet: Kubelet, *, on_machine: bool) -> Iterator[Finding]:
    if not verdict.starts:
        return
    release = f"kubelet {_dotted(kubelet.version)}"
    message = f"{release} loads the configuration and finds it valid"
    yield subject.finding(INVALID, Severity.INFO, message, verdict=Verdict.PASS)
    if on_machine:
        message = f"{release} starts on this machine"
        yield subject.finding(MACHINE, Severity.INFO, message, verdict=Verdict.PASS)
        return
    yield subject.finding(
        MACHINE,
        Severity.INFO,
        "reserved CPUs, reservations and NUMA nodes were not compared with a machine: none was named",
        remedy="name one with --topology, --snapshot or -i",
        verdict=Verdict.UNKNOWN,
    )


def _flag_findings(subject: Subject, case: _Case, verdict: StartVerdict) -> Iterator[Finding]:
    flags = case.sources.flags
    if not flags.fields or not verdict.merged.config:
        return
    without = merge_config(
        case.sources.main,
        case.sources.dropins,
        version=case.kubelet.version,
        tolerant=case.kubelet.flavor is Flavor.OPENSHIFT,
    )
    for name, value in flags.fields.items():
        file, other = without.source((name,)), without.config.get(name)
        beaten = other != value if name != "featureGates" else any(gate in (other or {}) for gate in value)
        if not file or not beaten:
            continue
        yield subject.finding(
            "kubelet.flag.wins",
            Severity.WARNING,
            f"the flag --{flag_of_field(name)} sets {name} and beats {file}",
            file=file,
            path=(name,),
            why="flags beat the configuration file and its drop-ins, and a flag that is a map replaces the whole map",
            remedy=f"remove --{flag_of_field(name)} from {flags.source}, or {name} from {file}",
            expected=str(other),
            actual=str(value),
        )


def _twice(subject: Subject, case: _Case) -> Iterator[Finding]:
    for named in (case.written.main, *(case.written.dropins or ())):
        for path in read_config_text(named.text).twice if named is not None else ():
            yield subject.finding(
                TWICE,
                Severity.WARNING,
                f"{path[-1]} stands twice, and the later one counts",
                file=named.name if named is not None else "",
                path=path,
                remedy="keep one of the two",
            )


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
