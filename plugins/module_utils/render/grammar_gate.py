# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The gate in front of every file: each value is checked against the grammar of the file that it goes into."""

from __future__ import annotations

from collections.abc import Callable

from ..core.desired import Area, DesiredState, Setting
from ..core.errors import InputError, Problem
from ..core.grammar import check_grub_value, check_modprobe, check_sysctl, check_tmpfiles_value


def refuse_unwritable(desired: DesiredState) -> None:
    """Raise `InputError` with one problem for each setting whose file cannot hold its name or value.

    Sad paths: `TUN-2201` kernel argument, `TUN-2202` kernel parameter, `TUN-2204` runtime value, `TUN-2205` module
    option. Kubelet values need no check: the YAML text quotes whatever they hold.
    """
    problems = tuple(problem for setting in desired.settings for problem in _problems(setting))
    if problems:
        raise InputError(problems)


def argument(setting: Setting) -> str:
    """Return a CMDLINE setting as it is written: `name=value`, or the bare name of a flag."""
    return setting.name if setting.value is None else f"{setting.name}={setting.value}"


def module_option(setting: Setting) -> tuple[str, str]:
    """Return module and option of a MODULE setting, whose name is `module.option`."""
    module, _, option = setting.name.partition(".")
    return module, option


def _problems(setting: Setting) -> tuple[Problem, ...]:
    try:
        _CHECKS.get(setting.area, _accept)(setting)
    except InputError as error:
        return error.problems
    return ()


def _argument(setting: Setting) -> None:
    check_grub_value(argument(setting), setting.id)


def _sysctl(setting: Setting) -> None:
    check_sysctl(setting.name, str(setting.value))


def _runtime(setting: Setting) -> None:
    check_tmpfiles_value(setting.name, str(setting.value))


def _module(setting: Setting) -> None:
    module, option = module_option(setting)
    check_modprobe(module, option, str(setting.value))


def _accept(_setting: Setting) -> None:
    return


_CHECKS: dict[Area, Callable[[Setting], None]] = {
    Area.CMDLINE: _argument,
    Area.SYSCTL: _sysctl,
    Area.RUNTIME: _runtime,
    Area.MODULE: _module,
}
