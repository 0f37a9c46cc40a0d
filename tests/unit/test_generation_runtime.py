"""Values of the running kernel: real ones of this kernel, and plain files that stand for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.core.kernel_value import (
    chosen,
    same_kernel_value,
    with_choice,
)
from ansible_collections.tunectl.node.plugins.module_utils.generation_disk import Disk, DiskError
from ansible_collections.tunectl.node.plugins.module_utils.generation_runtime import Kernel
from hypothesis import given
from hypothesis import strategies as st
from support.node_trees import build, picture

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
WORDS = st.lists(
    st.sampled_from(["always", "madvise", "never", "defer", "inherit"]), min_size=2, max_size=5, unique=True
)


@pytest.mark.parametrize(
    ("path", "left", "right"),
    [
        (THP, "always [madvise] never\n", "madvise"),
        ("/proc/irq/7/smp_affinity", "00000000,000000ff\n", "ff"),
        ("/proc/irq/default_smp_affinity", "00ff", "ff"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "0f\n", "0000000f"),
        ("/sys/bus/workqueue/devices/writeback/cpumask", "3", "00000003"),
        ("/proc/irq/7/smp_affinity_list", "0-3\n", "0,1,2,3"),
        ("/sys/module/intel_idle/parameters/x", "Y\n", "1"),
        ("/sys/module/intel_idle/parameters/x", "N", "0"),
        ("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n", "4096 131072 6291456"),
        ("/proc/sys/kernel/randomize_va_space", "0x2", "2"),
        ("/proc/sys/kernel/printk", "7 4 1 7\n", " 7  4 1 7 "),
    ],
)
def test_spellings_of_one_meaning(path: str, left: str, right: str) -> None:
    assert same_kernel_value(path, left, right)
    assert same_kernel_value(path, right, left)


@pytest.mark.parametrize(
    ("path", "left", "right"),
    [
        (THP, "always [madvise] never\n", "always"),
        ("/proc/irq/7/smp_affinity", "10", "16"),
        ("/proc/irq/7/smp_affinity_list", "10", "16"),
        ("/proc/irq/7/smp_affinity_list", "0-3", "0-2"),
        ("/proc/irq/7/smp_affinity_list", "x", "y"),
        ("/proc/sys/kernel/x", "Y", "1"),
        ("/proc/sys/kernel/x", "10", "010"),
        ("/proc/sys/net/ipv4/tcp_rmem", "1 2", "1 2 3"),
    ],
)
def test_texts_that_mean_something_else(path: str, left: str, right: str) -> None:
    assert not same_kernel_value(path, left, right)
    assert not same_kernel_value(path, right, left)


@given(WORDS, st.data())
def test_a_choice_goes_on_showing_every_word(words: list[str], data: st.DataObject) -> None:
    before, after = data.draw(st.sampled_from(words)), data.draw(st.sampled_from(words))
    text = " ".join(f"[{word}]" if word == before else word for word in words) + "\n"
    shown = with_choice(text, after)
    assert shown is not None
    assert chosen(shown) == after
    assert shown.replace("[", "").replace("]", "").split() == words
    assert with_choice(shown, before) == text


def test_a_word_that_is_not_offered_is_refused_with_the_words() -> None:
    with pytest.raises(ValueError, match="'sometimes' is not among always madvise never"):
        with_choice("always [madvise] never\n", "sometimes")


@pytest.mark.parametrize("text", ["60\n", "[]", "a b", "[a]", "[a] [b]", ""])
def test_other_texts_offer_no_choice(text: str) -> None:
    assert with_choice(text, "a") is None
    assert chosen(text) == text.strip()


def test_a_real_kernel_value_is_set_and_put_back() -> None:
    kernel = Kernel(Disk("/"))
    path = f"/proc/{os.getpid()}/comm"
    before = kernel.read(path)
    assert before is not None
    kernel.write(path, "tunectl-test")
    assert kernel.read(path) == "tunectl-test\n"
    kernel.restore(path, before)
    assert kernel.read(path) == before


def test_what_a_real_kernel_refuses_is_said_in_its_words() -> None:
    path = f"/proc/{os.getpid()}/oom_score_adj"
    kernel = Kernel(Disk("/"))
    before = kernel.read(path)
    with pytest.raises(DiskError, match="Invalid argument"):
        kernel.write(path, "5000")
    assert kernel.read(path) == before


def test_a_value_that_does_not_hold_is_an_error_with_both_values() -> None:
    path = f"/proc/{os.getpid()}/comm"
    kernel = Kernel(Disk("/"))
    before = kernel.read(path)
    assert before is not None
    with pytest.raises(DiskError, match="'a-name-that-is-longer-than-15' was written, 'a-name-that-is-' is there"):
        kernel.write(path, "a-name-that-is-longer-than-15")
    kernel.restore(path, before)


def test_a_plain_file_keeps_its_form_and_its_mode(tmp_path: Path) -> None:
    root = build(tmp_path, {THP: (b"always [madvise] never\n", 0o640), "/proc/sys/vm/a": (b"1\n", 0o644)})
    before = picture(root)
    kernel = Kernel(Disk(str(root)))
    kernel.write(THP, "never")
    kernel.write("/proc/sys/vm/a", "2")
    assert picture(root)[THP] == ("file", 0o640, b"always madvise [never]\n")
    assert picture(root)["/proc/sys/vm/a"] == ("file", 0o644, b"2\n")
    kernel.restore(THP, "always [madvise] never\n")
    kernel.restore("/proc/sys/vm/a", "1\n")
    assert picture(root) == before


def test_values_are_reached_through_links_as_in_sysfs(tmp_path: Path) -> None:
    root = build(tmp_path, {"/sys/devices/virtual/net/lo/queues/rx-0/rps_cpus": (b"0\n", 0o644)})
    (root / "sys/class/net").mkdir(parents=True)
    (root / "sys/class/net/lo").symlink_to("../../devices/virtual/net/lo")
    Kernel(Disk(str(root))).write("/sys/class/net/lo/queues/rx-0/rps_cpus", "3")
    assert (root / "sys/devices/virtual/net/lo/queues/rx-0/rps_cpus").read_bytes() == b"3\n"
    assert (root / "sys/class/net/lo").is_symlink()


def test_a_value_that_is_not_there_reads_as_none_and_is_not_made(tmp_path: Path) -> None:
    kernel = Kernel(Disk(str(build(tmp_path, {"/sys/a": (b"", 0o644)}))))
    assert kernel.read("/sys/b") is None
    assert kernel.read("/sys/a/b") is None
    with pytest.raises(DiskError, match="No such file"):
        kernel.write("/sys/b", "1")
    assert not (tmp_path / "sys/b").exists()
