"""Each escaping is read back by the program that reads the file, where that program is at hand."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracles import missing

from tunectl.core.desired import Area, DesiredState, Impact, Partition, Platform, Setting
from tunectl.core.environment import NodeEnvironment
from tunectl.core.errors import InputError
from tunectl.core.plan import NodeFile
from tunectl.render.escape import comment, tmpfiles_argument, unit_word
from tunectl.render.node import GRUB_PATH, SYSCTL_PATH, TMPFILES_PATH, render_node

_ANY = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), min_size=1, max_size=20)
_NASTY = st.text(alphabet="ab1=,-.\n\r\t \"'`$;\\%#&|<>(){}!*?[]~^@/:+", min_size=1, max_size=20)


def _file(path: str, *settings_: Setting) -> NodeFile | None:
    """Return the rendered file, None when the value was refused."""
    desired = DesiredState("t", "p", Platform.KUBEADM, Partition(), settings_)
    try:
        files = render_node(desired, NodeEnvironment(boot_loader="grub")).files
    except InputError:
        return None
    return next(file for file in files if file.path == path)


@given(st.one_of(_NASTY, _ANY))
@settings(deadline=None, max_examples=60)
def test_a_kernel_argument_cannot_leave_the_grub_value(value: str) -> None:
    file = _file(GRUB_PATH, Setting("cmdline.a", Area.CMDLINE, "a", value, Impact.REBOOT))
    if file is None:
        return
    script = f'GRUB_CMDLINE_LINUX="foreign=1"\n{file.content}printf "%s" "$GRUB_CMDLINE_LINUX"'
    done = subprocess.run(["sh", "-eu"], input=script, capture_output=True, text=True, check=True)
    assert done.stdout == f"foreign=1 a={value}"
    assert done.stderr == ""


@pytest.mark.parametrize(
    "value", ['1" ; touch x ; "', "$(id)", "`id`", "1\nGRUB_DEFAULT=0", "a;b", "a'b", "\\", "a b", "$HOME"]
)
def test_what_a_shell_would_run_is_refused(value: str) -> None:
    assert _file(GRUB_PATH, Setting("cmdline.a", Area.CMDLINE, "a", value, Impact.REBOOT)) is None


@given(st.one_of(_NASTY, _ANY))
@settings(deadline=None, max_examples=60)
def test_a_kernel_parameter_stays_on_its_line(value: str) -> None:
    file = _file(SYSCTL_PATH, Setting("sysctl.kernel.x", Area.SYSCTL, "kernel.x", value, Impact.LIVE))
    if file is None:
        return
    lines = [line for line in file.content.splitlines() if line and not line.startswith(("#", ";"))]
    assert len(lines) == 1
    key, _, rest = lines[0].partition("=")
    assert (key.strip(), rest.strip()) == ("-kernel.x", value.strip())


def test_sysctl_reads_the_file(tmp_path: Path) -> None:
    if shutil.which("sysctl") is None:
        missing("sysctl is not installed")
    file = _file(
        SYSCTL_PATH,
        Setting("sysctl.a", Area.SYSCTL, "net.ipv4.tcp_rmem", "4096\t131072 6291456", Impact.LIVE),
        Setting("sysctl.b", Area.SYSCTL, "kernel.pid_max", "4194304", Impact.LIVE),
    )
    assert file is not None
    (tmp_path / "tunectl.conf").write_text(file.content)
    done = subprocess.run(
        ["sysctl", "--dry-run", "-p", str(tmp_path / "tunectl.conf")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["kernel.pid_max = 4194304", "net.ipv4.tcp_rmem = 4096\t131072 6291456"]


@pytest.mark.parametrize("value", ["never", "[always]", "-1", "-", "a b", "100%", "a\\tb", "0-3,7", "%%h"])
def test_systemd_tmpfiles_writes_the_value(tmp_path: Path, value: str) -> None:
    if shutil.which("systemd-tmpfiles") is None:
        missing("systemd-tmpfiles is not installed")
    target = tmp_path / "sys" / "value"
    target.parent.mkdir()
    target.touch()  # w does not truncate: the files that it is for need no truncation
    config = tmp_path / "tunectl.conf"
    config.write_text(f"w /sys/value - - - - {tmpfiles_argument(value)}\n")
    subprocess.run(["systemd-tmpfiles", "--create", f"--root={tmp_path}", str(config)], check=True)
    assert target.read_text().rstrip("\n") == value


@given(st.one_of(_NASTY, _ANY))
def test_a_runtime_value_stays_on_its_line(value: str) -> None:
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    file = _file(TMPFILES_PATH, Setting(f"runtime.{path}", Area.RUNTIME, path, value, Impact.LIVE))
    if file is None:
        return
    lines = [line for line in file.content.splitlines() if line and not line.startswith("#")]
    assert lines == [f"w {path} - - - - {tmpfiles_argument(value)}"]


def test_words_of_a_command_line_are_quoted() -> None:
    assert unit_word('a "b" $c %d \\ e') == r'"a \"b\" $$c %%d \\ e"'


@given(_ANY)
def test_a_comment_stays_a_comment(text: str) -> None:
    assert len(comment(text).splitlines()) <= 1


def test_plain_words_stay_plain() -> None:
    assert unit_word("/bin/sh") == "/bin/sh"
    assert unit_word("") == '""'
