# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Arguments of the next boot, where no drop-in carries them: put in as one block, taken out again, others untouched.

Loader entries, `/etc/kernel/cmdline`, GRUB's environment and `/etc/default/grub` have one line of arguments each. Ours
are appended to it as a block in their order, so that hugepage pairs stay pairs and what stands before is as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .cmdline import Argument, format_cmdline, parse_cmdline

# One argument a line, as the kernel reads it; `#` begins a comment.
ARGUMENTS_FILE = "/etc/tunectl/kernel-arguments"
KERNEL_OPTIONS = "kernelopts"
_ENVIRONMENT_SIZE = 1024
_ENVIRONMENT_HEAD = "# GRUB Environment Block\n"
_OPTIONS = re.compile(r"^([ \t]*options[ \t]+)(.*?)([ \t]*)$", re.MULTILINE)
_DEFAULT = re.compile(
    r"^([ \t]*(?:export[ \t]+)?GRUB_CMDLINE_LINUX=)"
    r"(?:\"((?:[^\"\\$`\n]|\\.)*)\"|'([^'\n]*)'|([^\s\"'\\$`;&|#]*))[ \t]*(#.*)?$",
    re.MULTILINE,
)

Arguments = tuple[Argument, ...]


def read_list(text: str) -> Arguments:
    """Return the arguments of a list file, one a line, in order; blank lines and comments are passed over."""
    lines = (line.strip() for line in text.splitlines())
    return tuple(argument for line in lines if line and line[0] != "#" for argument in parse_cmdline(line))


def take_out(arguments: Arguments, owned: Arguments) -> Arguments:
    """Return the arguments without the owned ones.

    Shape: the last place where `owned` stand together in their order is cut out; where somebody has torn them apart,
    the last of each goes, if all of them are there. A line without all of them never had them: what looks like one of
    ours is somebody else's. Everything else keeps its order and number.
    """
    size = len(owned)
    for start in range(len(arguments) - size, -1, -1) if size else ():
        if arguments[start : start + size] == owned:
            return arguments[:start] + arguments[start + size :]
    left = list(arguments)
    for argument in reversed(owned):
        for index in range(len(left) - 1, -1, -1):
            if left[index] == argument:
                del left[index]
                break
        else:
            return arguments
    return tuple(left)


def put_in(arguments: Arguments, wanted: Arguments, owned: Sequence[Arguments] = ()) -> Arguments:
    """Return the arguments with exactly one block of wanted ones at the end, and without those of `owned` blocks.

    Shape: a line that has the wanted block and none of the owned ones is returned as it is, wherever the block stands.
    """
    others = arguments
    for block in owned:
        others = take_out(others, block)
    return others if contains(others, wanted) else others + wanted


def contains(arguments: Arguments, wanted: Arguments) -> bool:
    """Return whether the wanted arguments stand together, in order."""
    size = len(wanted)
    return any(arguments[start : start + size] == wanted for start in range(len(arguments) - size + 1))


def edit_line(line: str, wanted: Arguments, owned: Sequence[Arguments]) -> str:
    """Return a line of arguments edited; a line that already means the same is returned letter by letter."""
    before = parse_cmdline(line)
    after = put_in(before, wanted, owned)
    if after == before:
        return line
    # Only the end changes in the usual case: what stands before keeps its own spelling.
    if after[: len(before)] == before:
        return " ".join(part for part in (line.rstrip(), format_cmdline(after[len(before) :])) if part)
    return format_cmdline(after)


def edit_entry(text: str, wanted: Arguments, owned: Sequence[Arguments]) -> str:
    """Return the text of a loader entry with its options edited.

    Shape: of several `options` lines, which the loader joins, the last is edited; an entry whose options are only
    `$kernelopts` (and other variables) is left alone, since its arguments stand in GRUB's environment.
    Source: the UAPI boot loader specification; RHEL 8 blscfg.
    """
    found = list(_OPTIONS.finditer(text))
    if any(f"${KERNEL_OPTIONS}" in match.group(2) for match in found):
        return text
    if not found:
        return text if not wanted else f"{text.rstrip(chr(10))}\noptions {format_cmdline(wanted)}\n"
    last = found[-1]
    line, variables = _apart(last.group(2))
    edited = " ".join(part for part in (edit_line(line, wanted, owned), variables) if part)
    return text[: last.start()] + last.group(1) + edited + last.group(3) + text[last.end() :]


def entry_options(text: str) -> str:
    """Return the options of a loader entry, several lines joined; variables stay as they are written."""
    return " ".join(match.group(2).strip() for match in _OPTIONS.finditer(text))


def _apart(line: str) -> tuple[str, str]:
    """Return a line without the variables at its end (`$tuned_params`), and those."""
    words = line.split()
    count = 0
    while count < len(words) and words[-1 - count].startswith("$"):
        count += 1
    return (" ".join(words[: len(words) - count]), " ".join(words[len(words) - count :])) if count else (line, "")


def edit_default_grub(text: str, wanted: Arguments, owned: Sequence[Arguments]) -> str:
    """Return /etc/default/grub with the last plain assignment of GRUB_CMDLINE_LINUX edited.

    Shape: without an assignment one is added. New kernels of BLS systems get their arguments from it.
    Sad paths: `ValueError` where the variable is set in a way that only a shell can read.
    """
    mentioned = [line for line in text.splitlines() if re.match(r"\s*(export\s+)?GRUB_CMDLINE_LINUX\+?=", line)]
    found = list(_DEFAULT.finditer(text))
    if len(found) != len(mentioned):
        raise ValueError("GRUB_CMDLINE_LINUX is not set to a plain text")
    if not found:
        return (
            text if not wanted else f'{text.rstrip(chr(10))}\nGRUB_CMDLINE_LINUX="{_shell(format_cmdline(wanted))}"\n'
        )
    last = found[-1]
    value = next((part for part in last.groups()[1:4] if part is not None), "")
    plain = re.sub(r"\\(.)", r"\1", value) if last.group(2) is not None else value
    edited = edit_line(plain, wanted, owned)
    if edited == plain:
        return text
    comment = f" {last.group(5)}" if last.group(5) else ""
    return f'{text[: last.start()]}{last.group(1)}"{_shell(edited)}"{comment}{text[last.end() :]}'


def _shell(value: str) -> str:
    return re.sub(r'([\\"$`])', r"\\\1", value)


def environment_of(text: str) -> dict[str, str]:
    """Return the variables of a GRUB environment block. Source: GNU GRUB manual, environment block."""
    values: dict[str, str] = {}
    for line in text.replace("\\\n", "\n").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            values[name] = value.replace("\\\\", "\\")
    return values


def edit_environment(text: str, wanted: Arguments, owned: Sequence[Arguments]) -> str:
    """Return a GRUB environment block with `kernelopts` edited, of the same size; as it is where it has none.

    Sad paths: `ValueError` when the block has no room for the arguments: GRUB cannot read a larger one.
    """
    values = environment_of(text)
    if KERNEL_OPTIONS not in values:
        return text
    edited = edit_line(values[KERNEL_OPTIONS], wanted, owned)
    if edited == values[KERNEL_OPTIONS]:
        return text
    lines = [f"{name}={value}\n" for name, value in {**values, KERNEL_OPTIONS: edited}.items()]
    body = _ENVIRONMENT_HEAD + "".join(lines)
    size = max(len(text), _ENVIRONMENT_SIZE)
    if len(body) > size:
        raise ValueError(f"GRUB's environment block has {size} bytes, {len(body)} are needed")
    return body + "#" * (size - len(body))
