import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.cmdline import (
    Argument,
    default_hugepagesize,
    find_last,
    format_cmdline,
    hugepages,
    last_value,
    page_size_kib,
    parse_cmdline,
    values,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("  \n", ()),
        ("ro quiet\n", (Argument("ro"), Argument("quiet"))),
        ("a=1 a=2  b=", (Argument("a", "1"), Argument("a", "2"), Argument("b", ""))),
        ("root=UUID=1-2", (Argument("root", "UUID=1-2"),)),
        ('dyndbg="file a.c +p" x', (Argument("dyndbg", "file a.c +p"), Argument("x"))),
        ('"dyndbg=file a.c +p" x', (Argument("dyndbg", "file a.c +p"), Argument("x"))),
        ('a=b" "c', (Argument("a", 'b" "c'),)),
        ('a="open end', (Argument("a", "open end"),)),
        ('"flag"', (Argument("flag"),)),
        ("=x", (Argument("=x"),)),
        ('a="', (Argument("a", ""),)),
    ],
)
def test_quoting_is_the_kernels(text: str, expected: tuple[Argument, ...]) -> None:
    assert parse_cmdline(text) == expected


_WORD = st.text(alphabet="abz019_-.,:=/", min_size=1, max_size=6)
_ARGUMENT = st.builds(Argument, _WORD.filter(lambda name: "=" not in name), st.one_of(st.none(), _WORD))


@given(st.lists(_ARGUMENT))
def test_formatting_and_parsing_are_inverse(args: list[Argument]) -> None:
    assert parse_cmdline(format_cmdline(args)) == tuple(args)


@given(st.text(alphabet="ab= \"\n\t'", max_size=20))
def test_what_was_parsed_is_spelled_the_same_or_refused(text: str) -> None:
    args = parse_cmdline(text)
    try:
        spelled = format_cmdline(args)
    except ValueError:
        # Only quotes inside an argument can have no spelling.
        assert '"' in text
        return
    assert parse_cmdline(spelled) == args


@pytest.mark.parametrize("arg", [Argument("a", '"'), Argument("a", 'x "y'), Argument("a=b")])
def test_arguments_without_spelling_are_refused(arg: Argument) -> None:
    with pytest.raises(ValueError, match="no spelling"):
        format_cmdline([arg])


def test_blanks_in_values_are_quoted() -> None:
    assert str(Argument("x", "a b")) == 'x="a b"'
    assert str(Argument("a b")) == '"a b"'


def test_the_last_one_wins_and_dash_is_underscore() -> None:
    args = parse_cmdline("rcu_nocbs=0 rcu-nocbs=1-3 nosmt quiet=1 quiet -- rcu_nocbs=9")
    assert last_value(args, "rcu_nocbs") == "1-3"
    assert values(args, "rcu_nocbs") == ("0", "1-3")
    assert find_last(args, "nosmt") == Argument("nosmt")
    assert (last_value(args, "quiet"), values(args, "quiet")) == (None, ("1", None))
    assert find_last(args, "absent") is None


def test_hugepages_keep_their_order() -> None:
    args = parse_cmdline("hugepages=3 default_hugepagesz=1G hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=0:5,1:6")
    assert hugepages(args) == (("", "3"), ("1G", "4"), ("2M", "0:5,1:6"))
    assert default_hugepagesize(args) == "1G"
    assert default_hugepagesize(()) is None


@pytest.mark.parametrize(
    ("text", "kib"), [("2M", 2048), ("1G", 1048576), ("64k", 64), ("2097152", 2048), ("1t", 2**30)]
)
def test_page_sizes(text: str, kib: int) -> None:
    assert page_size_kib(text) == kib


@pytest.mark.parametrize("text", ["", "M", "2MB", "-1G", "1000"])
def test_what_is_no_page_size(text: str) -> None:
    with pytest.raises(ValueError, match="not a page size"):
        page_size_kib(text)
