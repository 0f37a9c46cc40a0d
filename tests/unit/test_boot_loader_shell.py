"""Settings of GRUB that are valid and end the shell all the same: the shell is the real one."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.tunectl.node.plugins.module_utils.boot_loader_shell import refuse_failing_shell
from ansible_collections.tunectl.node.plugins.module_utils.core.errors import RefusedError


def written(directory: Path, *texts: str) -> list[Path]:
    files = [directory / f"{number}.cfg" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


@pytest.mark.parametrize(
    ("texts", "at", "why"),
    [
        (("GRUB_TIMEOUT=5\n", "false\n", "GRUB_TIMEOUT=6\n"), 1, "ended here with 1"),
        (("not-a-program-anywhere\n", "GRUB_TIMEOUT=6\n"), 0, "not found"),
        (("a=1\n", "a=2\n", "exit 3\n"), 2, "ended here with 3"),
        (("a=1\n", ". ./nowhere-at-all\n"), 1, "nowhere-at-all"),
    ],
)
def test_the_file_that_ends_the_shell_is_named(tmp_path: Path, texts: tuple[str, ...], at: int, why: str) -> None:
    files = written(tmp_path, *texts)
    with pytest.raises(RefusedError, match="TUN-3422") as caught:
        refuse_failing_shell(files)
    (found,) = caught.value.problems
    assert found.where == str(files[at])
    assert why in found.why


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("GRUB_DISTRIBUTOR=`nothing-here 2>/dev/null || echo Debian`\n",),
        ("a=1\n", 'if false; then a=2; fi\necho printed\na="$a b"\n'),
        ("a=1\n", '[ "$a" = 1 ]\n'),
    ],
)
def test_what_the_shell_gets_through_is_not_refused(tmp_path: Path, texts: tuple[str, ...]) -> None:
    refuse_failing_shell(written(tmp_path, *texts))
