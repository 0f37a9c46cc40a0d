"""Amounts and lists for people."""

from __future__ import annotations

_KIB_PER_GIB = 1024 * 1024
_KIB_PER_MIB = 1024


def memory_text(kib: int) -> str:
    """Return an amount of memory in the unit people use for it: GiB, below one of them MiB. Scale: kibibytes in."""
    if kib >= _KIB_PER_GIB:
        return f"{kib / _KIB_PER_GIB:.0f} GiB"
    return f"{kib / _KIB_PER_MIB:.0f} MiB"


def middle_cut(text: str, width: int) -> str:
    """Return the text, shortened in the middle to `width` columns; long CPU lists keep both ends."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + "…" + (text[-tail:] if tail else "")


def duration_text(seconds: float) -> str:
    """Return a duration: `0.8 s`, `9.0 s`, `54 s`, `9m03s`, `1h05m`."""
    whole = round(seconds)
    if seconds < 10:  # noqa: PLR2004  one digit more where it tells something
        return f"{seconds:.1f} s"
    if whole < 60:  # noqa: PLR2004  seconds in a minute
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m{rest:02}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02}m"  # noqa: PLR2004


def plural(count: int, noun: str, many: str = "") -> str:
    """Return count and noun in agreement: `1 node`, `3 nodes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {many or noun + 's'}"
