"""Reads any event of `tweets-raw`, field by field: the tweet or the deletion, or the reason why it is neither. This is
the contract; tweets with nothing unusual are read by raw_fast.py, as the same tweets."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple, NoReturn, TypeVar

import orjson

from common.remembered import remembered
from common.text import hashtags, readable
from common.tweets import Deletes, Ingest, Reason

Kind = TypeVar("Kind")

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,4}){0,2}")
INT53, INT64 = 1 << 53, 1 << 63
"""No moment of ours in µs is as large; no id or number."""

UNDETERMINED = "und"

MOST_URL = 512
"""Characters of the address of a tweet; a longer one is none."""

_URL = re.compile(r"https?://[^\s\x00-\x20\x7f-\x9f\"'<>\\^`{|}\ud800-\udfff]+")

DELETIONS: dict[str, tuple[Deletes, str]] = {"delete": ("tweet", "tweet"), "user_delete": ("author", "user")}
"""By the name that a deletion has in X's compliance stream: what goes, and which field names it."""


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
    url: str


class RawDeletion(NamedTuple):
    """That a tweet was deleted, or an account; `event_at` as it was written. `deleted_id` is 0 of an account."""

    ingest: Ingest
    deletes: Deletes
    deleted_id: int
    author_id: str
    event_at: str


def examined(origin: Origin, max_event_bytes: int, max_hashtags: int) -> RawTweet | RawDeletion:
    """The tweet or the deletion of any event. Raises Rejection, with what was learnt until then in `origin`."""
    envelope = _object(parse_json(origin.body))
    ingest = origin.ingest = _stamp(envelope)
    if origin.bytes > max_event_bytes:
        raise Rejection("too-large")
    data = _field(_payload(envelope, origin), "data", dict)
    if data.get("id") is None:  # no tweet
        for name in DELETIONS:
            if data.get(name) is not None:
                return _deletion(ingest, name, _field(data, name, dict))
    tweet_id, text = _identifier(data), readable(_field(data, "text", str))
    created_at, author_id = _field(data, "created_at", str), _author(data)
    lang = data.get("lang")
    language = language_of(lang) if isinstance(lang, str) else UNDETERMINED
    tags = hashtags(text, data.get("entities"), max_hashtags)
    url = data.get("url")
    address = url_of(url) if isinstance(url, str) else ""
    return RawTweet(ingest, tweet_id, created_at, author_id, language, text, tags, address)


def _deletion(ingest: Ingest, name: str, content: dict[str, Any]) -> RawDeletion:
    """As X's compliance stream tells of it."""
    deletes, named = DELETIONS[name]
    event_at, gone = _field(content, "event_at", str), _field(content, named, dict)
    if deletes == "tweet":
        return RawDeletion(ingest, deletes, _identifier(gone), _author(gone), event_at)
    return RawDeletion(ingest, deletes, 0, _author(gone, "id"), event_at)


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


def _author(data: dict[str, Any], name: str = "author_id") -> str:
    value = data.get(name)
    if isinstance(value, int):
        return str(_natural(data, name))
    return readable(_field(data, name, str))


def url_of(value: str) -> str:
    """Where a tweet can be read, on the web; anything else is as good as none, which is empty."""
    return value if len(value) <= MOST_URL and _URL.fullmatch(value) else ""


@remembered(1024)
def language_of(value: str) -> str:
    """A language tag; whatever is none is undetermined."""
    return value if _LANGUAGE.fullmatch(value) else UNDETERMINED
