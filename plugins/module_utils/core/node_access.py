# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Why a node cannot be worked on, told from what ssh, sudo, the shell and Ansible print.

Sources: error texts of OpenSSH (ssh(1), sshconnect.c), sudo(8) 1.8 and 1.9, dash and bash, and of ansible-core 2.19 and
2.20; all of them are read as they are in the C locale, in which Ansible runs them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import Problem, problem

INTERRUPTED = "TUN-5039"
_LONGEST = 400


@dataclass(frozen=True)
class NodeFailure:
    """What is known of a task that failed on a node.

    Shape: `message` is Ansible's sentence, `printed` what the node printed instead of a result; `code` is the exit
    code there, None when it is not known (128 + n for the signal n).
    """

    node: str
    message: str
    printed: str = ""
    code: int | None = None
    unreachable: bool = False

    @property
    def text(self) -> str:
        """Everything that was said, on one line."""
        return " ".join(f"{self.message} {self.printed}".split())


@dataclass(frozen=True)
class _Rule:
    code: str
    pattern: re.Pattern[str]
    what: str
    fix: str


def _rule(code: str, pattern: str, what: str, fix: str) -> _Rule:
    return _Rule(code, re.compile(pattern, re.IGNORECASE), what, fix)


_PYTHON_FIX = (
    "install Python 3.9 or newer on {node} (Debian, Ubuntu: apt-get install python3; RHEL, Fedora: dnf install python3;"
    " SUSE: zypper install python3), or say where it is: ansible_python_interpreter in the inventory"
)

# The first rule that matches speaks. What ssh says comes first: without a login nothing else was tried.
_RULES = (
    _rule(
        "TUN-5033",
        r"host key verification failed|remote host identification has changed|host key for .* has changed"
        r"|authenticity of host .* can't be established",
        "the host key of {node} is not the one that is known, or none is known",
        "compare `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` at the node's console with what ssh shows; if it is"
        " the node: ssh-keygen -R ADDRESS, then ssh ADDRESS once",
    ),
    _rule(
        "TUN-5030",
        r"could not resolve hostname|name or service not known|temporary failure in name resolution",
        "the name of {node} has no address",
        "set ansible_host of {node} in the inventory to an address or to a name that `getent hosts NAME` finds",
    ),
    _rule(
        "TUN-5031",
        r"connection refused",
        "{node} is up and refuses connections on its ssh port",
        "at its console: systemctl status ssh sshd; or set ansible_port of {node} to the port it listens on",
    ),
    _rule(
        "TUN-5032",
        r"connection timed out|operation timed out|no route to host|network is unreachable|banner exchange"
        r"|connection to .* timed out",
        "{node} does not answer",
        "look whether it is up and in reach: ping ADDRESS, its console, the firewall between; ssh -v ADDRESS tells",
    ),
    _rule(
        "TUN-5034",
        r"permission denied \((?:publickey|password|keyboard|gssapi|hostbased)|too many authentication failures"
        r"|invalid/incorrect password|no supported authentication methods|failed to authenticate",
        "{node} does not let this user in",
        "put the public key into ~/.ssh/authorized_keys there (ssh-copy-id USER@ADDRESS), or set ansible_user and"
        " ansible_ssh_private_key_file of {node} in the inventory",
    ),
    _rule(
        "TUN-5037",
        r"sudo\S*: (?:command )?not found|sudo\S*: no such file",
        "{node} has no sudo, with which the user that logs in becomes root",
        "log in as root (ansible_user: root), install the package sudo there, or set ansible_become_method",
    ),
    _rule(
        "TUN-5038",
        r"a (?:terminal|password) is required|missing sudo password|incorrect sudo password|sorry, try again"
        r"|not in the sudoers file|is not allowed to (?:execute|run sudo)|may not run sudo|you must have a tty"
        r"|waiting for (?:privilege escalation|become)|become password|no new privileges|must be setuid root",
        "sudo does not let this user become root on {node} without being asked",
        "on {node}, with visudo -f /etc/sudoers.d/tunectl: `USER ALL=(root) NOPASSWD: ALL`; or give the password:"
        " ansible_become_password of {node}, kept in Ansible Vault",
    ),
    _rule(
        "TUN-5036",
        r"requires a minimum of python|unsupported python|python version .* is not supported",
        "the Python of {node} is too old",
        _PYTHON_FIX,
    ),
    _rule(
        "TUN-5035",
        r"module interpreter .* was not found|python[\d.]*['\"]?: (?:(?:command )?not found|no such file)"
        r"|not a valid interpreter|no python interpreters? found|python[\d.]*: bad interpreter",
        "there is no Python on {node} where Ansible looks for it",
        _PYTHON_FIX,
    ),
)

_SIGNAL_EXIT = 128
_SIGNALS = range(1, 65)
_NO_ANSWER = re.compile(
    r"no start of json char|deserialization failed|module failure|shared connection .* closed", re.IGNORECASE
)


def access_problem(failure: NodeFailure) -> Problem | None:
    """Return what keeps a node from being worked on, None when the texts tell of something else.

    Every problem names the node, quotes what was said, and what to change. Of a program that ended midway
    (TUN-5039) nothing is known but that it ended.
    """
    for rule in _RULES:
        if rule.pattern.search(failure.text):
            what, fix = (text.replace("{node}", failure.node) for text in (rule.what, rule.fix))
            return problem(rule.code, what, where=failure.node, why=_why(failure), fix=fix)
    if not failure.unreachable and _NO_ANSWER.search(failure.message):
        return _ended(failure)
    return None


def _ended(failure: NodeFailure) -> Problem:
    return problem(
        INTERRUPTED,
        f"the program on {failure.node} ended without an answer",
        where=failure.node,
        why="; ".join(part for part in (_ending(failure.code), _shortened(failure.printed)) if part)
        or "it printed nothing",
        fix=f"journalctl -k -S -10min on {failure.node} shows a kill for want of memory; run the command again",
    )


def _ending(code: int | None) -> str:
    if code is None:
        return ""
    signal = -code if code < 0 else code - _SIGNAL_EXIT
    return f"it was ended by signal {signal}" if signal in _SIGNALS else f"it ended with exit code {code}"


def _why(failure: NodeFailure) -> str:
    """Return what the node printed, which is closer to the cause than Ansible's sentence, else that sentence."""
    return _shortened(failure.printed) or _shortened(failure.message) or "no answer"


def _shortened(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= _LONGEST else joined[: _LONGEST - 1] + "…"
