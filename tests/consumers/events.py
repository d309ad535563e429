"""Events as no program of ours writes them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
"""Lone surrogates and NUL among it."""

NUMBERS = st.one_of(
    st.integers(), st.floats(), st.sampled_from([-1, 0, 1 << 31, 1 << 53, (1 << 63) - 1, 1 << 63, 1 << 64, 10**40])
)
TIMES = st.sampled_from([
    "", "x", "2026-03-01", "2026-03-01T10:00:00", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-23:59", "1969-12-31T23:59:59.999Z", "2026-13-01T00:00:00Z", "2026-W01-1T00:00Z",
])
ANY_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, ANY_TEXT, TIMES),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(ANY_TEXT, inner, max_size=4)),
    max_leaves=10,
)


@st.composite
def spoilt_json(draw: st.DrawFn, valid: dict[str, Any]) -> bytes:
    """Arbitrary JSON, arbitrary bytes, or `valid` with something replaced, left out, added, repeated or cut off."""
    way = draw(st.sampled_from(["replace", "replace", "replace", "omit", "cut", "repeat", "json", "bytes"]))
    if way == "bytes":
        return draw(st.binary(min_size=1, max_size=60))
    if way == "json":
        return _as_bytes(draw, draw(ANY_JSON))
    event = json.loads(json.dumps(valid))
    inner = draw(st.sampled_from([event, *(each for each in event.values() if isinstance(each, dict))]))
    key = draw(st.sampled_from(sorted(inner)))
    if way == "omit":
        del inner[key]
    elif way == "replace":
        inner[draw(st.sampled_from([key, key, draw(ANY_TEXT)]))] = draw(ANY_JSON)
    content = _as_bytes(draw, event)
    if way == "repeat":
        content = content[:-1] + b"," + json.dumps(key).encode() + b":" + _as_bytes(draw, draw(ANY_JSON)) + b"}"
    if way == "cut":
        content = content[: draw(st.integers(1, len(content) - 1))]
    return content


def _as_bytes(draw: st.DrawFn, content: Any) -> bytes:
    """Escaped, or as the characters themselves, of which lone surrogates are no UTF-8."""
    return json.dumps(content, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
