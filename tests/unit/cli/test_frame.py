"""The frame of the command line: every way out has its message, its document and its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from tunectl.cli import commands, failure
from tunectl.cli.main import run
from tunectl.cli.options import command
from tunectl.cli.session import Session
from tunectl.core.errors import BusyError, DeclinedError, FailedError, RefusedError, TunectlError, UndoneError, problem
from tunectl.core.errors import UnknownError as CannotLook
from tunectl.view.envelope import EXIT_NAMES, Result, worst

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """A command `version` that raises what is put into the list."""
    raised: list[object] = []

    @command("version", kind="Version", formats=("table", "json", "yaml", "junit"))
    def version(session: Session) -> int:
        del session
        if isinstance(raised[0], BaseException):
            raise raised[0]
        return 0

    monkeypatch.setattr("tunectl.cli.version.version", version)
    monkeypatch.chdir(tmp_path)
    return raised


def test_help_lists_every_command_by_group_and_imports_none() -> None:
    script = (
        "import sys\n"
        "from tunectl.cli.main import run\n"
        "code = run(['--help'])\n"
        "heavy = [name for name in ('rich', 'yaml', 'jinja2', 'ansible', 'ansible_runner') if name in sys.modules]\n"
        "ours = [name for name in sys.modules if name.startswith(('tunectl.planning', 'tunectl.adapters'))]\n"
        "print(heavy, ours, code, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[] [] 0"
    for entry in commands.COMMANDS:
        assert f"  {entry.name} " in done.stdout
    groups = [
        line for line in done.stdout.splitlines() if line in ("Understand:", "Change:", "Prove:", "Build:", "Tool:")
    ]
    assert groups == ["Understand:", "Change:", "Prove:", "Build:", "Tool:"]


def test_an_unknown_command_names_the_nearest(capsys: Capture) -> None:
    assert run(["pln"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Did you mean 'plan'?" in err
    assert "TUN-1000" in err


@pytest.mark.parametrize(
    "args",
    [
        ["version", "-o", "json", "--nonsense"],
        ["version", "--nonsense", "--output=json"],
        ["version", "-qo", "json", "--nonsense"],
        ["version", "-ojson", "extra"],
        ["nosuch", "-o", "json"],
        ["version", "-o", "json", "-o", "jsn=file"],
    ],
)
def test_a_command_line_that_does_not_parse_still_leaves_one_document(args: list[str], capsys: Capture) -> None:
    assert run(args) == 2
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["status"], document["exitCode"]) == ("usage", 2)
    assert document["errors"][0]["code"] in ("TUN-1000", "TUN-1001")
    assert "Nothing was changed." in err


def test_the_document_of_a_usage_error_has_the_kind_of_its_command(capsys: Capture) -> None:
    run(["version", "-o", "json", "--nonsense"])
    assert json.loads(capsys.readouterr().out)["kind"] == "Version"


def test_a_format_that_the_command_does_not_have_is_refused_with_its_list(capsys: Capture) -> None:
    assert run(["version", "-o", "sarif"]) == 2
    assert "it has: table, json, yaml" in capsys.readouterr().err


def test_two_documents_on_stdout_are_refused(capsys: Capture) -> None:
    assert run(["version", "-o", "json", "-o", "yaml"]) == 2
    out, err = capsys.readouterr()
    assert "TUN-1002" in err
    assert json.loads(out)["exitCode"] == 2


def test_a_file_output_leaves_stdout_to_the_table(tmp_path: Path, capsys: Capture) -> None:
    assert run(["version", "-o", f"json={tmp_path / 'v.json'}"]) == 0
    assert capsys.readouterr().out.startswith("tunectl ")
    assert json.loads((tmp_path / "v.json").read_text())["status"] == "ok"
    assert [path.name for path in tmp_path.iterdir()] == ["v.json"]


def test_quiet_with_a_file_output_leaves_stdout_empty(tmp_path: Path, capsys: Capture) -> None:
    assert run(["version", "-q", "-o", f"json={tmp_path / 'v.json'}"]) == 0
    assert capsys.readouterr().out == ""


def test_an_output_file_that_cannot_be_written_is_an_input_error(tmp_path: Path, capsys: Capture) -> None:
    assert run(["version", "-o", f"json={tmp_path}/no/v.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "TUN-1003" in err


_ONE = (problem("TUN-2103", "it cannot be", where="here:1", why="1 is not 2", fix="use 2"),)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FailedError(_ONE, state="3 of 6 nodes changed."), 1),
        (RefusedError(_ONE), 4),
        (CannotLook(_ONE), 5),
        (DeclinedError(_ONE), 6),
        (UndoneError(_ONE, state="Rolled back."), 7),
        (BusyError(_ONE), 8),
    ],
)
def test_every_error_class_has_its_message_document_and_code(
    error: TunectlError, code: int, stand_in: list[object], capsys: Capture
) -> None:
    stand_in.append(error)
    assert run(["version", "-o", "json"]) == code
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["exitCode"], document["status"]) == (code, EXIT_NAMES[code])
    assert document["summary"]["state"] == error.state
    assert [line.split()[0] for line in err.splitlines()[1:4]] == ["where", "why", "fix"]
    assert "[TUN-2103]" in err
    assert err.splitlines()[-1] == error.state


def test_a_defect_leaves_a_report_and_no_traceback(stand_in: list[object], capsys: Capture, tmp_path: Path) -> None:
    stand_in.append(ValueError("surprise"))
    assert run(["version", "-o", "json", "-o", "junit=r.xml"]) == 70
    out, err = capsys.readouterr()
    assert json.loads(out)["status"] == "internal"
    assert "Traceback" not in err
    (crash,) = (tmp_path / ".tunectl" / "crash").iterdir()
    assert crash.name in err
    assert "surprise" in crash.read_text()
    assert "TUN-9000" in (tmp_path / "r.xml").read_text()


def test_debug_shows_the_traceback(stand_in: list[object], capsys: Capture) -> None:
    stand_in.append(ValueError("surprise"))
    assert run(["version", "--debug"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_crash_report_keeps_values_to_itself() -> None:
    text = failure.crash_text(ValueError("x"), ["plan", "--set", "kubelet.config=hunter2"], "now")
    assert "hunter2" not in text
    assert "--set kubelet.config=***" in text


def test_a_crash_report_goes_elsewhere_when_the_folder_is_read_only(
    stand_in: list[object], capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".tunectl").write_text("a file where the directory would be")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    stand_in.append(ValueError("surprise"))
    assert run(["version"]) == 70
    assert str(elsewhere) in capsys.readouterr().err


def test_ctrl_c_is_130(stand_in: list[object], capsys: Capture) -> None:
    stand_in.append(KeyboardInterrupt())
    assert run(["version", "-o", "json"]) == 130
    assert json.loads(capsys.readouterr().out)["status"] == "interrupted"


def test_a_command_that_may_have_changed_nodes_does_not_claim_otherwise() -> None:
    assert failure.interrupted(Session(kind="Run")).state.startswith("Nodes may be changed")
    assert failure.interrupted(Session(kind="Report")).state == "Nothing was changed."


def test_a_time_that_is_over_ends_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    @command("version", kind="Version")
    def version(session: Session) -> int:
        session.say("waiting")
        time.sleep(60)
        return 0

    monkeypatch.setattr("tunectl.cli.version.version", version)
    monkeypatch.chdir(tmp_path)
    assert run(["version", "--timeout", "1s", "-o", "json"]) == 5
    out, err = capsys.readouterr()
    assert json.loads(out)["errors"][0]["code"] == "TUN-5010"
    assert "did not end within 1s" in err


def test_a_command_that_ends_in_time_is_not_disturbed() -> None:
    assert run(["version", "--timeout", "1h"]) == 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def _tunectl(*args: str, **settings: object) -> subprocess.Popen[bytes]:
    process: subprocess.Popen[bytes] = subprocess.Popen(
        [sys.executable, "-c", "from tunectl.cli.main import main; main()", *args],
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONWARNINGS": "error"},
        **settings,  # type: ignore[call-overload]
    )
    return process


@pytest.mark.parametrize(
    "args", [["--help"], ["version"], ["version", "-o", "json"], ["version", "-o", "json", "--bad"]]
)
def test_a_reader_that_has_gone_away_is_no_failure(args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = _tunectl(*args, stdout=writing, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    os.close(writing)
    _, err = process.communicate()
    assert process.returncode == (2 if "--bad" in args else 0)
    assert b"BrokenPipe" not in err
    assert b"Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_a_failure() -> None:
    with Path("/dev/full").open("wb") as full:
        process = _tunectl("version", stdout=full)
        _, err = process.communicate()
    assert process.returncode == 1
    assert b"TUN-4901" in err
    assert b"Traceback" not in err


def test_the_precedence_of_exit_codes() -> None:
    order = [70, 2, 8, 1, 7, 4, 3, 5]
    for index, code in enumerate(order):
        assert worst([0, *reversed(order[index:])]) == code
    assert worst([]) == 0
    assert worst([0, 0]) == 0


def test_every_status_is_named() -> None:
    assert Result("X", exit_code=3).status == "differs"


def test_the_table_of_commands_is_what_the_modules_hold() -> None:
    group = click.Context(commands.LazyGroup(name="tunectl"))
    for entry in commands.COMMANDS:
        if entry.name in ("version", "completion"):
            made = commands.LazyGroup().get_command(group, entry.name)
            assert made is not None
            assert made.name == entry.name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(shell: str, capsys: Capture) -> None:
    assert run(["completion", shell]) == 0
    assert "_TUNECTL_COMPLETE" in capsys.readouterr().out


def test_completion_lists_commands_without_importing_them() -> None:
    request = {"_TUNECTL_COMPLETE": "bash_complete", "COMP_WORDS": "tunectl ver", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "from tunectl.cli.main import main; main()"],
        env=os.environ | request,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["plain,verify", "plain,version"]
