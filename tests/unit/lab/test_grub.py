"""The simulated boot loader reads its files as the shell, and its menu as GRUB."""

from pathlib import Path

import pytest

from tunectl.core.errors import FailedError
from tunectl.lab.grub import assignments, booted_cmdline, kernel_arguments_of, menu


def _defaults(root: Path, main: str, **dropins: str) -> Path:
    (root / "etc/default/grub.d").mkdir(parents=True)
    (root / "etc/default/grub").write_text(main)
    for name, text in dropins.items():
        (root / "etc/default/grub.d" / f"{name}.cfg").write_text(text)
    return root


@pytest.mark.parametrize(
    ("main", "dropins", "arguments"),
    [
        ('GRUB_CMDLINE_LINUX="a"\nGRUB_CMDLINE_LINUX_DEFAULT="b c"\n', {}, "a b c"),
        ("GRUB_CMDLINE_LINUX_DEFAULT=quiet\n", {"50-cloud": 'GRUB_CMDLINE_LINUX_DEFAULT="console=ttyS0"\n'},
         "console=ttyS0"),
        ("GRUB_CMDLINE_LINUX=a\n", {"99-x": 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX b=1"\n'}, "a b=1"),
        ("GRUB_CMDLINE_LINUX=a\n", {"10-x": "GRUB_CMDLINE_LINUX=first\n", "9-x": "GRUB_CMDLINE_LINUX=last\n"}, "last"),
        ("GRUB_CMDLINE_LINUX=a\n", {"99-tunectl": 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX z"\n',
                                    "zz-later": 'GRUB_CMDLINE_LINUX="only"\n'}, "only"),
        ("GRUB_TIMEOUT=5\n", {}, ""),
        ("if true; then GRUB_CMDLINE_LINUX=shell; fi\n", {}, "shell"),
    ],
)  # fmt: skip
def test_later_files_append_or_replace(main: str, dropins: dict[str, str], arguments: str, tmp_path: Path) -> None:
    assert kernel_arguments_of(_defaults(tmp_path, main, **dropins)) == arguments


def test_files_with_another_suffix_are_not_read(tmp_path: Path) -> None:
    root = _defaults(tmp_path, "GRUB_CMDLINE_LINUX=a\n")
    (root / "etc/default/grub.d/99-x.cfg.bak").write_text("GRUB_CMDLINE_LINUX=b\n")
    assert kernel_arguments_of(root) == "a"


def test_the_environment_of_the_caller_does_not_leak_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRUB_CMDLINE_LINUX", "leaked")
    assert kernel_arguments_of(_defaults(tmp_path, "GRUB_TIMEOUT=5\n")) == ""


def test_a_file_that_is_no_shell_stops_the_boot(tmp_path: Path) -> None:
    root = _defaults(tmp_path, 'GRUB_CMDLINE_LINUX="open\n')
    with pytest.raises(FailedError, match="TUN-4800") as caught:
        kernel_arguments_of(root)
    assert "rebooted" in caught.value.state


def test_a_file_that_ends_the_shell_stops_the_boot(tmp_path: Path) -> None:
    with pytest.raises(FailedError):
        kernel_arguments_of(_defaults(tmp_path, "exit 0\n"))


@pytest.mark.parametrize(
    ("arguments", "cmdline"),
    [
        ("isolcpus=managed_irq,2-3 quiet", "isolcpus=managed_irq,2-3 quiet"),
        ("a=$name b", "a= b"),
        ("'a=$name' b", "a=$name b"),
        ('dyndbg="file a.c +p"', '"dyndbg=file a.c +p"'),
        ("nothing-${x}here", "nothing-here"),
    ],
)
def test_the_menu_is_read_as_grub_reads_it(arguments: str, cmdline: str) -> None:
    text = menu("6.1.0-28-amd64", "1234", arguments)
    assert booted_cmdline(text) == f"BOOT_IMAGE=/boot/vmlinuz-6.1.0-28-amd64 root=UUID=1234 ro {cmdline}"


def test_an_open_quote_in_the_menu_ends_the_command_line_there() -> None:
    text = menu("6.1.0-28-amd64", "1234", "a=1 b='open c")
    assert booted_cmdline(text) == "BOOT_IMAGE=/boot/vmlinuz-6.1.0-28-amd64 root=UUID=1234 ro a=1 b="


def test_assignments_survive_the_shell(tmp_path: Path) -> None:
    value = 'a "quoted" $HOME `id` back\\slash'
    root = _defaults(tmp_path, assignments({"GRUB_CMDLINE_LINUX": value}))
    assert kernel_arguments_of(root) == value
