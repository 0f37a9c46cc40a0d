# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reservations and eviction thresholds, read as the kubelet reads them when it starts: the first mistake ends it.

Source: Kubernetes 1.36 `cmd/kubelet/app` (parseResourceList), `pkg/kubelet/eviction` (ParseThresholdConfig).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from ..errors import InputError
from ..kubelet_fields import EVICTION_SIGNALS, RESERVABLE_RESOURCES
from ..quantity import parse_quantity
from .config_merge import EVICTION, Reason
from .go_values import go_duration, go_int, go_percentage

_RESERVATIONS = "kubeReserved/systemReserved"
_DISABLED = ("0%", "100%")
_HUNDRED = 100

Config = Mapping[str, Any]


def reservation_reasons(config: Config) -> Iterator[Reason]:
    """Yield what is wrong with kubeReserved and systemReserved."""
    for name in ("kubeReserved", "systemReserved"):
        for resource, text in (config.get(name) or {}).items():
            path = (name, resource)
            if resource not in RESERVABLE_RESOURCES:
                fix = f"reserve {', '.join(RESERVABLE_RESOURCES)} only"
                yield Reason(f"{_RESERVATIONS}: resource type not allowed", f"{name} has {resource}", path, fix=fix)
                continue
            amount = _quantity(text)
            if amount is None:
                what = f"{name} {resource} is {text!r}, which is no quantity"
                yield Reason(f"{_RESERVATIONS}: unparsable quantity", what, path, fix="write like 500m or 1Gi")
            elif amount < 0:
                what = f"{name} {resource} is {text}"
                yield Reason(f"{_RESERVATIONS}: negative quantity", what, path, fix="write 0 or more")


def eviction_reasons(config: Config) -> Iterator[Reason]:
    """Yield what is wrong with the four eviction maps."""
    for name in (EVICTION, "evictionSoft"):
        for signal, text in (config.get(name) or {}).items():
            yield from _threshold((name, signal), signal, text)
    periods = config.get("evictionSoftGracePeriod") or {}
    for signal, text in periods.items():
        yield from _period(("evictionSoftGracePeriod", signal), signal, text)
    for signal, text in (config.get("evictionMinimumReclaim") or {}).items():
        yield from _reclaim(("evictionMinimumReclaim", signal), signal, text)
    for signal, text in (config.get("evictionSoft") or {}).items():
        if signal not in periods and text not in _DISABLED:
            what = f"evictionSoft has {signal}, evictionSoftGracePeriod has not"
            fix = f'add evictionSoftGracePeriod: {{{signal}: "1m30s"}}'
            yield Reason("evictionSoft: no grace period for the signal", what, ("evictionSoft", signal), fix=fix)


def quality_reasons(config: Config) -> Iterator[Reason]:
    """Yield what is wrong with qosReserved; the kubelet says of a resource what it says of reservations."""
    for resource, text in (config.get("qosReserved") or {}).items():
        path = ("qosReserved", resource)
        if resource != "memory":
            what = f"qosReserved has {resource}"
            yield Reason(f"{_RESERVATIONS}: resource type not allowed", what, path, fix="reserve memory only")
        elif not _is_whole_percentage(text):
            what = f"qosReserved {resource} is {text!r}"
            yield Reason("qosReserved: not a percentage", what, path, fix='write like "50%", at most "100%"')


def _is_whole_percentage(text: str) -> bool:
    if not text.endswith("%"):
        return False
    try:
        return 0 <= go_int(text.rstrip("%")) <= _HUNDRED
    except ValueError:
        return False


def _unknown_signal(path: tuple[str, ...], signal: str) -> Reason:
    fix = f"write one of {', '.join(EVICTION_SIGNALS)}"
    return Reason("eviction: unknown signal", f"{path[0]} has {signal}", path, fix=fix)


def _threshold(path: tuple[str, ...], signal: str, text: str) -> Iterator[Reason]:
    if signal not in EVICTION_SIGNALS:
        yield _unknown_signal(path, signal)
        return
    what = f"{path[0]} {signal} is {text!r}"
    if text.endswith("%"):
        share = None if text in _DISABLED else _percentage(text)
        if share is None and text not in _DISABLED:
            yield Reason("eviction: unparsable percentage", what, path, fix='write like "10%"')
        elif share is not None and not 0 <= share <= 1:
            yield Reason("eviction: percentage outside 0..100", what, path, fix='write "0%" to "100%"')
        return
    amount = _quantity(text)
    if amount is None:
        yield Reason("eviction: unparsable quantity", what, path, fix='write like 500Mi or "10%"')
    elif amount <= 0:
        fix = 'write more than 0; "0%" switches the signal off'
        yield Reason("eviction: threshold not positive", what, path, fix=fix)


def _period(path: tuple[str, ...], signal: str, text: str) -> Iterator[Reason]:
    what = f"{path[0]} {signal} is {text!r}"
    if signal not in EVICTION_SIGNALS:
        yield _unknown_signal(path, signal)
        return
    try:
        length = go_duration(text)
    except ValueError:
        yield Reason("evictionSoftGracePeriod: unparsable duration", what, path, fix="write like 90s or 1m30s")
        return
    if length < 0:
        yield Reason("evictionSoftGracePeriod: negative", what, path, fix="write 0s or more")


def _reclaim(path: tuple[str, ...], signal: str, text: str) -> Iterator[Reason]:
    what = f"{path[0]} {signal} is {text!r}"
    if signal not in EVICTION_SIGNALS:
        yield _unknown_signal(path, signal)
    elif text.endswith("%"):
        share = _percentage(text)
        if share is None:
            yield Reason("eviction: unparsable percentage", what, path, fix='write like "10%"')
        elif share <= 0:
            yield Reason("evictionMinimumReclaim: percentage not positive", what, path, fix='write more than "0%"')
    else:
        amount = _quantity(text)
        if amount is None:
            yield Reason("eviction: unparsable quantity", what, path, fix='write like 500Mi or "10%"')
        elif amount < 0:
            yield Reason("evictionMinimumReclaim: negative", what, path, fix="write 0 or more")


def _percentage(text: str) -> float | None:
    try:
        return go_percentage(text)
    except ValueError:
        return None


def _quantity(text: str) -> Fraction | None:
    try:
        return parse_quantity(text)
    except InputError:
        return None
