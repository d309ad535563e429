"""Events of `tweets-raw` as nobody should send them, for properties that hold of all."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

STAMP = {"sent_at_us": 1_795_000_000_000_000, "source": "test", "run": "r", "seq": 7}
DATA = {
    "id": "12", "text": "RT @a: b &amp; #C \U0001f600", "created_at": "2026-11-18T11:06:40Z", "author_id": "4",
    "lang": "en", "entities": {"hashtags": [{"start": 0, "end": 2, "tag": "\uff21\uff22"}, {"tag": "ab"}]},
}  # fmt: skip
GOOD = json.dumps({"ingest": STAMP, "data": DATA, "includes": {"users": [{"id": "4"}]}}).encode()

DELETIONS = [
    {"delete": {"event_at": DATA["created_at"], "tweet": {"id": "12", "author_id": "4"}}},
    {"user_delete": {"event_at": DATA["created_at"], "user": {"id": "4"}}},
]
GOODS = [GOOD, *(json.dumps({"ingest": STAMP, "data": data}).encode() for data in DELETIONS)]

LITERALS = [
    b"null", b"true", b"tru", b"0", b"-0", b"01", b"+1", b"1.", b"1e400", b"-1e400", b"1e-400", b"9" * 19, b"9" * 20,
    b"9" * 5000, b"-" + b"9" * 5000, b"1" * 400 + b".5", b"NaN", b"Infinity", b"-Infinity", b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551616", b"[1,]", b"{}", b"[]", b"{1:2}", b'{"a":1,"a":2}', b"'a'",
    b"[" * 500 + b"]" * 500, b"[" * 5000 + b"]" * 5000, b'{"a":' * 5000 + b"1" + b"}" * 5000,
    rb'"\ud83d"', rb'"\ude00\ud83d"', rb'"\ud83d\ude00"', rb'{"\ud83d":1}', rb'"\u0000"', rb'"\x"', rb'"\u12"',
    b'"a\x00b"', b'"a\x01b"', b'"\xed\xa0\x80"', b'"\xff"', b'"\xef\xbb\xbf"', b'"',
    *(json.dumps(text, ensure_ascii=False).encode() for text in (
        "", "0", "-1", "+1", " 1", "1_0", "00012", "\u0661\u0662", "9" * 19, "9" * 20, "a\0b", "Zm9v", "Zm9v\n",
        "not base64",
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-11-18T11:06:60Z",
        "2026-11-18T24:00:00Z", "2026-11-18T11:06:40+24:00", "2026-11-18t11:06:40.123456789z", "2026-11-18T11:06:40",
    )),
]  # fmt: skip
"""Values and what looks like some, as bytes, for the place of any value."""

FIELDS = [
    *(f'"{name}": '.encode() for name in (
        *STAMP, *DATA, "ingest", "data", "tag", "hashtags", "includes", "users", "url", "delete", "user_delete",
        "event_at", "tweet", "user",
    )),
    b'"raw_base64": ', b'"oversize": ',
]  # fmt: skip

texts = st.text(max_size=6) | st.sampled_from(["\ud83d", "#\ud83d", "a\0b", "1", *DATA, *STAMP])
scalars = st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.floats() | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=10
)


def dumped(value: Any, ascii: bool) -> bytes:
    return json.dumps(value, ensure_ascii=ascii).encode("utf-8", "surrogatepass")


@st.composite
def with_a_value_replaced(draw: st.DrawFn) -> bytes:
    """A good event in which up to three fields come once more, at their beginning or before, with an odd value."""
    event = draw(st.sampled_from(GOODS))
    literals = st.sampled_from(LITERALS) | st.builds(dumped, values, st.booleans())
    for _ in range(draw(st.integers(1, 3))):
        field, literal = draw(st.sampled_from(FIELDS)), draw(literals)
        places = [at for at in range(len(event)) if event[at:at + 1] in (b"{", b"}")]
        at = draw(st.sampled_from(places))
        if event[at:at + 1] == b"{":
            empty = event[at + 1:at + 2] == b"}"
            event = event[:at + 1] + field + literal + (b"" if empty else b",") + event[at + 1:]
        elif event[at - 1:at] != b"{":
            event = event[:at] + b"," + field + literal + event[at:]
    return event


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A good event with bytes changed, left out or put in."""
    event = bytearray(draw(st.sampled_from(GOODS)))
    for _ in range(draw(st.integers(1, 3))):
        at, end = sorted(draw(st.lists(st.integers(0, len(event)), min_size=2, max_size=2)))
        end = min(end, at + draw(st.integers(0, 4)))
        event[at:end] = draw(st.binary(max_size=3) | st.sampled_from([b"", b"\xef\xbb\xbf", b"\0", b"{", b'"', b"\\"]))
    return bytes(event)


def odd_events() -> st.SearchStrategy[bytes]:
    any_json = st.builds(dumped, values, st.booleans())
    enveloped = st.builds(
        dumped, st.fixed_dictionaries({"ingest": st.just(STAMP) | values}, optional={"data": values}), st.booleans()
    )
    edges = st.sampled_from([b"", b"\xef\xbb\xbf" + GOOD, GOOD + b"\0", GOOD + GOOD])
    return st.one_of(with_a_value_replaced(), damaged(), any_json, enveloped, edges)
