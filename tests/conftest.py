"""Shared fixtures: golden files, kept next to the tests that use them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

Golden = Callable[[str, str], str]

# A busy machine is no defect of what is tested: nothing here is judged by the time it takes.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that rewrites golden files; what it changes is reviewed like code."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files with what the tests got")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return a function that returns the text of a golden file in `golden/` beside the test, which is to be compared.

    It takes the file's name and what the test got, which becomes the file with --update-golden.
    """
    directory = Path(str(request.node.fspath)).parent / "golden"

    def expected(name: str, got: str) -> str:
        path = directory / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(got, encoding="utf-8")
        assert path.is_file(), f"no golden file {path}; run with --update-golden and review it"
        return path.read_text(encoding="utf-8")

    return expected
