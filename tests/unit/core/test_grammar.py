from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tunectl.core.errors import InputError
from tunectl.core.grammar import (
    check_grub_value,
    check_modprobe,
    check_path,
    check_sysctl,
    check_tmpfiles_value,
    check_unit_value,
)

HOSTILE = ["\n", "\r", "\0", '"', "'", "$", "`", ";", "\\", "#", "\x1b", "é", "\x85", "\u2028"]
TEXT = st.one_of(
    st.text(st.characters(min_codepoint=0, max_codepoint=0x2030), max_size=12),
    st.text(st.sampled_from("abz019._-=,:/+@%![]^~()|<>&?*{} \t\n\"'$`;\\#"), max_size=12),
)


@pytest.mark.parametrize("character", HOSTILE)
def test_no_file_takes_a_character_that_could_leave_its_place(character: str) -> None:
    value = f"a{character}b"
    with pytest.raises(InputError, match="TUN-2201"):
        check_grub_value(f"quiet={value}")
    with pytest.raises(InputError, match="TUN-2202"):
        check_sysctl("kernel.core_pattern", value)
    with pytest.raises(InputError, match="TUN-2203"):
        check_unit_value(value, "irq.balance")
    with pytest.raises(InputError, match="TUN-2204"):
        check_tmpfiles_value("/sys/kernel/mm/ksm/run", value)
    with pytest.raises(InputError, match="TUN-2205"):
        check_modprobe("kvm", "halt_poll_ns", value)


@pytest.mark.parametrize("character", HOSTILE + list(" \t%*?[|&"))
def test_paths_take_plain_characters_only(character: str) -> None:
    with pytest.raises(InputError, match="TUN-2204"):
        check_path(f"/sys/a{character}b")


def test_specifiers_do_not_reach_systemd() -> None:
    with pytest.raises(InputError, match="percent sign: systemd would replace it"):
        check_unit_value("%h", "x")
    with pytest.raises(InputError, match="percent sign: systemd would replace it"):
        check_tmpfiles_value("/sys/x", "%h")


@pytest.mark.parametrize("argument", ["", "=1", "a b", "a=b c", "isolcpus=", "a{", "-x", "a&b", "a>b", "a*"])
def test_what_is_no_kernel_argument_is_refused(argument: str) -> None:
    with pytest.raises(InputError, match="TUN-2201"):
        check_grub_value(argument)


@pytest.mark.parametrize(
    "argument",
    ["quiet", "isolcpus=managed_irq,2-15", "memmap=4G!12G", "console=ttyS0,115200n8", "hugepages=0:4,1:4", "a.b-c=1"],
)
def test_real_kernel_arguments_pass(argument: str) -> None:
    assert check_grub_value(argument) == argument


@pytest.mark.parametrize(
    "name", ["", "vm", "vm.", ".vm", "-vm.swappiness", "vm..x", "vm.*", "vm.a b", "vm/../x", "v;m.a"]
)
def test_what_is_no_parameter_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="TUN-2202"):
        check_sysctl(name, "1")


def test_real_parameters_pass_without_outer_blanks() -> None:
    assert check_sysctl("net.ipv4.tcp_rmem", " 4096\t87380 16777216 ") == "4096\t87380 16777216"
    assert check_sysctl("net.ipv4.conf.eth0/100.rp_filter", "2") == "2"
    assert check_sysctl("kernel.core_pattern", "|/usr/bin/dump %P %u") == "|/usr/bin/dump %P %u"


@pytest.mark.parametrize(("module", "option"), [("", "a"), ("kvm", ""), ("kvm x", "a"), ("kvm", "a b"), ("-k", "a")])
def test_module_and_option_names_are_one_word(module: str, option: str) -> None:
    with pytest.raises(InputError, match="TUN-2205"):
        check_modprobe(module, option, "1")


def test_empty_values_are_refused_where_a_line_needs_one() -> None:
    with pytest.raises(InputError, match="the value is empty"):
        check_modprobe("kvm", "a", "")
    with pytest.raises(InputError, match="the value is empty"):
        check_sysctl("vm.swappiness", " ")
    for value in ("", " 1", "1 "):
        with pytest.raises(InputError, match="the value is empty, or begins or ends with a blank"):
            check_tmpfiles_value("/sys/x", value)


def test_a_refusal_names_setting_value_character_and_reason() -> None:
    with pytest.raises(InputError) as caught:
        check_grub_value("x=$(reboot)", "kernel.args[2]")
    problem = caught.value.problems[0]
    assert problem.where == "kernel.args[2]"
    assert "'x=$(reboot)'" in problem.what
    assert "a dollar sign" in problem.why
    assert "variable" in problem.why


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=5))
def test_accepted_arguments_come_back_unchanged_from_a_real_shell(tmp_path: Path, values: list[str]) -> None:
    accepted = [argument for argument in (f"a={value}" for value in values) if _passes(argument)]
    line = " ".join(accepted)
    grub = tmp_path / "99-tunectl.cfg"
    grub.write_text(f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {line}"\n', encoding="utf-8")
    script = 'GRUB_CMDLINE_LINUX=before; . "$1"; printf %s "$GRUB_CMDLINE_LINUX"'
    read = subprocess.run(["sh", "-c", script, "sh", str(grub)], capture_output=True, check=True, timeout=20)
    assert read.stderr == b""
    assert read.stdout.decode() == f"before {line}"


def _passes(argument: str) -> bool:
    try:
        check_grub_value(argument)
    except InputError:
        return False
    return True


@given(st.dictionaries(st.sampled_from(["vm.a", "kernel.b", "net.ipv4.c"]), TEXT, max_size=3))
def test_accepted_parameters_come_back_unchanged_from_the_file(values: dict[str, str]) -> None:
    accepted = {}
    for name, value in values.items():
        try:
            accepted[name] = check_sysctl(name, value)
        except InputError:
            continue
    text = "".join(f"{name} = {value}\n" for name, value in accepted.items())
    assert _read_sysctl(text) == accepted


def _read_sysctl(text: str) -> dict[str, str]:
    """Read as sysctl.d(5) says: comments by first character, key and value around the first equals sign."""
    values = {}
    for line in text.splitlines():
        if line.strip() and line.strip()[0] not in "#;":
            key, _equals, value = line.partition("=")
            values[key.strip()] = value.strip()
    return values


@given(TEXT)
def test_accepted_tmpfiles_values_stay_on_one_line_and_in_their_field(value: str) -> None:
    try:
        check_tmpfiles_value("/sys/kernel/mm/ksm/run", value)
    except InputError:
        return
    line = f"w /sys/kernel/mm/ksm/run - - - - {value}\n"
    assert line.splitlines() == [line[:-1]]
    assert line[:-1].split(" ", 6)[6] == value
    assert "%" not in value
