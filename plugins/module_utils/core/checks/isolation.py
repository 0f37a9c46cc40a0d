# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does the kernel do what its arguments ask: it accepts isolation arguments that it was built without."""

from __future__ import annotations

from collections.abc import Iterator

from ..cpuset import CpuSet
from ..desired import DesiredState, Setting
from ..findings import Evidence, Finding, Verdict
from ..observed import ObservedState, actual_of
from .statement import Statement, finding, verdict_of

_DIRECTORY = "/sys/devices/system/cpu"
_NOBODY = "(null)"


def check_isolation(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield whether tickless and isolated CPUs are those of the running command line.

    Shape: nothing about an argument that the running kernel was not given; a pending reboot is another check's.
    Source: kernel `admin-guide/kernel-parameters` (nohz_full, isolcpus), sysfs `cpu/nohz_full`, `cpu/isolated`.
    """
    tickless = _given("cmdline.nohz_full", desired, observed)
    if tickless is not None:
        yield _judge("cpu.nohz-full.effective", tickless, CpuSet.parse(str(tickless.value)), observed, "nohz_full")
    isolated = _given("cmdline.isolcpus", desired, observed)
    if isolated is not None:
        yield _judge("cpu.isolated.effective", isolated, _domain(str(isolated.value)), observed, "isolated")


def _given(setting_id: str, desired: DesiredState, observed: ObservedState) -> Setting | None:
    """Return the wanted argument when the running kernel was started with a value of it."""
    setting = desired.get(setting_id)
    if setting is None or observed.cmdline is None:
        return None
    return setting if actual_of(observed, setting, desired).value is not None else None


def _domain(value: str) -> CpuSet:
    """Return the CPUs that leave the scheduler's domains: all of a plain list, none with managed_irq alone."""
    flags = [part for part in value.split(",") if part and not part[0].isdigit()]
    if flags and "domain" not in flags:
        return CpuSet()
    return CpuSet.parse(",".join(part for part in value.split(",") if part and part[0].isdigit()))


def _judge(check: str, setting: Setting, wanted: CpuSet, observed: ObservedState, name: str) -> Finding:
    path = f"{_DIRECTORY}/{name}"
    text = observed.snapshot.text(path)
    if text is None and path not in observed.snapshot.absent:
        why = observed.snapshot.why_missing(path)
        return finding(check, Verdict.UNKNOWN, observed, Statement(f"{path} could not be read: {why}", str(wanted)))
    if text is None:
        message = f"the kernel was built without {name}: it accepts the argument and does nothing"
        said = Statement(message, str(wanted), "no such file", asked_in=setting.asked_in)
        return finding(check, Verdict.FAIL, observed, said)
    found = CpuSet() if text == _NOBODY else CpuSet.parse(text)
    same = found == wanted
    message = f"{name} CPUs are {found or 'none'}" + ("" if same else f", the argument asks for {wanted or 'none'}")
    evidence = (Evidence(path, text),)
    said = Statement(message, str(wanted) or "none", str(found) or "none", evidence=evidence, asked_in=setting.asked_in)
    return finding(check, verdict_of(same), observed, said)
