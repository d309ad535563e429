"""Bodies that somebody might push: any bytes, and JSON with everything that JSON allows and nobody expects."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = ["a", "é", "😀", "\ufeff", r"\ud800", r"\udfff\ud800", r"\u0000", r"\u0061", r"\n", r"\"", r"\ud83d\ude00",
          "}", ",", "\x00", "\u2028"]
NAMES = ['"data"', '"author_id"', '"ingest"', r'"\u0069ngest"', '"id"', '"text"', '"created_at"', '"raw_base64"',
         '"oversize"', '"includes"', '""']
NUMBERS = ["0", "-0", "1", "1.5e3", "1e999", "-1e999", "9" * 30, "9" * 5000, str(1 << 63), "NaN", "Infinity",
           "01", "1e-999"]
DEPTHS = [300, 600, 1100, 5000]

strings = st.lists(st.sampled_from(PIECES), max_size=4).map(lambda pieces: '"' + "".join(pieces) + '"')
nested = st.tuples(st.sampled_from(DEPTHS), st.sampled_from(["[]", "{}"])).map(
    lambda it: "[" * it[0] + "]" * it[0] if it[1] == "[]" else '{"a":' * it[0] + "1" + "}" * it[0])
scalars = st.one_of(strings, nested, st.sampled_from([*NUMBERS, "null", "true", "false", "{}", "[]", "{ }"]))


def _object(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{name}:{value}" for name, value in members) + "}"


def _objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Names may come twice."""
    return st.lists(st.tuples(st.one_of(st.sampled_from(NAMES), strings), values), max_size=5).map(_object)


values = st.recursive(scalars, lambda inner: st.one_of(
    _objects(inner), st.lists(inner, max_size=3).map(lambda items: "[" + ",".join(items) + "]")), max_leaves=8)
tweets = st.tuples(st.one_of(strings, values), values, values).map(
    lambda it: f'{{"data":{{"id":"1","author_id":{it[0]},"text":{it[1]}}},"ingest":{it[2]}}}')

bodies = st.one_of(
    st.binary(max_size=200),
    st.tuples(st.sampled_from(["", " ", "\ufeff", "\x00", "\n"]), st.one_of(tweets, _objects(values), values)).map(
        lambda it: "".join(it).encode()),
)
