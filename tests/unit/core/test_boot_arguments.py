"""Arguments of the next boot: put in as a block, taken out again, everything else as it was."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.boot_arguments import (
    contains,
    edit_default_grub,
    edit_entry,
    edit_environment,
    edit_line,
    entry_options,
    environment_of,
    put_in,
    read_list,
    take_out,
)
from tunectl.core.boot_menu import default_entry, next_entry
from tunectl.core.cmdline import Argument, format_cmdline, parse_cmdline
from tunectl.core.snapshot import Snapshot

names = st.sampled_from(["quiet", "isolcpus", "hugepagesz", "hugepages", "console", "nohz_full"])
arguments = st.lists(
    st.builds(Argument, names, st.none() | st.sampled_from(["1", "2-3", "1G", "tty0"])), max_size=6
).map(tuple)
WANTED = parse_cmdline("hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8 nohz_full=2-3")
OLD = parse_cmdline("nohz_full=1")


@given(arguments, arguments)
def test_what_was_put_in_is_taken_out_again_and_the_rest_is_as_it_was(
    others: tuple[Argument, ...], ours: tuple[Argument, ...]
) -> None:
    there = put_in(others, ours)
    assert contains(there, ours)
    if not contains(others, ours):
        assert take_out(there, ours) == others
    assert put_in(there, ours) == there


@given(arguments, arguments, arguments)
def test_one_block_replaces_another(
    others: tuple[Argument, ...], old: tuple[Argument, ...], new: tuple[Argument, ...]
) -> None:
    there = put_in(others + old, new, [old])
    assert contains(there, new)
    if not contains(others, new):
        assert take_out(there, new) == others


def test_hugepage_pairs_stay_pairs_behind_those_of_others() -> None:
    line = edit_line("root=/dev/sda1 hugepagesz=2M hugepages=1  quiet", WANTED, [])
    assert line == f"root=/dev/sda1 hugepagesz=2M hugepages=1  quiet {format_cmdline(WANTED)}"
    assert edit_line(line, (), [WANTED]) == "root=/dev/sda1 hugepagesz=2M hugepages=1 quiet"


def test_a_block_that_somebody_tore_apart_is_collected() -> None:
    torn = parse_cmdline("nohz_full=2-3 mine hugepagesz=1G hugepages=4 quiet hugepagesz=2M hugepages=8")
    assert format_cmdline(take_out(torn, WANTED)) == "mine quiet"


def test_a_line_that_means_the_same_is_the_same_letter_by_letter() -> None:
    line = f'  dyndbg="file x +p"   {format_cmdline(WANTED)}   ro'
    assert edit_line(line, WANTED, [WANTED]) != line or edit_line(line, WANTED, []) == line
    assert edit_line(line, WANTED, []) == line


def test_a_list_is_read_with_its_comments() -> None:
    assert read_list("# a comment\n\nnohz_full=2-3\nquiet\n") == parse_cmdline("nohz_full=2-3 quiet")


ENTRY = """\
title Red Hat Enterprise Linux (5.14.0-427.el9.x86_64) 9.4 (Plow)
version 5.14.0-427.el9.x86_64
linux /vmlinuz-5.14.0-427.el9.x86_64
initrd /initramfs-5.14.0-427.el9.x86_64.img $tuned_initrd
options root=/dev/mapper/rhel-root ro crashkernel=1G-4G:192M quiet $tuned_params
grub_users $grub_users
"""


def test_an_entry_keeps_its_variables_behind_the_arguments() -> None:
    edited = edit_entry(ENTRY, OLD, [])
    assert "quiet nohz_full=1 $tuned_params\n" in edited
    assert edit_entry(edited, WANTED, [OLD]).count("nohz_full") == 1
    assert edit_entry(edited, (), [OLD]) == ENTRY
    assert entry_options(edited).endswith("nohz_full=1 $tuned_params")


def test_an_entry_of_rhel_8_has_its_arguments_in_the_environment() -> None:
    entry = ENTRY.replace("root=/dev/mapper/rhel-root ro crashkernel=1G-4G:192M quiet", "$kernelopts")
    assert edit_entry(entry, WANTED, []) == entry
    body = "# GRUB Environment Block\nsaved_entry=abc-4.18\nkernelopts=root=/dev/sda1 ro \nboot_success=0\n"
    block = body + "#" * (1024 - len(body))
    edited = edit_environment(block, WANTED, [])
    assert len(edited) == 1024
    assert environment_of(edited)["kernelopts"] == f"root=/dev/sda1 ro {format_cmdline(WANTED)}"
    assert environment_of(edited)["saved_entry"] == "abc-4.18"
    assert environment_of(edit_environment(edited, (), [WANTED]))["kernelopts"] == "root=/dev/sda1 ro"
    with pytest.raises(ValueError, match="1024 bytes"):
        edit_environment(block, parse_cmdline("a=" + "x" * 1024), [])
    assert edit_environment("# GRUB Environment Block\nsaved_entry=x\n###", WANTED, []).startswith("# GRUB")


DEFAULTS = [
    'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="crashkernel=auto rhgb"\nGRUB_X=1\n',
    "GRUB_CMDLINE_LINUX='rd.lvm.lv=a/b quiet'  # mine\n",
    "GRUB_CMDLINE_LINUX=quiet\n",
    "GRUB_CMDLINE_LINUX=\n",
    'GRUB_CMDLINE_LINUX=""\n',
    "GRUB_TIMEOUT=5\n",
    'GRUB_CMDLINE_LINUX="dyndbg=\\"file x +p\\" quiet"\n',
]


def as_the_shell_reads(text: str) -> str:
    script = f'{text}\nprintf %s "$GRUB_CMDLINE_LINUX"'
    return subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("text", DEFAULTS)
def test_the_shell_reads_defaults_as_they_were_with_the_arguments_behind(text: str) -> None:
    edited = edit_default_grub(text, WANTED, [])
    before, after = as_the_shell_reads(text), as_the_shell_reads(edited)
    assert parse_cmdline(after) == parse_cmdline(before) + WANTED
    assert parse_cmdline(as_the_shell_reads(edit_default_grub(edited, (), [WANTED]))) == parse_cmdline(before)
    assert edit_default_grub(edited, WANTED, []) == edited
    lines = [line for line in text.splitlines() if "CMDLINE" not in line]
    assert [line for line in edited.splitlines() if "CMDLINE" not in line] == lines


@pytest.mark.parametrize(
    "text", ['GRUB_CMDLINE_LINUX="$(cat /x)"\n', 'GRUB_CMDLINE_LINUX+=" a"\n', 'GRUB_CMDLINE_LINUX="a\n b"\n']
)
def test_what_only_a_shell_can_read_is_not_edited(text: str) -> None:
    with pytest.raises(ValueError, match="plain text"):
        edit_default_grub(text, WANTED, [])


MENU = """\
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
else
   set default="0"
fi
function savedefault {
}
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {
	echo	'Loading Linux 6.1.0-50 ...'
	linux	/boot/vmlinuz-6.1.0-50 root=UUID=1 ro quiet nohz_full=1
	initrd	/boot/initrd.img-6.1.0-50
}
submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-1' {
	menuentry 'Linux 6.1.0-50' $menuentry_id_option 'gnulinux-6.1.0-50-advanced-1' {
		linux	/boot/vmlinuz-6.1.0-50 root=UUID=1 ro nohz_full=1
	}
	menuentry 'Linux 6.1.0-40' $menuentry_id_option 'gnulinux-6.1.0-40-advanced-1' {
		linux	/boot/vmlinuz-6.1.0-40 root=UUID=1 ro
	}
}
menuentry 'Other' {
	linux	/boot/vmlinuz-other ro
}
"""


@pytest.mark.parametrize(
    ("default", "environment", "release", "line"),
    [
        ("0", {}, "6.1.0-50", 10),
        ("1>1", {}, "6.1.0-40", 18),
        ("gnulinux-advanced-1>gnulinux-6.1.0-40-advanced-1", {}, "6.1.0-40", 18),
        ("Advanced options>Linux 6.1.0-50", {}, "6.1.0-50", 15),
        ("2", {}, "other", 22),
        ("${saved_entry}", {"saved_entry": "1>1"}, "6.1.0-40", 18),
        ("${saved_entry}", {}, "6.1.0-50", 10),
        ("0", {"next_entry": "2"}, "other", 22),
        ("gone", {}, "6.1.0-50", 10),
    ],
)
def test_the_entry_that_boots_next(default: str, environment: dict[str, str], release: str, line: int) -> None:
    menu = MENU.replace('set default="0"', f'set default="{default}"')
    entry = default_entry(menu, environment)
    assert entry is not None
    assert (entry.release, entry.line) == (release, line)


def test_an_empty_menu_has_no_entry() -> None:
    assert default_entry("") is None
    assert default_entry(MENU.replace('set default="0"', 'set default="9"')) is None


def test_of_loader_entries_the_saved_one_boots_else_the_newest() -> None:
    place = "/boot/loader/entries"
    old = ENTRY.replace("427", "99")
    files = {
        f"{place}/m-5.14.0-427.el9.x86_64.conf": ENTRY,
        f"{place}/m-5.14.0-99.el9.x86_64.conf": old,
        f"{place}/m-0-rescue.conf": ENTRY.replace("427", "0-rescue"),
    }
    entry = next_entry(Snapshot("n", files))
    assert entry is not None
    assert entry.release == "5.14.0-427.el9.x86_64"
    assert entry.arguments[-1] == Argument("quiet")
    saved = {"/boot/grub2/grubenv": "# GRUB Environment Block\nsaved_entry=m-5.14.0-99.el9.x86_64\n"}
    entry = next_entry(Snapshot("n", {**files, **saved}))
    assert entry is not None
    assert re.search("99", entry.release)
