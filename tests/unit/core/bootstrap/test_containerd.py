"""The runtime's configuration: the table by the version of the file, whoever wrote it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.bootstrap.containerd import MARK, config_mistakes, plan_runtime, render_containerd
from tunectl.core.bootstrap.version import Version
from tunectl.core.errors import InputError

ONE, TWO = Version(1, 7, 27), Version(2, 1, 4)
OLD, NEW = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime"


def parse(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def driver(table: str, value: str = "true") -> str:
    return f'[plugins."{table}".containerd.runtimes.runc.options]\nSystemdCgroup = {value}\n'


@pytest.mark.parametrize(("version", "number", "table"), [(ONE, 2, OLD), (TWO, 3, NEW)])
def test_what_is_written_is_what_that_release_reads(version: Version, number: int, table: str) -> None:
    document = tomllib.loads(render_containerd(version))
    assert document["version"] == number
    runc = document["plugins"][table]["containerd"]["runtimes"]["runc"]
    assert runc == {"runtime_type": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}}
    assert config_mistakes(document, version) == []


def test_a_table_of_the_other_version_is_named() -> None:
    (mistake,) = config_mistakes(tomllib.loads(f"version = 3\n{driver(OLD)}"), TWO)
    assert OLD in mistake
    assert "version 3 ignores" in mistake
    (other,) = config_mistakes(tomllib.loads(f"version = 2\n{driver(NEW)}"), ONE)
    assert NEW in other


def test_a_file_of_the_older_version_is_read_by_the_newer_daemon_and_not_the_other_way() -> None:
    assert config_mistakes(tomllib.loads(f"version = 2\n{driver(OLD)}"), TWO) == []
    assert "does not read" in config_mistakes(tomllib.loads(f"version = 3\n{driver(NEW)}"), ONE)[0]


def test_a_disabled_cri_is_a_mistake_even_with_the_right_driver() -> None:
    text = f'version = 2\ndisabled_plugins = ["cri"]\n{driver(OLD)}'
    assert "no CRI" in config_mistakes(tomllib.loads(text), ONE)[0]
    plan = plan_runtime(text, parse, ONE)
    assert plan.text is not None
    assert tomllib.loads(plan.text)["disabled_plugins"] == []


DEBIAN = """version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
  [plugins."io.containerd.internal.v1.opt"]
    path = "/var/lib/containerd"
"""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (DEBIAN, ONE),
        (DEBIAN, TWO),
        ('disabled_plugins = ["cri"]\n', ONE),
        ('disabled_plugins = ["cri", "io.containerd.snapshotter.v1.zfs"]\n', TWO),
        (f"version = 2\n{driver(OLD, 'false')}", ONE),
        (f"version = 3\n{driver(OLD)}", TWO),
    ],
)
def test_what_others_wrote_is_kept_and_completed(text: str, version: Version) -> None:
    before = tomllib.loads(text)
    plan = plan_runtime(text, parse, version)
    assert plan.text is not None
    assert plan.refusal == ""
    after = tomllib.loads(plan.text)
    assert config_mistakes(after, version) == []
    if text is DEBIAN:
        assert after["plugins"][OLD]["cni"] == before["plugins"][OLD]["cni"]
        assert after["plugins"]["io.containerd.internal.v1.opt"] == before["plugins"]["io.containerd.internal.v1.opt"]
    if "zfs" in text:
        assert after["disabled_plugins"] == ["io.containerd.snapshotter.v1.zfs"]
    again = plan_runtime(plan.text, parse, version)
    assert (again.text, again.refusal) == (None, "")


def test_what_cannot_be_completed_is_refused_unless_it_may_be_overwritten() -> None:
    for text, version in (("not = [toml", ONE), (f"version = 3\n{driver(NEW, 'false')}", ONE), ("[grpc]\n", ONE)):
        plan = plan_runtime(text, parse, version)
        assert plan.text is None
        assert plan.refusal
        assert plan_runtime(text, parse, version, overwrite=True).text == render_containerd(version)


def test_a_release_that_nobody_knows_is_refused() -> None:
    for version in (None, Version(3, 0, 0), Version(0, 9, 1)):
        with pytest.raises(InputError, match="TUN-1924"):
            render_containerd(version)


@given(st.text(max_size=200), st.sampled_from([ONE, TWO]))
def test_whatever_is_there_the_result_is_right_or_refused(text: str, version: Version) -> None:
    plan = plan_runtime(text, parse, version)
    if plan.refusal:
        assert plan.text is None
        return
    result = plan.text if plan.text is not None else text
    assert config_mistakes(tomllib.loads(result), version) == []
    assert plan_runtime(result, parse, version).text is None
    assert MARK in render_containerd(version)
