"""`tunectl render --workload`: the stanzas that bring workloads to a tier."""

from __future__ import annotations

from collections.abc import Sequence

from tunectl.app.placement import Placed, Placement, place_workloads
from tunectl.cli.output import OutputSpec, write_file, write_stdout
from tunectl.cli.planning import platform_of, tier_of
from tunectl.cli.session import Session
from tunectl.core.audit.context import audit_tier
from tunectl.core.errors import InputError, problem
from tunectl.planning.manifests import read_manifests
from tunectl.render.yaml_text import yaml_stream, yaml_text
from tunectl.view.envelope import Result


def render_workload(session: Session, files: Sequence[str]) -> int:
    """Write the selector, tolerations, spread and anti-affinity that the workloads of files lack for the tier.

    The default output is a stream of strategic-merge patches; `-o yaml` is the manifests with the stanzas merged in.
    """
    _check_outputs(session.outputs)
    placement = place_workloads(read_manifests(files), audit_tier(tier_of(session), platform_of(session)))
    for text in placement.left:
        session.say(text)
    for spec in [spec for spec in session.outputs if spec.format == "yaml"]:
        _write(spec, _merged_text(placement))
    session.outputs = tuple(spec for spec in session.outputs if spec.format != "yaml")
    result = Result(
        "Manifests",
        summary={"tier": placement.tier, "workloads": len(placement.placed), "notMerged": list(placement.left)},
        items=[_item(one) for one in placement.placed],
    )
    return session.emit(result, {"table": lambda _: _patches_text(placement)})


def _check_outputs(specs: Sequence[OutputSpec]) -> None:
    if any(spec.format == "dir" for spec in specs):
        what, why = "there is no output 'dir' for a workload", "it is one stream of documents"
        raise InputError((problem("TUN-1063", what, where="-o", why=why, fix="-o yaml=FILE"),))


def _patches_text(placement: Placement) -> str:
    parts = []
    for one in placement.placed:
        lead = f"# {one.subject.title} for tier {placement.tier}"
        body = yaml_text(dict(one.patch)) if one.edits else ""
        parts.append(f"{lead}\n{body}" if body else f"{lead}: nothing is missing\n")
    return yaml_stream(parts)


def _merged_text(placement: Placement) -> str:
    texts = [text if text.endswith("\n") else f"{text}\n" for text in placement.texts.values()]
    return texts[0] if len(texts) == 1 else yaml_stream(texts)


def _write(spec: OutputSpec, text: str) -> None:
    if spec.target is None:
        write_stdout(text)
    else:
        write_file(spec.target, text)


def _item(one: Placed) -> dict[str, object]:
    return {
        "workload": one.subject.title,
        "file": one.file,
        "missing": [str(edit.path[-1]) for edit in one.edits],
        "patch": dict(one.patch),
    }
