import copy
import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cpuset import MAX_CPU_ID, CpuSet, union

IDS = st.one_of(st.integers(0, 70), st.integers(1000, 1100), st.integers(0, MAX_CPU_ID))
SETS = st.frozensets(IDS, max_size=40)
parse = CpuSet.parse


@given(SETS)
def test_a_set_holds_its_cpus_in_ascending_order(cpus: frozenset[int]) -> None:
    one = CpuSet(cpus)
    assert list(one) == sorted(cpus)
    assert len(one) == len(cpus)
    assert bool(one) is bool(cpus)


@given(SETS)
def test_list_and_mask_give_the_same_set_back(cpus: frozenset[int]) -> None:
    one = CpuSet(cpus)
    assert parse(one.format()) == one
    assert CpuSet.parse_mask(one.mask()) == one
    assert str(one) == one.format()
    assert eval(repr(one), {"CpuSet": CpuSet}) == one  # noqa: S307


@given(SETS)
def test_ranges_are_maximal_and_ascending(cpus: frozenset[int]) -> None:
    ranges = list(CpuSet(cpus).ranges())
    assert {cpu for first, last in ranges for cpu in range(first, last + 1)} == cpus
    for (_first, last), (following, _last) in pairwise(ranges):
        assert following > last + 1


@given(SETS, SETS)
def test_the_algebra_is_that_of_frozensets(one: frozenset[int], other: frozenset[int]) -> None:
    ours, theirs = CpuSet(one), CpuSet(other)
    assert frozenset(ours | theirs) == one | other
    assert frozenset(ours & theirs) == one & other
    assert frozenset(ours - theirs) == one - other
    assert frozenset(ours ^ theirs) == one ^ other
    assert (ours <= theirs) is (one <= other)
    assert (ours < theirs) is (one < other)
    assert (ours >= theirs) is (one >= other)
    assert (ours > theirs) is (one > other)
    assert (ours == theirs) is (one == other)
    assert ours.isdisjoint(theirs) is one.isdisjoint(other)
    assert (hash(ours) == hash(theirs)) or ours != theirs
    assert frozenset(union([ours, theirs, ours])) == one | other


@given(SETS)
def test_comparisons_with_itself_and_its_parts(cpus: frozenset[int]) -> None:
    one = CpuSet(cpus)
    assert one <= one | CpuSet((7,))
    assert not one < CpuSet(cpus)
    assert one >= CpuSet(cpus)
    assert not one > CpuSet(cpus)
    assert hash(one) == hash(CpuSet(sorted(cpus, reverse=True)))
    assert len({one, CpuSet(cpus)}) == 1


@given(SETS, IDS)
def test_membership(cpus: frozenset[int], cpu: int) -> None:
    assert (cpu in CpuSet(cpus)) is (cpu in cpus)
    assert -1 not in CpuSet(cpus)
    assert "0" not in CpuSet(cpus)


@given(SETS.filter(bool))
def test_first_and_last(cpus: frozenset[int]) -> None:
    assert CpuSet(cpus).first == min(cpus)
    assert CpuSet(cpus).last == max(cpus)


@pytest.mark.parametrize("end", ["first", "last"])
def test_the_empty_set_has_no_ends(end: str) -> None:
    with pytest.raises(ValueError, match=f"no {end} CPU"):
        getattr(CpuSet(), end)


def test_the_union_of_nothing_is_empty() -> None:
    assert union([]) == CpuSet()


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 20), st.integers(1, 20))
def test_strides_take_the_first_of_each_group(first: int, extra: int, used: int, group: int) -> None:
    text = f"{first}-{first + extra}:{used}/{group}"
    if used > group:
        with pytest.raises(ValueError, match="used/group"):
            parse(text)
        return
    assert list(parse(text)) == [cpu for cpu in range(first, first + extra + 1) if (cpu - first) % group < used]


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", []),
        ("\n", []),
        ("0", [0]),
        ("0-3", [0, 1, 2, 3]),
        ("0-0", [0]),
        ("3,1-2,0\n", [0, 1, 2, 3]),
        ("0-2,1-3,2", [0, 1, 2, 3]),
        (" 0 , 2-3 ", [0, 2, 3]),
        ("007", [7]),
        ("0-7:1/2", [0, 2, 4, 6]),
        ("0-8:3/4,10", [0, 1, 2, 4, 5, 6, 8, 10]),
        ("1023-1025", [1023, 1024, 1025]),
        (str(MAX_CPU_ID), [MAX_CPU_ID]),
    ],
)
def test_kernel_lists(text: str, cpus: list[int]) -> None:
    assert list(parse(text)) == cpus


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-x", "'0-x' in '0-x' is not a CPU list item"),
        ("1,a,2", "'a' in '1,a,2'"),
        ("-1", "'-1'"),
        ("1-", "'1-'"),
        ("0-3-5", "'0-3-5'"),
        ("0,,1", "'' in '0,,1'"),
        ("0,", "'' in '0,'"),
        (",", "''"),
        ("0 1", "'0 1'"),
        ("0 - 3", "'0 - 3'"),
        ("1.0", "'1.0'"),
        ("0x3", "'0x3'"),
        ("+1", "'+1'"),
        ("1_0", "'1_0'"),
        ("٣", "'٣'"),
        ("0-3:2", "'0-3:2'"),
        ("3:1/2", "'3:1/2'"),
        ("0\n-3", "is not a CPU list item"),
        ("3-1", "'3-1' runs backwards"),
        ("0-3:0/4", "used/group"),
        ("0-3:1/0", "used/group"),
        ("0-3:5/4", "used/group"),
        (str(MAX_CPU_ID + 1), f"above {MAX_CPU_ID}"),
        (f"0-{MAX_CPU_ID + 1}", f"above {MAX_CPU_ID}"),
        ("0-999999999999999999999999", f"above {MAX_CPU_ID}"),
    ],
)
def test_what_is_no_kernel_list_is_refused_by_item(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "canonical"), [("3,2,1,0", "0-3"), ("0,1", "0-1"), ("0,2,4", "0,2,4"), ("64-66,0", "0,64-66")]
)
def test_the_list_form_is_canonical(text: str, canonical: str) -> None:
    assert parse(text).format() == canonical


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", ""),
        ("1", "0"),
        ("ff", "0-7"),
        ("FF", "0-7"),
        ("0xff", "0-7"),
        ("0XFF", "0-7"),
        ("00000000,000000ff", "0-7"),
        ("1,0", "32"),
        ("1,00000000", "32"),
        ("1,00000000,00000000\n", "64"),
        ("0x1,00000001", "0,32"),
        ("ffffffffffffffff", "0-63"),
        ("80000000,00000000,00000000,00000000", "127"),
    ],
)
def test_kernel_masks(text: str, cpus: str) -> None:
    assert CpuSet.parse_mask(text) == parse(cpus)


@pytest.mark.parametrize(
    "text",
    ["", "0x", "xyz", "-1", "0-3", "ff,", ",ff", "f,,f", "1,0x2", "123456789,0", "0,123456789", "1 2", "1_0", "٣"],
)
def test_what_is_no_mask_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a CPU mask"):
        CpuSet.parse_mask(text)


def test_masks_beyond_the_largest_cpu_are_refused() -> None:
    assert CpuSet.parse_mask(CpuSet((MAX_CPU_ID,)).mask()).last == MAX_CPU_ID
    with pytest.raises(ValueError, match=f"above {MAX_CPU_ID}"):
        CpuSet.parse_mask("1" + "0" * ((MAX_CPU_ID + 1) // 4))


@pytest.mark.parametrize(
    ("cpus", "width", "mask"),
    [
        ("", 0, "00000000"),
        ("0-3", 0, "0000000f"),
        ("0-3", 32, "0000000f"),
        ("0-3", 33, "00000000,0000000f"),
        ("32", 8, "00000001,00000000"),
        ("31", 0, "80000000"),
        ("0,1024", 0, "00000001" + ",00000000" * 31 + ",00000001"),
    ],
)
def test_masks_are_grouped_by_eight_digits(cpus: str, width: int, mask: str) -> None:
    assert parse(cpus).mask(width) == mask


@given(SETS, st.integers(0, 2000))
def test_a_wider_mask_names_the_same_cpus(cpus: frozenset[int], width: int) -> None:
    mask = CpuSet(cpus).mask(width)
    assert CpuSet.parse_mask(mask) == CpuSet(cpus)
    assert len(mask.replace(",", "")) * 4 >= width
    assert all(len(group) == 8 for group in mask.split(","))


def test_spans_include_both_ends() -> None:
    assert CpuSet.span(3, 6) == parse("3-6")
    assert CpuSet.span(3, 3) == parse("3")
    with pytest.raises(ValueError, match="3-2 runs backwards"):
        CpuSet.span(3, 2)


@pytest.mark.parametrize("cpu", [-1, MAX_CPU_ID + 1])
def test_ids_out_of_range_are_refused(cpu: int) -> None:
    with pytest.raises(ValueError, match=f"CPU id {cpu} is outside 0-{MAX_CPU_ID}"):
        CpuSet([cpu])


@given(SETS, st.sampled_from([copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]))  # noqa: S301
def test_copies_are_equal(cpus: frozenset[int], copied: Callable[[Any], Any]) -> None:
    assert copied(CpuSet(cpus)) == CpuSet(cpus)


def test_a_set_cannot_be_changed() -> None:
    one = CpuSet((1,))
    with pytest.raises(AttributeError, match="immutable"):
        setattr(one, "_bits", 0)  # noqa: B010
    with pytest.raises(AttributeError, match="immutable"):
        setattr(one, "more", 0)  # noqa: B010
    with pytest.raises(AttributeError, match="immutable"):
        delattr(one, "_bits")
    assert one == parse("1")


def test_other_values_are_not_equal() -> None:
    assert CpuSet((1,)) != {1}
    assert CpuSet((1,)) != "1"
