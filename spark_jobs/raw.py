"""Reads any event of `tweets-raw`, field by field: the tweet, or the reason why it is none. This is the contract;
events with nothing unusual are read by raw_fast.py, as the same tweets."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple, NoReturn, TypeVar

import orjson

from common.remembered import remembered
from common.text import hashtags, readable
from common.tweets import Ingest, Reason

Kind = TypeVar("Kind")

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,4}){0,2}")
INT53, INT64 = 1 << 53, 1 << 63
"""No moment of ours in µs is as large; no id or number."""

UNDETERMINED = "und"


class Rejection(Exception):
    """Why an event is no tweet."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Origin:
    """What is known of an event so far, for the record of its rejection."""

    def __init__(self, raw: bytes, ingest: Ingest | None = None) -> None:
        self.body, self.bytes, self.sha256 = raw, len(raw), ""
        self.ingest = ingest


class RawTweet(NamedTuple):
    """What *enrich* takes from an event; `created_at` as it was written."""

    ingest: Ingest
    tweet_id: int
    created_at: str
    author_id: str
    lang: str
    text: str
    hashtags: list[str]


def examined(origin: Origin, max_event_bytes: int, max_hashtags: int) -> RawTweet:
    """The tweet of any event. Raises Rejection, with what was learnt until then in `origin`."""
    envelope = _object(parse_json(origin.body))
    ingest = origin.ingest = _stamp(envelope)
    if origin.bytes > max_event_bytes:
        raise Rejection("too-large")
    data = _field(_payload(envelope, origin), "data", dict)
    tweet_id, text = _identifier(data), readable(_field(data, "text", str))
    created_at, author_id = _field(data, "created_at", str), _author(data)
    lang = data.get("lang")
    language = language_of(lang) if isinstance(lang, str) else UNDETERMINED
    tags = hashtags(text, data.get("entities"), max_hashtags)
    return RawTweet(ingest, tweet_id, created_at, author_id, language, text, tags)


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text; of repeated keys the last counts. Raises Rejection.

    Lone surrogates (`\\ud83d`), which orjson refuses, are let through: JSON allows them, and texts are made readable
    later. So are numbers of any length. NaN and Infinity are refused, and so is nesting deeper than the parsers go.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(raw.decode(), parse_constant=_refuse, parse_int=_integer)
    except UnicodeDecodeError:
        raise Rejection("invalid-utf8") from None
    except (ValueError, RecursionError):
        raise Rejection("not-json") from None


def _integer(digits: str) -> int | float:
    """Python refuses thousands of digits, and no field takes more than 64 bits anyway."""
    return int(digits) if len(digits) <= 20 else float(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _stamp(envelope: dict[str, Any]) -> Ingest:
    """The ingester's stamp, and nothing else that may lie beside its four fields."""
    stamp = _field(envelope, "ingest", dict)
    return Ingest(
        sent_at_us=_natural(stamp, "sent_at_us", INT53),
        source=readable(_field(stamp, "source", str)),
        run=readable(_field(stamp, "run", str)),
        seq=_natural(stamp, "seq"),
    )


def _payload(envelope: dict[str, Any], origin: Origin) -> dict[str, Any]:
    """The source's own object. What could not travel as such is unpacked, and `origin` told of its true size."""
    if "oversize" in envelope:
        oversize = _field(envelope, "oversize", dict)
        size, sha256 = _natural(oversize, "bytes"), readable(_field(oversize, "sha256", str))
        origin.body, origin.bytes, origin.sha256 = b"", size, sha256
        raise Rejection("too-large")
    if "raw_base64" not in envelope:
        return envelope
    try:
        body = base64.b64decode(_field(envelope, "raw_base64", str), validate=True)
    except ValueError:
        raise Rejection("wrong-type") from None
    origin.body, origin.bytes = body, len(body)
    return _object(parse_json(body))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Rejection("not-an-object")
    return value


def _field(record: dict[str, Any], name: str, kind: type[Kind]) -> Kind:
    """A field that must be there; null counts as missing."""
    value = record.get(name)
    if value is None:
        raise Rejection("missing-field")
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Rejection("wrong-type")
    return value


def _natural(record: dict[str, Any], name: str, end: int = INT64) -> int:
    value = _field(record, name, int)
    if not 0 <= value < end:
        raise Rejection("wrong-type")
    return value


def _identifier(data: dict[str, Any]) -> int:
    """X writes ids as decimal strings, because JavaScript's numbers lose digits; plain integers are taken as well."""
    value = data.get("id")
    if not isinstance(value, str):
        return _natural(data, "id")
    if not is_decimal(value) or int(value) >= INT64:
        raise Rejection("wrong-type")
    return int(value)


def is_decimal(text: str) -> bool:
    """Up to 19 digits of ASCII: whether they fit into INT64 is for the caller to see."""
    return text.isdecimal() and text.isascii() and len(text) <= 19


def _author(data: dict[str, Any]) -> str:
    value = data.get("author_id")
    if isinstance(value, int):
        return str(_natural(data, "author_id"))
    return readable(_field(data, "author_id", str))


@remembered(1024)
def language_of(value: str) -> str:
    """A language tag; whatever is none is undetermined."""
    return value if _LANGUAGE.fullmatch(value) else UNDETERMINED
