"""Laws of transactions, for any tree and any plans: what was applied can be taken back byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.tunectl.node.plugins.module_utils.core.plan import NodeFile, RuntimeValue
from ansible_collections.tunectl.node.plugins.module_utils.generation import Generations
from ansible_collections.tunectl.node.plugins.module_utils.generation_request import Request
from hypothesis import given, settings
from hypothesis import strategies as st
from support.node_trees import build, picture, quick_directory

DIRECTORIES = ("/etc", "/etc/sysctl.d", "/etc/a/b", "/etc/a/c/d")
NAMES = ("one.conf", "two.conf", ".hidden")
PATHS = tuple(f"{directory}/{name}" for directory in DIRECTORIES for name in NAMES)
VALUES = ("/proc/sys/vm/a", "/proc/sys/kernel/b", "/sys/c/choice", "/proc/irq/3/smp_affinity")
MODES = st.sampled_from((0o644, 0o600, 0o640, 0o755, 0o444, 0o4755))
TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=40)

trees = st.dictionaries(st.sampled_from(PATHS), st.tuples(st.binary(max_size=40), MODES), max_size=6)
kernels = st.fixed_dictionaries(
    {
        VALUES[0]: st.integers(0, 99).map(lambda number: (f"{number}\n".encode(), 0o644)),
        VALUES[1]: st.integers(0, 9).map(lambda number: (f"{number}\t{number}\n".encode(), 0o644)),
        VALUES[2]: st.sampled_from((b"[x] y z\n", b"x [y] z\n", b"x y [z]")).map(lambda text: (text, 0o644)),
        VALUES[3]: st.integers(1, 255).map(lambda mask: (f"{mask:08x}\n".encode(), 0o600)),
    }
)
files = st.dictionaries(st.sampled_from(PATHS), st.tuples(TEXT, MODES), max_size=5).map(
    lambda found: tuple(NodeFile(path, content, mode) for path, (content, mode) in found.items())
)
runtimes = st.fixed_dictionaries(
    {},
    optional={
        VALUES[0]: st.integers(0, 99).map(str),
        VALUES[1]: st.integers(0, 9).map(lambda number: f"{number} {number}"),
        VALUES[2]: st.sampled_from(("x", "y", "z")),
        VALUES[3]: st.integers(1, 255).map(lambda mask: f"{mask:x}"),
    },
).map(lambda found: tuple(RuntimeValue(path, value) for path, value in found.items()))
requests = st.builds(Request, files=files, runtime=runtimes, overwrite=st.just(True))  # noqa: FBT003 - a strategy


def node_with(tree: dict[str, tuple[bytes, int]], kernel: dict[str, tuple[bytes, int]], where: Path) -> Path:
    return build(where / "node", {**tree, **kernel})


@settings(deadline=None, max_examples=60)
@given(trees, kernels, st.lists(requests, min_size=1, max_size=4))
def test_rolling_back_step_by_step_gives_every_earlier_state_byte_for_byte(
    tree: dict[str, tuple[bytes, int]], kernel: dict[str, tuple[bytes, int]], plans: Sequence[Request]
) -> None:
    with quick_directory() as where:
        root = node_with(tree, kernel, where)
        node = Generations(str(root))
        earlier = []
        for plan in plans:
            before = picture(root)
            if node.apply(plan).changed:
                earlier.append(before)
        for before in reversed(earlier):
            node.rollback()
            assert picture(root) == before


@settings(deadline=None, max_examples=60)
@given(trees, kernels, st.lists(requests, min_size=1, max_size=3))
def test_applying_twice_is_applying_once_and_check_mode_foretells_it(
    tree: dict[str, tuple[bytes, int]], kernel: dict[str, tuple[bytes, int]], plans: Sequence[Request]
) -> None:
    with quick_directory() as where:
        root = node_with(tree, kernel, where)
        node = Generations(str(root))
        for plan in plans:
            frozen = picture(root, without="/nothing")
            said = node.apply(plan, check=True)
            assert picture(root, without="/nothing") == frozen
            done = node.apply(plan)
            assert (said.changed, said.files, said.values) == (done.changed, done.files, done.values)
            assert not node.apply(plan).changed
            for item in plan.files:
                assert (root / item.path[1:]).read_bytes() == item.content.encode("utf-8")
                assert (root / item.path[1:]).stat().st_mode & 0o7777 == item.mode


@settings(deadline=None, max_examples=40)
@given(trees, kernels, st.lists(requests, min_size=1, max_size=3))
def test_owning_nothing_any_more_is_as_if_tunectl_had_never_been_there(
    tree: dict[str, tuple[bytes, int]], kernel: dict[str, tuple[bytes, int]], plans: Sequence[Request]
) -> None:
    with quick_directory() as where:
        root = node_with(tree, kernel, where)
        before = picture(root)
        node = Generations(str(root))
        for plan in plans:
            node.apply(plan)
        node.apply(Request())
        assert picture(root) == before
