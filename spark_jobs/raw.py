"""Reads events of `tweets-raw`. Most are as they should be, which a parser that knows their shape tells in one go; what
is unusual in any way is examined field by field, and accepted or rejected with its reason."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple, NoReturn, TypeVar

import msgspec
import orjson
from msgspec import UNSET, Struct

from common.remembered import remembered
from common.text import hashtags, normal_hashtags, readable
from common.tweets import Ingest, Reason

Kind = TypeVar("Kind")

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,4}){0,2}")
_INT53, _INT64 = 1 << 53, 1 << 63

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


class _Tag(Struct, gc=False):
    tag: str


class _Entities(Struct, gc=False):
    hashtags: list[_Tag] | None = None


class _Data(Struct, gc=False):
    id: str
    text: str
    created_at: str
    author_id: str
    lang: str | None = None
    entities: _Entities | None = None


class _Event(Struct, gc=False):
    ingest: Ingest
    data: _Data
    raw_base64: Any = UNSET
    oversize: Any = UNSET


_decode = msgspec.json.Decoder(_Event).decode


def is_utf8(raw: bytes) -> bool:
    """The parser looks at the characters of those strings only that it was asked for."""
    try:
        return raw.isascii() or raw.decode() is not None
    except UnicodeDecodeError:
        return False


def well_formed(raw: bytes, max_hashtags: int) -> RawTweet | None:
    """The tweet of an event that is UTF-8, with nothing unusual; None means that it has to be examined."""
    try:
        event = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    ingest, data = event.ingest, event.data
    tweet_id = int(data.id) if _is_decimal(data.id) else _INT64
    if not (event.raw_base64 is event.oversize is UNSET and tweet_id < _INT64
            and 0 <= ingest.sent_at_us < _INT64 and 0 <= ingest.seq < _INT64):
        return None
    listed = data.entities.hashtags if data.entities else None
    if listed is None:
        tags = hashtags(data.text, None, max_hashtags)
    else:
        tags = normal_hashtags([each.tag for each in listed], max_hashtags)
    lang = _language(data.lang) if data.lang else UNDETERMINED
    return RawTweet(ingest, tweet_id, data.created_at, data.author_id, lang, data.text, tags)


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
    language = _language(lang) if isinstance(lang, str) else UNDETERMINED
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
        sent_at_us=_natural(stamp, "sent_at_us", _INT53),
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


def _natural(record: dict[str, Any], name: str, end: int = _INT64) -> int:
    value = _field(record, name, int)
    if not 0 <= value < end:
        raise Rejection("wrong-type")
    return value


def _identifier(data: dict[str, Any]) -> int:
    """X writes ids as decimal strings, because JavaScript's numbers lose digits; plain integers are taken as well."""
    value = data.get("id")
    if not isinstance(value, str):
        return _natural(data, "id")
    if not _is_decimal(value) or int(value) >= _INT64:
        raise Rejection("wrong-type")
    return int(value)


def _is_decimal(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 19


def _author(data: dict[str, Any]) -> str:
    value = data.get("author_id")
    if isinstance(value, int):
        return str(_natural(data, "author_id"))
    return readable(_field(data, "author_id", str))


@remembered(1024)
def _language(value: str) -> str:
    """A language tag; whatever is none is undetermined."""
    return value if _LANGUAGE.fullmatch(value) else UNDETERMINED
