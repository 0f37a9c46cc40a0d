"""Where the conformance vectors are; a missing directory is a loud skip, or a failure where all parts are required."""

import os
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[2]


def oracle_dir(name: str) -> Path:
    """Return the directory of one set of vectors, below TUNECTL_ORACLES or `<repository>/../shared/oracles`."""
    base = Path(os.environ.get("TUNECTL_ORACLES") or _REPOSITORY.parent / "shared" / "oracles")
    directory = base / name
    if not directory.is_dir():
        missing(f"no conformance vectors: {directory} is not there; set TUNECTL_ORACLES to the directory that has them")
    return directory


def missing(reason: str) -> None:
    """Skip with the reason, or fail with it under TUNECTL_REQUIRE_ALL=1."""
    if os.environ.get("TUNECTL_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def oracle_files(name: str, pattern: str) -> list[Path]:
    """Return the files of a set for parametrisation: empty when the directory is absent (the test then says so)."""
    base = Path(os.environ.get("TUNECTL_ORACLES") or _REPOSITORY.parent / "shared" / "oracles")
    return sorted((base / name).glob(pattern))
