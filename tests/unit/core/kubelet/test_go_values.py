"""Values are read as Go reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cpuset import CpuSet
from tunectl.core.kubelet.go_values import go_bool, go_cpus, go_duration, go_int, go_percentage


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("10s", 10**10),
        ("1m30s", 90 * 10**9),
        ("1h", 3600 * 10**9),
        ("1.5s", 15 * 10**8),
        ("100ms", 10**8),
        ("500us", 500_000),
        ("2µs", 2000),
        ("3ns", 3),
        (".5m", 30 * 10**9),
        ("-2s", -2 * 10**9),
        ("+1s", 10**9),
    ],
)
def test_durations(text: str, nanoseconds: int) -> None:
    assert go_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "10", "1d", "s", "1 s", "1s ", "-", "1,5s", "9999999h", "1m-3s", "٣s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        go_duration(text)


@pytest.mark.parametrize("text", ["T", "1", "true", "True", "TRUE", "t"])
def test_true(text: str) -> None:
    assert go_bool(text) is True


@pytest.mark.parametrize("text", ["F", "0", "false", "False", "FALSE", "f"])
def test_false(text: str) -> None:
    assert go_bool(text) is False


@pytest.mark.parametrize("text", ["yes", "tRUE", "", "on", "2"])
def test_what_is_no_truth_value(text: str) -> None:
    with pytest.raises(ValueError, match="true nor false"):
        go_bool(text)


@pytest.mark.parametrize(("text", "number"), [("8", 8), ("+8", 8), ("-3", -3), ("007", 7)])
def test_whole_numbers(text: str, number: int) -> None:
    assert go_int(text) == number


@pytest.mark.parametrize("text", ["", "1_0", "0x8", " 8", "8.0", "99999999999999999999", "٣"])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        go_int(text)


def test_percentages() -> None:
    assert go_percentage("12.5%") == 0.125
    assert go_percentage("1e1%") == 0.1
    with pytest.raises(ValueError, match="percentage"):
        go_percentage("x%")


@pytest.mark.parametrize("text", ["0, 16", "0-8:2", "5-2", "a", "0,16,", ",", "-1", "1--3", "99999999999999999999"])
def test_what_is_no_cpu_list(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        go_cpus(text)


@given(st.sets(st.integers(0, 300)))
def test_every_set_is_read_back(cpus: set[int]) -> None:
    assert go_cpus(CpuSet(cpus).format()) == CpuSet(cpus)


def test_cpus_that_no_machine_has() -> None:
    assert go_cpus("0,70000-80000") == CpuSet((0, 65535))
    assert go_cpus("+3") == CpuSet((3,))
