# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Names and texts of a tier as forms: objects, devices, labels, taints, kernel parameters, kernel arguments."""

from __future__ import annotations

import re

from .grammar import check_grub_value, check_modprobe, check_sysctl
from .tier_forms import TEXT_KINDS, Refusal, Scalar, did_you_mean, matched, or_number, pattern
from .tier_grammar import borrowed

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_NAME_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_KEY_PATTERN = rf"({_SUBDOMAIN}/)?{_NAME_PART}"
_VALUE_PATTERN = rf"({_NAME_PART})?"
_TEXT_SCHEMA = {"type": ["string", "integer", "number"]}
_LONGEST_NAME = 63
_LONGEST_SUBDOMAIN = 253

TIER_NAME = matched(
    "a tier name",
    "TUN-1212",
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?",
    "lower-case letters, digits and dashes, first and last a letter or digit",
    _LONGEST_NAME,
)
# Inventory groups may have underscores; the renderer for OpenShift asks for a DNS name itself.
POOL_NAME = matched(
    "a pool name",
    "TUN-1212",
    r"[a-z0-9]([-a-z0-9_.]*[a-z0-9])?",
    "lower-case letters, digits, dashes, dots and underscores, first and last a letter or digit",
    _LONGEST_NAME,
)
OBJECT_NAME = matched(
    "an object name",
    "TUN-1212",
    _SUBDOMAIN,
    "lower-case letters, digits, dashes and dots",
    _LONGEST_SUBDOMAIN,
)
# A dot or a colon is part of device names (eth0.100, 0000:3b:00.0), a slash never is.
DEVICE_NAME = matched("a device", "TUN-1212", r"[A-Za-z0-9][A-Za-z0-9_.:@-]*", "a name such as eth0, or a PCI address")
INTERFACE = matched(
    "an interface name",
    "TUN-1212",
    r"!?[A-Za-z0-9_.:@*-]+",
    "a name; * stands for anything, a leading ! means all others",
)
# Four digits: on the node a shorter id would match as the beginning of others.
HEX_ID = matched("a PCI id", "TUN-1212", r"0x[0-9a-fA-F]{4}", "0x and four hexadecimal digits, in quotes")
CLASS_NAME = matched(
    "a name",
    "TUN-1212",
    r"[A-Za-z0-9][A-Za-z0-9_.-]*",
    "letters, digits, dots, dashes and underscores",
    _LONGEST_NAME,
)
MODULE_NAME = matched("a kernel module", "TUN-1212", r"[A-Za-z0-9][A-Za-z0-9_-]*", "letters, digits, _ and -")
OPTION_NAME = matched("a module option", "TUN-1212", r"[A-Za-z0-9][A-Za-z0-9_-]*", "letters, digits, _ and -")


def _parse_text(text: str) -> str:
    if not text.isprintable():
        raise Refusal("the text holds a line break or a control character", "one line of printable text")
    return text.strip()


ONE_LINE = Scalar(
    "one line of text",
    "TUN-1205",
    _parse_text,
    {**_TEXT_SCHEMA, "pattern": r"^[^\x00-\x1f\x7f]*$"},
    TEXT_KINDS,
    "one line of text",
)


def _parse_label_key(text: str) -> str:
    prefix, slash, name = text.rpartition("/")
    if not re.fullmatch(_KEY_PATTERN, text):
        raise Refusal(
            f"{text!r} is not a label name",
            "an optional DNS name and a slash, then letters, digits, dashes, underscores and dots",
        )
    if len(name) > _LONGEST_NAME or (slash and len(prefix) > _LONGEST_SUBDOMAIN):
        raise Refusal(f"{text!r} is too long", "at most 63 characters after and 253 before the slash")
    return text


LABEL_KEY = Scalar(
    "a label name", "TUN-1206", _parse_label_key, pattern(_KEY_PATTERN), ("str",), "a Kubernetes label name"
)
LABEL_VALUE = or_number(
    matched(
        "a label value",
        "TUN-1206",
        _VALUE_PATTERN,
        "letters, digits, dashes, underscores and dots, first and last a letter or digit; may be empty",
        _LONGEST_NAME,
    ),
    "int",
    "float",
)


def _parse_taint(text: str) -> str:
    head, colon, effect = text.rpartition(":")
    if not colon:
        raise Refusal(f"{text!r} is not a taint", "key=value:Effect", f"add :{TAINT_EFFECTS[0]}")
    if effect not in TAINT_EFFECTS:
        listed = f"one of: {', '.join(TAINT_EFFECTS)}"
        raise Refusal(f"{effect!r} is not a taint effect", listed, did_you_mean(effect, TAINT_EFFECTS))
    key, _, value = head.partition("=")
    _parse_label_key(key)
    LABEL_VALUE.parse(value)
    return text


TAINT = Scalar(
    "a taint",
    "TUN-1207",
    _parse_taint,
    pattern(rf"{_KEY_PATTERN}(={_VALUE_PATTERN})?:({'|'.join(TAINT_EFFECTS)})"),
    ("str",),
    "key=value:Effect",
)

KERNEL_ARGUMENT = Scalar(
    "a kernel argument",
    "TUN-2201",
    lambda text: borrowed(lambda: check_grub_value(text)),
    pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]*(=[A-Za-z0-9._=,:/+@%!\[\]^~()-]+)?"),
    ("str",),
    "name or name=value, without blanks, quotes and shell characters",
)


def sysctl_name(text: str) -> str:
    """Return the dotted name of a kernel parameter; a name whose first separator is a slash is turned round.

    Shape: in the dotted form a slash stands for a dot inside a component (`net.ipv4.conf.eth0/100.rp_filter`).
    Source: sysctl.d(5).
    """
    first = next((character for character in text if character in "./"), "")
    return text.translate(str.maketrans("./", "/.")) if first == "/" else text


def _parse_sysctl_name(text: str) -> str:
    name = sysctl_name(text)
    borrowed(lambda: check_sysctl(name, "0"))
    return name


SYSCTL_NAME = Scalar(
    "a kernel parameter",
    "TUN-2202",
    _parse_sysctl_name,
    pattern(r"[a-z][A-Za-z0-9_-]*([./][A-Za-z0-9_:@-]+)+"),
    ("str",),
    "a dotted name such as vm.stat_interval",
)
SYSCTL_VALUE = Scalar(
    "a value",
    "TUN-2202",
    str,
    {**_TEXT_SCHEMA, "pattern": r"^[^\x00-\x08\x0a-\x1f\x7f]*$"},
    TEXT_KINDS,
    "a number or quoted text on one line",
)


def check_sysctl_pair(name: str, value: str) -> str:
    """Return the value of a kernel parameter; raises `Refusal` when a sysctl.d file cannot hold the pair."""
    return str(borrowed(lambda: check_sysctl(name, value)))


MODULE_VALUE = Scalar(
    "a module option value",
    "TUN-2205",
    lambda text: borrowed(lambda: check_modprobe("module", "option", text)),
    {**_TEXT_SCHEMA, "pattern": r"^[A-Za-z0-9._=,:/+@%!\[\]^~()-]+$"},
    TEXT_KINDS,
    "text without blanks and quotes",
)
