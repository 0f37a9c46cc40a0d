"""Settings: flag over variable over project file over user file over built-in, each with its source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tunectl.app.settings import SETTINGS, duration_s, load_settings
from tunectl.core.errors import InputError


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "config.yaml"


def test_built_in_values(tmp_path: Path, user_file: Path) -> None:
    settings = load_settings(tmp_path, user_file, {})
    assert {name: value.source for name, value in settings.values.items()} == {one.name: "built-in" for one in SETTINGS}
    assert settings["inventory"] is None
    assert settings["no_input"] is False
    assert settings["timeout"] is None


def test_each_source_wins_over_the_one_below(tmp_path: Path, user_file: Path) -> None:
    user_file.parent.mkdir()
    user_file.write_text("color: never\nforks: 3\nprogress: plain\nno_input: true\n")
    (tmp_path / "tunectl.yaml").write_text("forks: 7\nprogress: json\ninventory: hosts/prod.ini\n")
    settings = load_settings(tmp_path, user_file, {"TUNECTL_PROGRESS": "off"}).with_flags(
        {"timeout": "2m", "color": None}
    )
    assert (settings["color"], settings.values["color"].source) == ("never", str(user_file))
    assert (settings["forks"], settings.values["forks"].source) == (7, str(tmp_path / "tunectl.yaml"))
    assert (settings["progress"], settings.values["progress"].source) == ("off", "TUNECTL_PROGRESS")
    assert (settings["timeout"], settings.values["timeout"].source) == (120.0, "flag --timeout")
    assert settings["no_input"] is True
    assert settings["inventory"] == tmp_path / "hosts/prod.ini"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("colour: never", "TUN-1020", "did you mean 'color'?"),
        ("forks: many", "TUN-1021", "number from 0"),
        ("progress: loud", "TUN-1021", "auto, plain, json, off"),
        ("- a", "TUN-1020", "not a map"),
        ("a: [", "TUN-1020", "not YAML"),
        ("forks: [1]", "TUN-1020", "collection"),
        ("timeout: soon", "TUN-1021", "90s"),
        ("no_input: perhaps", "TUN-1021", "true or false"),
    ],
)
def test_mistakes_name_their_source(text: str, code: str, said: str, tmp_path: Path, user_file: Path) -> None:
    (tmp_path / "tunectl.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_settings(tmp_path, user_file, {})
    (one,) = caught.value.problems
    assert one.code == code
    assert one.where == str(tmp_path / "tunectl.yaml")
    assert said in f"{one.why} {one.fix}"


def test_a_wrong_variable_is_named(tmp_path: Path, user_file: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_settings(tmp_path, user_file, {"TUNECTL_COLOR": "blue"})
    assert caught.value.problems[0].where == "TUNECTL_COLOR"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2h", 7200), ("1h1m1s", 3661), ("45", 45)]
)
def test_durations(text: str, seconds: int) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "m10", "10 m", "10d", "-5s", "1m1h", "٣s", "1.5h"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="90s"):
        duration_s(text)
