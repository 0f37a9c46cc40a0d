# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The grammars of the files that values are written into: what cannot stay inside its place is refused.

Every check names the characters that are allowed; all others are refused, so that nothing depends on
knowing each way in which a shell, a boot loader or systemd could read more than a value.
"""

from __future__ import annotations

import re
import string

from .errors import InputError, problem

_WORD = string.ascii_letters + string.digits
_GRUB = frozenset(_WORD + "._-=,:/+@%![]^~()")
_SYSCTL = frozenset(_WORD + "._-=,:/+@%![]^~()|<>&?*{} \t")
_UNIT = frozenset(_WORD + "._-=,:/+@![]^~() ")
_TMPFILES = frozenset(_WORD + "._-=,:/+@![]^~() ")
_MODPROBE = frozenset(_WORD + "._-=,:/+@%![]^~()")
_PATH = frozenset(_WORD + "._-,:/+@")

_ARGUMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*\Z", re.ASCII)
_SYSCTL_NAME = re.compile(r"[a-z][A-Za-z0-9_\-]*(?:[./][A-Za-z0-9_:@\-]+)+\Z", re.ASCII)
_MODULE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]*\Z", re.ASCII)

_NAMED = {
    "\n": "a line break",
    "\r": "a carriage return",
    "\0": "a NUL byte",
    "\t": "a tab",
    " ": "a blank",
    '"': "a double quote",
    "'": "a single quote",
    "`": "a backtick",
    "\\": "a backslash",
    "$": "a dollar sign",
    ";": "a semicolon",
    "%": "a percent sign",
    "#": "a number sign",
}
_WHY = {
    "\n": "it would begin a new line of the file",
    "\r": "it would begin a new line of the file",
    "\0": "it would cut the value off",
    '"': "it would end the quoted value",
    "'": "it would end the quoted value",
    "`": "a shell would run what follows as a command",
    "$": "a shell would replace what follows by a variable or the output of a command",
    "\\": "it would change the meaning of the next character or join two lines",
    ";": "it would begin a new command or a comment",
    "#": "it would begin a comment",
    "%": "systemd would replace it by a value of its own",
    " ": "it would begin a second argument",
    "\t": "it would begin a second argument",
}


def check_grub_value(value: str, setting: str = "kernel.args") -> str:
    """Return one kernel argument (`name` or `name=value`) that survives the shell, GRUB and the kernel unchanged.

    Sad paths: `TUN-2201` naming the setting, the argument, the character and why it is refused.
    Source: GRUB manual, "Shell-like scripting"; kernel `admin-guide/kernel-parameters`.
    """
    _refuse_characters("TUN-2201", "kernel argument", setting, value, _GRUB)
    name, equals, _rest = value.partition("=")
    if not _ARGUMENT_NAME.match(name):
        _refuse("TUN-2201", "kernel argument", setting, value, "a kernel argument is name or name=value")
    if equals and not _rest:
        _refuse("TUN-2201", "kernel argument", setting, value, "nothing is behind the equals sign")
    return value


def check_sysctl(name: str, value: str) -> str:
    """Return the value of a kernel parameter as it stands in a sysctl.d file: outer blanks removed.

    Sad paths: `TUN-2202` for a name or value that such a file cannot hold, or an empty value.
    Source: sysctl.d(5).
    """
    if not _SYSCTL_NAME.match(name) or ".." in name:
        _refuse("TUN-2202", "kernel parameter name", name, name, "write the dotted name, like vm.stat_interval")
    _refuse_characters("TUN-2202", "kernel parameter", name, value, _SYSCTL)
    stripped = value.strip(" \t")
    if not stripped:
        _refuse("TUN-2202", "kernel parameter", name, value, "the value is empty")
    return stripped


def check_unit_value(value: str, setting: str) -> str:
    """Return a value that may stand behind `Key=` in a systemd unit or drop-in.

    Sad paths: `TUN-2203`. Source: systemd.syntax(7), systemd.unit(5) "Specifiers".
    """
    _refuse_characters("TUN-2203", "unit value", setting, value, _UNIT)
    return value


def check_tmpfiles_value(path: str, value: str) -> str:
    """Return the argument of a tmpfiles.d line that writes `value` to `path`; both are checked.

    Sad paths: `TUN-2204` for a path that is not absolute, has `..`, blanks or wildcards, or a value that is empty,
    begins or ends with a blank, or could leave its line. Source: tmpfiles.d(5).
    """
    check_path(path)
    _refuse_characters("TUN-2204", "runtime value", path, value, _TMPFILES)
    if not value or value != value.strip():
        _refuse("TUN-2204", "runtime value", path, value, "the value is empty, or begins or ends with a blank")
    return value


def check_path(path: str) -> str:
    """Return an absolute path without blanks, wildcards and `..`; raises `TUN-2204` otherwise."""
    _refuse_characters("TUN-2204", "path", path, path, _PATH)
    if not path.startswith("/") or ".." in path.split("/"):
        _refuse("TUN-2204", "path", path, path, "a path starts with / and has no .. in it")
    return path


def check_modprobe(module: str, option: str, value: str) -> str:
    """Return the value of a module option as it stands in an `options` line of modprobe.d.

    Sad paths: `TUN-2205` for a module or option name or value that such a line cannot hold.
    Source: modprobe.d(5).
    """
    for kind, name in (("module name", module), ("module option name", option)):
        if not _MODULE_NAME.match(name):
            _refuse("TUN-2205", kind, f"kernel.modules.{module}", name, "letters, digits, _ and - are allowed")
    _refuse_characters("TUN-2205", "module option", f"kernel.modules.{module}.{option}", value, _MODPROBE)
    if not value:
        _refuse("TUN-2205", "module option", f"kernel.modules.{module}.{option}", value, "the value is empty")
    return value


def _refuse_characters(code: str, kind: str, setting: str, value: str, allowed: frozenset[str]) -> None:
    bad = next((character for character in value if character not in allowed), None)
    if bad is None:
        return
    name = _NAMED.get(bad, f"the character {bad!a}")
    _refuse(code, kind, setting, value, f"it contains {name}: {_WHY.get(bad, 'the file it goes into cannot hold it')}")


def _refuse(code: str, kind: str, setting: str, value: str, why: str) -> None:
    raise InputError(
        (
            problem(
                code,
                f"{value!r} cannot be written as a {kind}",
                where=setting,
                why=why,
                fix=f"change {setting} in the tier",
            ),
        )
    )
