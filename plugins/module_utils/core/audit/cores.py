# Copyright: (c) 2026, the tunectl contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Core numbers and thread counts that are written into a pod, whatever CPUs it will get."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from ..findings import Severity
from .edits import Edit
from .expectation import Expectation
from .finding import PodFinding, Says, finding
from .subject import ContainerView, Subject
from .words import Word, command_words, commands, environment, option_values

_LIST = re.compile(r"\+?(?:all|\d+(?:-\d+)?)(?::\d+)?(?:,\d+(?:-\d+)?(?::\d+)?)*\Z", re.ASCII)
_NODES = re.compile(r"(?!all\Z)" + _LIST.pattern, re.ASCII)
_SEVERAL = re.compile(r"\d+(?:[-,]\d+)+\Z", re.ASCII)
_MASK = re.compile(r"(?:0x)?[0-9a-fA-F]+(?:,[0-9a-fA-F]+)*\Z", re.ASCII)
_LCORES = re.compile(r"[\d(),@-]*\d[\d(),@-]*\Z", re.ASCII)
_FIRST_NUMBER = re.compile(r"\d+", re.ASCII)

# Options with a list of cores. Source: taskset(1), numactl(8), DPDK EAL parameters.
_NUMACTL = ("-C", "--physcpubind", "-N", "--cpunodebind", "-m", "--membind")
_ANYWHERE = ("--cpus", "--cpuset", "--cpuset-cpus", "--cpu-list", "--cpu-affinity", "--worker-cpu-affinity")
_EAL = ("--lcores", "-l", "--main-lcore", "--master-lcore")
_EAL_MASKS = ("-c", "--reactor-mask")
_EAL_MASK = re.compile(r"0x|\[", re.ASCII)
_EAL_PROGRAMS = ("dpdk-testpmd", "testpmd", "dpdk-l2fwd", "dpdk-l3fwd", "l2fwd", "l3fwd", "vpp", "spdk_tgt", "nvmf_tgt")
# Variables with a list of cores. Source: OpenMP and libgomp, Intel OpenMP runtime.
_AFFINITY = {
    "GOMP_CPU_AFFINITY": re.compile(r"\s*\d[\d\s,:-]*\Z", re.ASCII),
    "KMP_AFFINITY": re.compile(r".*proclist\s*=\s*\[\s*\d.*", re.DOTALL),
    "OMP_PLACES": re.compile(r"\s*\{\s*\d.*", re.DOTALL),
    "MV2_CPU_MAPPING": re.compile(r"\d[\d:,-]*\Z", re.ASCII),
    "I_MPI_PIN_PROCESSOR_LIST": re.compile(r"\d[\d,-]*\Z", re.ASCII),
}
_THREADS = (
    "OMP_NUM_THREADS",
    "GOMAXPROCS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "JULIA_NUM_THREADS",
    "TBB_NUM_THREADS",
)
_JAVA = "-XX:ActiveProcessorCount="


def check_cores(subject: Subject, expectation: Expectation) -> Iterator[PodFinding]:
    """Yield core lists and thread counts that do not follow from what a container gets."""
    del expectation
    for one in subject.containers:
        words = command_words(one)
        yield from _fixed_in_words(subject, one, words)
        yield from _fixed_in_environment(subject, one)
        yield from _too_many_threads(subject, one, words)


def _fixed_in_words(subject: Subject, one: ContainerView, words: list[Word]) -> Iterator[PodFinding]:
    said: set[Word] = set()
    for source, word in _core_lists(words):
        if word not in said:
            said.add(word)
            yield _fixed(subject, one, word, f"{source} {word.text}")


def _core_lists(words: list[Word]) -> Iterator[tuple[str, Word]]:
    """Yield every list or mask of core numbers, with what takes it."""
    for program, rest in commands(words, "taskset"):
        yield from _taskset(program, rest)
    for _, rest in commands(words, "numactl"):
        yield from _matching("numactl ", option_values(rest, *_NUMACTL), _NODES)
    for program, rest in commands(words, *_EAL_PROGRAMS):
        yield from _matching(f"{program} ", option_values(rest, *_EAL), _LCORES)
        yield from _matching(f"{program} ", option_values(rest, *_EAL_MASKS), _EAL_MASK)
    yield from _matching("", option_values(words, *_ANYWHERE), _SEVERAL)  # one number is a count
    yield from _matching("", option_values(words, "--lcores"), _LCORES)


def _matching(lead: str, options: Iterable[tuple[str, Word]], pattern: re.Pattern[str]) -> Iterator[tuple[str, Word]]:
    return ((f"{lead}{option}", word) for option, word in options if pattern.match(word.text))


def _taskset(program: str, rest: list[Word]) -> Iterator[tuple[str, Word]]:
    """Yield the mask, or the list with -c: the first word that is no option. With -p alone a process is looked at."""
    plain = next((index for index, word in enumerate(rest) if not word.text.startswith("-")), len(rest))
    options = [word.text for word in rest[:plain]]
    letters = "".join(text[1:] for text in options if not text.startswith("--"))
    is_list = "c" in letters or "--cpu-list" in options
    looks = ("p" in letters or "--pid" in options) and len(rest) == plain + 1
    if plain < len(rest) and not looks and (_LIST if is_list else _MASK).match(rest[plain].text):
        yield f"{program} -c" if is_list else program, rest[plain]


def _fixed_in_environment(subject: Subject, one: ContainerView) -> Iterator[PodFinding]:
    for name, word in environment(one):
        pattern = _AFFINITY.get(name)
        if pattern is not None and pattern.match(word.text):
            yield _fixed(subject, one, word, f"{name}={word.text}")


def _fixed(subject: Subject, one: ContainerView, word: Word, what: str) -> PodFinding:
    says = Says(
        f"{one.title} names core numbers ({what}); which CPUs it gets is known when it starts, and differs from node "
        "to node",
        expected="the CPUs of the container, as sched_getaffinity(2) tells them",
        actual=what,
        container=one.name,
    )
    return finding("pod.args.fixed-cpus", Severity.WARNING, subject, word.path, says)


def _too_many_threads(subject: Subject, one: ContainerView, words: list[Word]) -> Iterator[PodFinding]:
    limit = one.defaulted.limits.get("cpu", Fraction(0))
    if limit <= 0:
        return
    most = max(1, int(limit))  # half a CPU still runs one thread
    for source, word, count, mendable in _thread_counts(one, words):
        if count > most:
            says = Says(
                f"{one.title} is told to run {count} threads ({source}) on {one.resource('limits', 'cpu')} CPUs: they "
                "take turns instead of running",
                expected=f"at most {most}",
                actual=str(count),
                container=one.name,
                edits=(Edit(word.path, str(most)),) if mendable else (),
            )
            yield finding("pod.args.too-many-threads", Severity.WARNING, subject, word.path, says)


def _thread_counts(one: ContainerView, words: list[Word]) -> Iterator[tuple[str, Word, int, bool]]:
    for name, word in environment(one):
        if name in _THREADS and word.text.strip().isdigit():
            yield f"{name}={word.text.strip()}", word, _number(word.text), True
        elif name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS") and _JAVA in word.text:
            yield name, word, _number(word.text.partition(_JAVA)[2]), False
    for word in words:
        if word.text.startswith(_JAVA):
            yield word.text, word, _number(word.text[len(_JAVA) :]), False
    for program, rest in commands(words, "stress-ng"):
        for option, word in option_values(rest, "--cpu", "-c"):
            if word.text.isdigit():
                yield f"{program} {option} {word.text}", word, _number(word.text), False


def _number(text: str) -> int:
    match = _FIRST_NUMBER.match(text.strip())
    return int(match.group()[:9]) if match else 0
