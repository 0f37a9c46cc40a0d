"""Tiers for property tests: right ones by form, and texts that are nearly tiers."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tunectl.core.tier import TIER_API_VERSION
from tunectl.core.tier_fields import TIER
from tunectl.core.tier_forms import Choices, Cpus, Form, Json, Record, Refusal, Scalar, Sequence, Table

# Texts that some form takes; each form keeps those that are right for it.
WORDS = (
    "0-3,8", "5", "0-31:2/4", "30%", "8", "eth0", "0000:3b:00.0", "numa", "packed", "none", "static", "Static", "None",
    "best-effort", "restricted", "single-numa-node", "container", "pod", "true", "false", "8Gi", "500m", "1.5", "0",
    "2e3", "10%", "0%", "10s", "1m30s", "1h", "NoSwap", "LimitedSwap", "4k", "64k", "2M", "1G", "quiet",
    "isolcpus=domain,1-3", "a b", "vm.swappiness", "net/ipv4/conf/eth0.100/x", "kernel.sched_rt_runtime_us", "-1",
    "madvise", "defer+madvise", "never", "always", "reserved", "isolated", "pool=a:NoSchedule", "x/y:NoExecute",
    "kvm_intel", "example.com/role", "hpc", "a-b.c_d", "on", "yes", "null", "~", "0x8086", "!eth*", "1", "16", "0.9",
    "performance-profile", "kubelet-config", "text with: colon # and more", "ünï", "'", '"', "{", "[", "- a",
    "y", "1e3",
)  # fmt: skip


def right_values(form: Form) -> st.SearchStrategy[Any]:
    """Return JSON data that the form takes."""
    if isinstance(form, Scalar):
        return _right_scalars(form)
    if isinstance(form, Record):
        return _right_maps(form.fields, form.required)
    if isinstance(form, Choices):
        return _right_maps(form.fields, ())
    if isinstance(form, Table):
        return st.dictionaries(_right_scalars(form.key), right_values(form.value), max_size=3)
    if isinstance(form, Sequence):
        return st.lists(right_values(form.item), max_size=3)
    if isinstance(form, Cpus):
        rest = [st.just("rest")] if form.may_be_rest else []
        return st.one_of(_right_scalars(form.text), right_values(form.intent), *rest)
    return _json_maps(form)


def _right_maps(fields: Any, required: tuple[str, ...]) -> st.SearchStrategy[Any]:
    given = {name: right_values(fields[name]) for name in required}
    return st.fixed_dictionaries(
        given, optional={name: right_values(fields[name]) for name in fields if name not in given}
    )


_JSON_LEAVES = {
    "bool": st.booleans(),
    "int": st.integers(-9999, 9999),
    "duration": st.sampled_from(("0s", "10s", "1m30s", "500ms")),
    "text": st.sampled_from(WORDS),
}


def _json_maps(form: Json) -> st.SearchStrategy[Any]:
    leaves = st.one_of(*_JSON_LEAVES.values())
    values = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=2),
    )
    by_type = {
        **_JSON_LEAVES,
        "list": st.lists(values, max_size=2),
        "map": st.dictionaries(st.sampled_from(WORDS), values, max_size=2),
    }
    fields = {name: by_type[kind] for name, kind in form.keys.items()}
    names = st.lists(st.sampled_from(sorted(fields)), max_size=2, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: fields[name] for name in chosen}))


def _right_scalars(form: Scalar) -> st.SearchStrategy[Any]:
    if form.kinds == ("bool",):
        return st.booleans()
    texts = [word for word in WORDS if _takes(form, word)]
    numbers = [int(word) for word in texts if word.lstrip("-").isdigit()] if "int" in form.kinds else []
    names = form.schema.get("enum", [])
    return st.sampled_from([*(texts if "str" in form.kinds else []), *numbers, *names])


def _takes(form: Scalar, word: str) -> bool:
    try:
        form.parse(word)
    except Refusal:
        return False
    return True


_SECTIONS = {name: right_values(form) for name, form in TIER.fields.items() if name != "name"}


def right_documents() -> st.SearchStrategy[dict[str, Any]]:
    """Return tier documents whose fields are right one by one; some contradict themselves."""
    head = {"apiVersion": TIER_API_VERSION, "kind": "Tier", "name": "mine"}
    # Few sections at a time: everything at once nearly always contradicts itself.
    names = st.lists(st.sampled_from(sorted(_SECTIONS)), min_size=1, max_size=2, unique=True)
    bodies = names.flatmap(lambda chosen: st.fixed_dictionaries({name: _SECTIONS[name] for name in chosen}))
    return bodies.map(lambda data: {**head, **data})


def strange_documents() -> st.SearchStrategy[Any]:
    """Return data that has the keys of tiers, and anything at all as their values."""
    keys = [*TIER.fields, *(name for form in TIER.fields.values() if isinstance(form, Record) for name in form.fields)]
    leaves = st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(WORDS), st.text(max_size=9)
    )
    values = st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*keys, *WORDS]), inner, max_size=4)
        ),
        max_leaves=20,
    )
    head = st.sampled_from([{}, {"apiVersion": TIER_API_VERSION, "kind": "Tier", "name": "mine"}])
    return st.builds(
        lambda start, rest: {**start, **rest}, head, st.dictionaries(st.sampled_from(keys), values, max_size=5)
    )
