# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every setting of the desired state against what the node has."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..actual import Actual
from ..comparison import wanted_text
from ..desired import Area, DesiredState, Impact, Platform, Setting
from ..difference import setting_changes
from ..findings import Finding, Severity, Verdict
from ..observed import ObservedState, actual_of

_FLAG = "set"
_CRITICAL = (Area.KUBELET, Area.CMDLINE)
_PRICES = {
    Impact.LIVE: "live",
    Impact.RESTART: "kubelet restart",
    Impact.DRAIN: "drain and kubelet restart",
    Impact.REBOOT: "reboot",
}
_NOUNS = {
    Area.KUBELET: "kubelet field",
    Area.CMDLINE: "kernel argument",
    Area.SYSCTL: "kernel parameter",
    Area.MODULE: "module option",
    Area.SERVICE: "service",
}


def check_settings(desired: DesiredState, observed: ObservedState) -> Iterator[Finding]:
    """Yield one finding a setting, with the judgement that a plan comes to: what passes here is not planned again."""
    actuals = {setting.id: actual_of(observed, setting, desired) for setting in desired.settings}
    difference = setting_changes(desired, lambda setting: actuals[setting.id])
    wrong = {change.setting for change in difference.changes}
    for setting in desired.settings:
        yield _finding(setting, actuals[setting.id], desired, observed, is_wrong=setting.id in wrong)


def _finding(
    setting: Setting, actual: Actual, desired: DesiredState, observed: ObservedState, *, is_wrong: bool
) -> Finding:
    verdict, message = _judge(setting, actual, observed, is_wrong=is_wrong)
    return Finding(
        id=setting.id,
        verdict=verdict,
        severity=Severity.CRITICAL if setting.area in _CRITICAL else Severity.WARNING,
        subject=observed.node,
        message=message,
        expected=_wanted(setting),
        actual=_shown(setting, actual),
        why=setting.why,
        remedy=_remedy(setting, actual, desired) if verdict in (Verdict.FAIL, Verdict.UNKNOWN) else "",
        evidence=actual.evidence,
        asked_in=setting.asked_in,
        setting=setting.id,
    )


def _judge(setting: Setting, actual: Actual, observed: ObservedState, *, is_wrong: bool) -> tuple[Verdict, str]:
    name = f"{_NOUNS.get(setting.area, '')} {setting.name}".strip()
    if actual.unknown:
        if setting.area is Area.KUBELET and not observed.kubelet.present:
            return Verdict.NOT_APPLICABLE, f"{name} does not apply: the node has no kubelet"
        return Verdict.UNKNOWN, f"{name} could not be looked at: {actual.unknown}"
    if is_wrong:
        return Verdict.FAIL, f"{name} is {_shown(setting, actual)}, wanted {_wanted(setting)}"
    return Verdict.PASS, f"{name} is as wanted"


def _wanted(setting: Setting) -> str:
    return _plain(setting, wanted_text(setting)) or _FLAG


def _shown(setting: Setting, actual: Actual) -> str:
    if actual.unknown:
        return ""
    return "not set" if actual.value is None else _plain(setting, actual.value) or _FLAG


def _plain(setting: Setting, text: str) -> str:
    """Return a text of the kubelet's configuration without the quotes of JSON; all else as it is."""
    if setting.area is Area.KUBELET and text.startswith('"'):
        return str(json.loads(text))
    return text


def _remedy(setting: Setting, actual: Actual, desired: DesiredState) -> str:
    if actual.unknown:
        return "run as a user who may read it" if "denied" in actual.unknown else "make it readable, then look again"
    if desired.platform is Platform.OPENSHIFT:
        return f"tunectl render --tier {desired.tier} --platform openshift, and let the operators apply it"
    price = _PRICES.get(setting.impact, "")
    return f"tunectl apply --tier {desired.tier}" + (f" ({price})" if price else "")
