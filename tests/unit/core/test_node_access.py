"""The texts are what the real programs print, in their C locale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunectl.core.codes import CODES
from tunectl.core.node_access import NodeFailure, access_problem

TEXTS = {
    "TUN-5030": (
        "ssh: Could not resolve hostname n1.invalid: Name or service not known",
        "ssh: Could not resolve hostname n1: Temporary failure in name resolution",
    ),
    "TUN-5031": ("ssh: connect to host 10.0.0.9 port 22: Connection refused",),
    "TUN-5032": (
        "ssh: connect to host 10.0.0.9 port 22: Connection timed out",
        "ssh: connect to host 10.0.0.9 port 22: No route to host",
        "Connection timed out during banner exchange",
        "ssh: connect to host 10.0.0.9 port 22: Network is unreachable",
    ),
    "TUN-5033": (
        "No ED25519 host key is known for 10.0.0.9.\nHost key verification failed.",
        "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @",
    ),
    "TUN-5034": (
        "admin@10.0.0.9: Permission denied (publickey,password).",
        "Received disconnect from 10.0.0.9 port 22:2: Too many authentication failures",
    ),
    "TUN-5035": (
        "/bin/sh: 1: /usr/bin/python3: not found",
        "bash: line 1: /usr/bin/python3.9: No such file or directory",
        "The module interpreter '/opt/python3' was not found.",
        "/bin/sh: 1: python: not found",
    ),
    "TUN-5036": ("ansible-core requires a minimum of Python version 3.9. Current version: 3.6.8",),
    "TUN-5037": (
        "/bin/sh: 1: sudo: not found",
        "bash: line 1: sudo: command not found",
        "/bin/sh: 1: /usr/bin/sudo: not found",
    ),
    "TUN-5038": (
        "sudo: a password is required",
        "sudo: a terminal is required to read the password; either use the -S option",
        "Missing sudo password",
        "ops is not in the sudoers file.  This incident will be reported.",
        "Sorry, user ops is not allowed to execute '/bin/sh' as root on n1.",
        "Timeout (12s) waiting for privilege escalation prompt: ",
        "sudo: sorry, you must have a tty to run sudo",
    ),
}
CASES = [(code, text) for code, texts in TEXTS.items() for text in texts]


@pytest.mark.parametrize(("code", "text"), CASES)
@pytest.mark.parametrize("printed", [False, True])
def test_every_text_has_its_code_and_names_the_node(code: str, text: str, *, printed: bool) -> None:
    failure = NodeFailure("node-7", "the task failed" if printed else text, text if printed else "")
    found = access_problem(failure)
    assert found is not None
    assert found.code == code
    assert found.code in CODES
    assert "node-7" in found.what
    assert found.where == "node-7"
    assert found.why == " ".join(text.split())
    assert found.fix
    assert "{" not in found.what + found.fix


def test_every_code_of_a_rule_is_tried() -> None:
    assert set(TEXTS) == {code for code in CODES if "TUN-5030" <= code <= "TUN-5038"}


@pytest.mark.parametrize(
    ("code", "said"),
    [(137, "signal 9"), (-15, "signal 15"), (1, "exit code 1"), (None, "printed nothing")],
)
def test_a_program_that_ended_midway_says_how(code: int | None, said: str) -> None:
    failure = NodeFailure("n1", "Module result deserialization failed: No start of json char found", "", code)
    found = access_problem(failure)
    assert found is not None
    assert found.code == "TUN-5039"
    assert said in found.why


def test_what_tells_of_something_else_is_left_to_others() -> None:
    assert access_problem(NodeFailure("n1", "the kernel refused the value")) is None
    assert access_problem(NodeFailure("n1", "No start of json char found", unreachable=True)) is None


@given(st.text(max_size=2000), st.text(max_size=2000), st.none() | st.integers(-70, 300))
def test_any_text_is_shortened_and_never_an_error(message: str, printed: str, code: int | None) -> None:
    found = access_problem(NodeFailure("n1", message, printed, code))
    assert found is None or (found.code in CODES and len(found.why) <= 450 and "\n" not in found.why)
