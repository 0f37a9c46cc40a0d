"""What systemd-sysctl sets at the next boot: order of files, who hides whom, patterns, what is taken out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunectl.core.snapshot import Snapshot
from tunectl.core.sysctl_boot import assignments, boot_files, boot_sysctls, matches, merged, unread_files

_ETC, _RUN, _LOCAL, _USR = "/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"
_CONF = "/proc/sys/net/ipv4/conf"


def _lines(text: str) -> list[tuple[int, str, str | None]]:
    return [(line.line, line.path.removeprefix("/proc/sys/"), line.value) for line in assignments("/f", text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# vm.a=1\n ; vm.b=2\n\n vm.c = 3 \n", [(4, "vm/c", "3")]),
        ("-vm.a = 1\n", [(1, "vm/a", "1")]),
        ("--vm.a = 1\n", [(1, "-vm/a", "1")]),
        ("-vm.a\n", [(1, "vm/a", None)]),
        ("vm.a\n", []),
        ("vm.a =\n", [(1, "vm/a", "")]),
        ("net/ipv4/conf/eth0.100/forwarding=1\n", [(1, "net/ipv4/conf/eth0.100/forwarding", "1")]),
        ("net.ipv4.conf.eth0/100.forwarding=1\n", [(1, "net/ipv4/conf/eth0.100/forwarding", "1")]),
        ("/net//ipv4/ip_forward=1\n", [(1, "net/ipv4/ip_forward", "1")]),
        ("net.ipv4.tcp_rmem = 1\t2  3\n", [(1, "net/ipv4/tcp_rmem", "1 2 3")]),
        ("vm.a = 1 # said\n", [(1, "vm/a", "1 # said")]),
        ("vm.a = \\\n7\n", [(1, "vm/a", "\\")]),
        ("vm.a=1=2\r\n", [(1, "vm/a", "1=2")]),
    ],
)
def test_lines_of_a_file(text: str, found: list[tuple[int, str, str | None]]) -> None:
    assert _lines(text) == found


def test_files_go_by_name_and_the_first_directory_has_a_name() -> None:
    files = dict.fromkeys((f"{_USR}/50-a.conf", f"{_RUN}/40-b.conf", f"{_ETC}/50-a.conf", f"{_LOCAL}/9-c.conf"), "")
    others = dict.fromkeys((f"{_ETC}/README", f"{_ETC}/.60.conf", f"{_ETC}/sub/a.conf", "/etc/sysctl.conf"), "")
    assert boot_files(Snapshot("n", {**files, **others})) == (
        f"{_RUN}/40-b.conf",
        f"{_ETC}/50-a.conf",
        f"{_LOCAL}/9-c.conf",
    )


def test_capitals_and_digits_stand_before_small_letters() -> None:
    files = dict.fromkeys((f"{_ETC}/a.conf", f"{_ETC}/Z.conf", f"{_ETC}/99.conf", f"{_ETC}/_.conf"), "")
    assert [path.rpartition("/")[2] for path in boot_files(Snapshot("n", files))] == [
        "99.conf",
        "Z.conf",
        "_.conf",
        "a.conf",
    ]


@pytest.mark.parametrize("how", ["empty", "dangling"])
def test_a_link_to_nothing_hides_the_file_of_that_name(how: str) -> None:
    files = {f"{_USR}/50-a.conf": "vm.swappiness=3\n"} | ({f"{_ETC}/50-a.conf": ""} if how == "empty" else {})
    node = Snapshot("n", files, listings={_ETC: ("50-a.conf",)}, absent=frozenset((f"{_ETC}/50-a.conf",)))
    assert boot_sysctls(node).of("/proc/sys/vm/swappiness") is None


def test_what_could_not_be_read_is_named_unless_it_is_hidden() -> None:
    unreadable = {f"{_ETC}/50-a.conf": "permission denied", f"{_USR}/50-a.conf": "input/output error", _RUN: "denied"}
    assert unread_files(Snapshot("n", {}, unreadable=unreadable)) == {
        _RUN: "denied",
        f"{_ETC}/50-a.conf": "permission denied",
    }


def _boot(*texts: str) -> Snapshot:
    return Snapshot("n", {f"{_ETC}/{number:02}.conf": text for number, text in enumerate(texts)})


def _value(node: Snapshot, path: str) -> str | None:
    line = boot_sysctls(node).of(path)
    return line.value if line else None


def test_a_name_beats_every_pattern_wherever_it_stands() -> None:
    node = _boot("net.ipv4.conf.all.rp_filter=1\n", "net.ipv4.conf.*.rp_filter=2\n")
    assert _value(node, f"{_CONF}/all/rp_filter") == "1"
    assert _value(node, f"{_CONF}/eth0/rp_filter") == "2"


def test_of_patterns_the_last_one_counts() -> None:
    node = _boot("net.ipv4.conf.*.rp_filter=2\n", "net.ipv4.conf.eth?.rp_filter=0\n")
    assert _value(node, f"{_CONF}/eth0/rp_filter") == "0"
    assert _value(node, f"{_CONF}/lo/rp_filter") == "2"


def test_a_pattern_said_again_otherwise_moves_to_the_end() -> None:
    node = _boot("net.ipv4.conf.*.rp_filter=2\nnet.ipv4.conf.e*.rp_filter=0\n", "net.ipv4.conf.*.rp_filter=1\n")
    assert _value(node, f"{_CONF}/eth0/rp_filter") == "1"


def test_a_line_without_a_value_takes_out_what_stood_before_and_what_patterns_say() -> None:
    node = _boot("vm.swappiness=1\nnet.ipv4.conf.*.rp_filter=2\n", "-vm.swappiness\n-net.ipv4.conf.lo.rp_filter\n")
    boot = boot_sysctls(node)
    assert _value(node, "/proc/sys/vm/swappiness") is None
    taken = boot.of("/proc/sys/vm/swappiness")
    assert taken is not None
    assert taken.place == f"{_ETC}/01.conf:1"
    known = [f"{_CONF}/{name}/rp_filter" for name in ("eth0", "lo")]
    assert boot.writes(known) == [(known[0], "2")]


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("/a/*/c", "/a/b/c", True),
        ("/a/*/c", "/a/b/d/c", False),
        ("/a/[bc]", "/a/c", True),
        ("/a/*", "/a/.b", False),
        ("/a/?b", "/a/.b", False),
        ("/a/B*", "/a/b1", False),
    ],
)
def test_marks_stay_within_one_component(pattern: str, path: str, found: bool) -> None:  # noqa: FBT001
    assert matches(pattern, path) is found


_NAMES = st.sampled_from(["net.a.x", "net.b.x", "net.*.x", "net.?.x", "vm.y"])
_STATEMENTS = st.lists(st.tuples(_NAMES, st.sampled_from(["1", "2", None])), max_size=12)


@settings(deadline=None)
@given(_STATEMENTS)
def test_what_is_written_last_is_what_decides(statements: list[tuple[str, str | None]]) -> None:
    text = "".join(f"-{name}\n" if value is None else f"{name}={value}\n" for name, value in statements)
    boot = merged(assignments("/f", text))
    known = ["/proc/sys/net/a/x", "/proc/sys/net/b/x", "/proc/sys/vm/y"]
    final = dict(boot.writes(known))
    for path in known:
        line = boot.of(path)
        assert final.get(path) == (line.value if line else None)
