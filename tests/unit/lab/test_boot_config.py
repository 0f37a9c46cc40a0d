"""What user space sets at boot, in the order in which systemd does."""

from pathlib import Path

import pytest

from tunectl.lab.boot_config import (
    command_words,
    sysctl_writes,
    tmpfiles_writes,
    unit_commands,
    unit_values,
)

_SWAPPINESS = "/proc/sys/vm/swappiness"


def _put(root: Path, path: str, text: str) -> None:
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def test_files_go_by_name_whatever_their_directory_and_the_last_wins(tmp_path: Path) -> None:
    _put(tmp_path, "/usr/lib/sysctl.d/99-z.conf", "vm.swappiness = 3\n")
    _put(tmp_path, "/etc/sysctl.d/50-a.conf", "vm.swappiness = 1\n")
    _put(tmp_path, "/run/sysctl.d/60-b.conf", "vm.swappiness = 2\n")
    assert sysctl_writes(tmp_path, []) == [(_SWAPPINESS, "3")]


def test_a_file_of_etc_hides_the_one_of_that_name_below_usr(tmp_path: Path) -> None:
    _put(tmp_path, "/usr/lib/sysctl.d/50-a.conf", "vm.swappiness = 3\nvm.stat_interval=9\n")
    _put(tmp_path, "/etc/sysctl.d/50-a.conf", "vm.swappiness = 1\n")
    assert sysctl_writes(tmp_path, []) == [(_SWAPPINESS, "1")]


@pytest.mark.parametrize("target", ["/dev/null", "/nowhere/at/all"])
def test_a_link_to_nothing_hides_the_file_of_its_name(tmp_path: Path, target: str) -> None:
    _put(tmp_path, "/usr/lib/sysctl.d/50-a.conf", "vm.swappiness = 3\n")
    _put(tmp_path, "/usr/lib/sysctl.d/.60-b.conf", "vm.swappiness = 4\n")
    _put(tmp_path, "/etc/sysctl.d/10-a.conf", "vm.stat_interval = 9\n")
    (tmp_path / "etc/sysctl.d/50-a.conf").symlink_to(target)
    assert sysctl_writes(tmp_path, []) == [("/proc/sys/vm/stat_interval", "9")]


def test_comments_dashes_slashes_and_files_of_other_names(tmp_path: Path) -> None:
    text = "# vm.a=1\n; vm.b=2\n\n-vm.swappiness= 7 \nnet/ipv4/conf/eth0.100/forwarding=1\n"
    _put(tmp_path, "/etc/sysctl.d/10-a.conf", text)
    _put(tmp_path, "/etc/sysctl.d/20-a.conf.disabled", "vm.swappiness=8\n")
    assert sysctl_writes(tmp_path, []) == [
        (_SWAPPINESS, "7"),
        ("/proc/sys/net/ipv4/conf/eth0.100/forwarding", "1"),
    ]


def test_a_pattern_leaves_out_what_is_named_or_excluded(tmp_path: Path) -> None:
    known = [f"/proc/sys/net/ipv4/conf/{name}/rp_filter" for name in ("all", "eth0", "lo")]
    text = "net.ipv4.conf.*.rp_filter = 2\nnet.ipv4.conf.all.rp_filter = 0\n-net.ipv4.conf.lo.rp_filter\n"
    _put(tmp_path, "/etc/sysctl.d/10-a.conf", text)
    assert sysctl_writes(tmp_path, known) == [(known[1], "2"), (known[0], "0")]


def test_tmpfiles_lines_write_their_whole_argument(tmp_path: Path) -> None:
    known = ["/sys/a/enabled", "/sys/b/enabled"]
    text = (
        "# w /sys/a/enabled - - - - no\n"
        "d /run/x 0755 root root -\n"
        "w /sys/a/enabled - - - - defer+madvise\n"
        "w! /sys/*/enabled - - - - two words\n"
        "w /sys/c - - - - 50%%\n"
    )
    _put(tmp_path, "/etc/tmpfiles.d/tunectl.conf", text)
    assert tmpfiles_writes(tmp_path, known) == [
        ("/sys/a/enabled", "defer+madvise"),
        ("/sys/a/enabled", "two words"),
        ("/sys/b/enabled", "two words"),
        ("/sys/c", "50%"),
    ]


def test_an_empty_assignment_forgets_and_dropins_follow_by_name(tmp_path: Path) -> None:
    _put(tmp_path, "/usr/lib/systemd/system/k.service", "[Service]\nExecStart=/bin/a\n")
    _put(tmp_path, "/usr/lib/systemd/system/k.service.d/10-x.conf", "[Service]\nExecStart=\nExecStart=/bin/b one\n")
    _put(tmp_path, "/etc/systemd/system/k.service.d/05-y.conf", "[Service]\nExecStart=/bin/c\n")
    assert unit_values(tmp_path, "k.service", "ExecStart") == ["/bin/b one"]
    _put(tmp_path, "/etc/systemd/system/k.service.d/10-x.conf", "[Service]\n")
    assert unit_values(tmp_path, "k.service", "ExecStart") == ["/bin/a", "/bin/c"]


def test_wanted_units_give_their_commands_in_order(tmp_path: Path) -> None:
    _put(tmp_path, "/etc/systemd/system/kubelet.service.d/20-t.conf", "[Unit]\nWants=one.service\nWants=two.service\n")
    _put(tmp_path, "/etc/systemd/system/one.service", '[Service]\nExecStart=/bin/sh -c \'echo "$$1" > "$$2"\' t 1 /f\n')
    _put(tmp_path, "/etc/systemd/system/two.service", "[Service]\nExecStart=/bin/true\n")
    assert unit_commands(tmp_path, "kubelet.service") == [
        ["/bin/sh", "-c", 'echo "$1" > "$2"', "t", "1", "/f"],
        ["/bin/true"],
    ]


def test_percent_and_dollar_signs_of_a_command_are_doubled_in_the_file() -> None:
    assert command_words("-/bin/echo 100%% $$HOME") == ["/bin/echo", "100%", "$HOME"]
