# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The kernel command line as an ordered multimap, with the kernel's own quoting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# What the kernel's isspace() accepts between arguments.
_BLANK = " \t\n\v\f\r\xa0"
# After a bare `--` the kernel stops reading: the rest belongs to init.
_END_OF_KERNEL = "--"
_PAGE_SIZE = re.compile(r"(\d+)([kKmMgGtT]?)\Z")
_KIB_SHIFT = {"k": 0, "m": 10, "g": 20, "t": 30}


@dataclass(frozen=True)
class Argument:
    """One argument: `name=value`, or a bare flag where `value` is None (`name=` has the value `""`)."""

    name: str
    value: str | None = None

    def __str__(self) -> str:
        """Return the argument as it is written; raises `ValueError` when no spelling gives it back."""
        return _spell(self)


def parse_cmdline(text: str) -> tuple[Argument, ...]:
    """Return the arguments in order, repeated ones kept.

    Shape: a double quote toggles whether blanks separate; quotes around a value or a whole argument go away,
    others stay; `=` as the first character belongs to the name. Nothing is refused, as in the kernel.
    Source: kernel `lib/cmdline.c`, `next_arg`.
    """
    return tuple(_split(word) for word in _words(text))


def format_cmdline(args: Iterable[Argument]) -> str:
    """Return the text that `parse_cmdline` reads as `args`; raises `ValueError` for an argument that has none."""
    return " ".join(_spell(arg) for arg in args)


def same_name(left: str, right: str) -> bool:
    """Return whether the kernel takes both for one parameter: `-` and `_` are the same letter in names.

    Source: kernel `kernel/params.c`, `parameqn`.
    """
    return left.replace("-", "_") == right.replace("-", "_")


def kernel_arguments(args: Sequence[Argument]) -> Iterator[Argument]:
    """Yield the arguments that the kernel reads itself: those before a bare `--`."""
    for arg in args:
        if arg.name == _END_OF_KERNEL and arg.value is None:
            return
        yield arg


def find_last(args: Sequence[Argument], name: str) -> Argument | None:
    """Return the last argument of that name, which wins for most parameters, or None when there is none."""
    found = None
    for arg in kernel_arguments(args):
        if same_name(arg.name, name):
            found = arg
    return found


def last_value(args: Sequence[Argument], name: str) -> str | None:
    """Return the value of the last argument of that name; None when absent or a bare flag (see `find_last`)."""
    found = find_last(args, name)
    return None if found is None else found.value


def values(args: Sequence[Argument], name: str) -> tuple[str | None, ...]:
    """Return the values of all arguments of that name in order, None for a bare flag."""
    return tuple(arg.value for arg in kernel_arguments(args) if same_name(arg.name, name))


def hugepages(args: Sequence[Argument]) -> tuple[tuple[str, str], ...]:
    """Return the hugepage requests as (size, count) in order.

    Shape: size as written (`1G`), `""` where `hugepages=` comes before any `hugepagesz=` and means the default size;
    count as written, which may be per node (`0:16,1:16`); a `hugepagesz=` without count asks for nothing.
    Source: kernel `admin-guide/kernel-parameters`, hugepagesz and hugepages.
    """
    pairs: list[tuple[str, str]] = []
    size = ""
    for arg in kernel_arguments(args):
        if arg.name == "hugepagesz":
            size = arg.value or ""
        elif arg.name == "hugepages" and arg.value is not None:
            pairs.append((size, arg.value))
    return tuple(pairs)


def default_hugepagesize(args: Sequence[Argument]) -> str | None:
    """Return the text of `default_hugepagesz`, None when the architecture's default stands."""
    return last_value(args, "default_hugepagesz")


def page_size_kib(text: str) -> int:
    """Return a page size such as `2M`, `1G` or `65536` (bytes) in kibibytes.

    Sad paths: `ValueError` when it is no size or no whole number of kibibytes.
    Source: kernel `lib/cmdline.c`, `memparse`.
    """
    match = _PAGE_SIZE.match(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a page size: write like 2M, 1G or 64k")
    number, unit = int(match.group(1)), match.group(2).lower()
    if unit:
        return number << _KIB_SHIFT[unit]
    if number % 1024:
        raise ValueError(f"{text!r} is not a page size: {number} bytes are no whole number of KiB")
    return number // 1024


def _words(text: str) -> Iterator[str]:
    start, quoted = None, False
    for position, char in enumerate(text):
        if char in _BLANK and not quoted:
            if start is not None:
                yield text[start:position]
            start = None
            continue
        start = position if start is None else start
        quoted ^= char == '"'
    if start is not None:
        yield text[start:]


def _split(word: str) -> Argument:
    body = word.removeprefix('"')
    if word.startswith('"') and body.endswith('"'):
        body = body[:-1]
    equals = body.find("=", 1)
    if equals < 0:
        return Argument(body)
    value = body[equals + 1 :]
    if value.startswith('"'):
        value = value[1:-1] if value.endswith('"') and len(value) > 1 else value[1:]
    return Argument(body[:equals], value)


def _spell(arg: Argument) -> str:
    plain = arg.name if arg.value is None else f"{arg.name}={arg.value}"
    spellings = [plain]
    if arg.value is not None:
        spellings.append(f'{arg.name}="{arg.value}"')
    spellings.append(f'"{plain}"')
    for text in spellings:
        # A quote left open would swallow the arguments that follow.
        if text.count('"') % 2 == 0 and parse_cmdline(text) == (arg,):
            return text
    raise ValueError(f"the kernel has no spelling for argument {arg.name!r} with value {arg.value!r}")
