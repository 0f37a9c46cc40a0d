"""Isolation arguments against what the kernel made of them."""

import pytest

from tunectl.core.checks.isolation import check_isolation
from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.findings import Finding, Verdict
from tunectl.core.observed import observe
from tunectl.core.snapshot import Snapshot

_NOHZ = "/sys/devices/system/cpu/nohz_full"
_ISOLATED = "/sys/devices/system/cpu/isolated"


def _argument(name: str, value: str) -> Setting:
    return Setting(f"cmdline.{name}", Area.CMDLINE, name, value, Impact.REBOOT)


def _check(cmdline: str, files: dict[str, str], **snapshot: object) -> dict[str, Finding]:
    settings = (_argument("nohz_full", "2-7"), _argument("isolcpus", "managed_irq,2-7"))
    desired = DesiredState("t", "pool", Platform.KUBEADM, Partition(), settings)
    node = Snapshot("n", {"/proc/cmdline": cmdline, **files}, **snapshot)  # type: ignore[arg-type]
    return {finding.id: finding for finding in check_isolation(desired, observe(node, {}))}


@pytest.mark.parametrize(
    ("text", "verdict", "actual"),
    [("2-7\n", Verdict.PASS, "2-7"), ("2-6\n", Verdict.FAIL, "2-6"), ("  (null)\n", Verdict.FAIL, "none")],
)
def test_tickless_cpus_are_compared(text: str, verdict: Verdict, actual: str) -> None:
    found = _check("nohz_full=2-7", {_NOHZ: text})["cpu.nohz-full.effective"]
    assert (found.verdict, found.actual, found.expected) == (verdict, actual, "2-7")


def test_a_kernel_that_was_built_without_it_fails() -> None:
    found = _check("nohz_full=2-7", {}, absent=frozenset({_NOHZ}))["cpu.nohz-full.effective"]
    assert found.verdict is Verdict.FAIL
    assert "built without nohz_full" in found.message


def test_what_nobody_read_is_unknown() -> None:
    found = _check("nohz_full=2-7", {}, unreadable={_NOHZ: "permission denied"})["cpu.nohz-full.effective"]
    assert found.verdict is Verdict.UNKNOWN
    assert "permission denied" in found.message


def test_an_argument_that_is_not_in_force_is_another_checks_business() -> None:
    assert _check("ro quiet", {_NOHZ: "(null)", _ISOLATED: ""}) == {}


@pytest.mark.parametrize(
    ("value", "text", "verdict"),
    [
        ("managed_irq,2-7", "", Verdict.PASS),
        ("managed_irq,2-7", "2-7", Verdict.FAIL),
        ("domain,managed_irq,2-7", "2-7", Verdict.PASS),
        ("domain,managed_irq,2-7", "", Verdict.FAIL),
        ("2-3,6-7", "2-3,6-7", Verdict.PASS),
        ("2-3,6-7", "2-3", Verdict.FAIL),
    ],
)
def test_only_the_domain_flag_isolates(value: str, text: str, verdict: Verdict) -> None:
    desired = DesiredState("t", "pool", Platform.KUBEADM, Partition(), (_argument("isolcpus", value),))
    node = Snapshot("n", {"/proc/cmdline": f"isolcpus={value}", _ISOLATED: text})
    (found,) = check_isolation(desired, observe(node, {}))
    assert (found.id, found.verdict) == ("cpu.isolated.effective", verdict)
