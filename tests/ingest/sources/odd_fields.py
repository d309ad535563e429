"""Values that no field of a live source's events should have, put into them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
    | st.sampled_from(["porn", "en", "create", "delete", "deleted", "2026-11-27T09:00:00Z", "did:plc:x", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8,
)


def put(frame: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The frame with another value in that place, if it has it."""
    if not place:
        return value
    inner = frame
    for name in place[:-1]:
        if not (name in inner if isinstance(inner, dict) else isinstance(inner, list) and inner and name == 0):
            return frame
        inner = inner[name]
    if isinstance(inner, dict) or (isinstance(inner, list) and inner):
        inner[place[-1]] = value
    return frame
