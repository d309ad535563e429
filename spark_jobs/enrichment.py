"""What *enrich* makes of one event of `tweets-raw`: an enriched tweet or a rejection, never an error.

Pure Python over orjson: one pass over the bytes decides everything, which `from_json` cannot (it turns wrong types into
nulls), and Spark SQL has neither NFKC nor case folding nor HTML entities.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, NoReturn, TypeVar

import orjson

from common.remembered import remembered
from common.text import clean_text, hashtags, readable
from common.tweets import ENRICHED, REJECTED, REJECTED_EVENT_BYTES, EnrichedTweet, Ingest, Reason, RejectedEvent

Kind = TypeVar("Kind")

_DATE, _TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_RFC3339 = re.compile(rf"{_DATE}[Tt ]{_TIME}(?:[Zz]|[+-][0-9]{{2}}:[0-9]{{2}})")
_DECIMAL = re.compile(r"[0-9]{1,19}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,4}){0,2}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INT64 = 1 << 63

UNDETERMINED = "und"


class Rules(NamedTuple):
    """Limits of *enrich*, from the settings of the same names."""

    max_event_bytes: int
    allowed_lateness_s: int
    future_tolerance_s: int


class Outcome(NamedTuple):
    """A row for the sink, and what the telemetry counts. `sent_at_us` is None if the stamp was unreadable."""

    event: bytes
    key: str
    stream: str
    reason: Reason | None
    late: bool
    sent_at_us: int | None


class Rejection(Exception):
    """Why an event is no tweet."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class _Origin:
    """What is known of an event so far, for the record of its rejection."""

    def __init__(self, raw: bytes) -> None:
        self.body, self.bytes, self.sha256 = raw, len(raw), ""
        self.ingest: Ingest | None = None


def enrich_event(raw: bytes, rules: Rules, now_us: int) -> Outcome:
    """Decides over one event of `tweets-raw`. `now_us`: µs since the epoch, against stamps from the future."""
    origin = _Origin(raw)
    try:
        return _enriched(origin, rules, now_us)
    except Rejection as rejection:
        return _rejected(origin, rejection.reason, now_us)


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text; of repeated keys the last counts. Raises Rejection.

    Lone surrogates (`\\ud83d`), which orjson refuses, are let through: JSON allows them, and texts are made readable
    later. NaN and Infinity are refused, and so is nesting deeper than the parsers go.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(raw.decode(), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise Rejection("invalid-utf8") from None
    except (ValueError, RecursionError):
        raise Rejection("not-json") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _enriched(origin: _Origin, rules: Rules, now_us: int) -> Outcome:
    envelope = _object(parse_json(origin.body))
    ingest = origin.ingest = _stamp(envelope)
    if origin.bytes > rules.max_event_bytes:
        raise Rejection("too-large")
    data = _field(_payload(envelope, origin), "data", dict)
    tweet_id = _identifier(data)
    text = readable(_field(data, "text", str))
    created_us, created_at = _created(_field(data, "created_at", str))
    sent_us = ingest["sent_at_us"]
    tolerance_us = rules.future_tolerance_s * 1_000_000
    if created_us > sent_us + tolerance_us or sent_us > now_us + tolerance_us:
        raise Rejection("future")
    late = created_us < sent_us - rules.allowed_lateness_s * 1_000_000
    tweet: EnrichedTweet = {
        "tweet_id": tweet_id,
        "created_at": created_at,
        "late": late,
        "hashtags": hashtags(text, data.get("entities")),
        "ingest": ingest,
        "author_id": _author(data),
        "lang": _language(data.get("lang")),
        "text": text,
        "clean_text": clean_text(text),
    }
    event = orjson.dumps(tweet)
    if len(event) > rules.max_event_bytes:
        raise Rejection("too-large")
    return Outcome(event, str(tweet_id), ENRICHED, None, late, sent_us)


def _rejected(origin: _Origin, reason: Reason, now_us: int) -> Outcome:
    rejected: RejectedEvent = {
        "reason": reason,
        "event": base64.b64encode(origin.body[:REJECTED_EVENT_BYTES]).decode(),
        "bytes": origin.bytes,
        "sha256": origin.sha256 or hashlib.sha256(origin.body).hexdigest(),
        "ingest": origin.ingest,
        "rejected_at": _rfc3339(now_us),
    }
    sent_at_us = origin.ingest["sent_at_us"] if origin.ingest else None
    return Outcome(orjson.dumps(rejected), rejected["sha256"], REJECTED, reason, False, sent_at_us)


def _stamp(envelope: dict[str, Any]) -> Ingest:
    """The ingester's stamp, and nothing else that may lie beside its four fields."""
    stamp = _field(envelope, "ingest", dict)
    return {
        "sent_at_us": _natural(stamp, "sent_at_us"),
        "source": readable(_field(stamp, "source", str)),
        "run": readable(_field(stamp, "run", str)),
        "seq": _natural(stamp, "seq"),
    }


def _payload(envelope: dict[str, Any], origin: _Origin) -> dict[str, Any]:
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


def _natural(record: dict[str, Any], name: str) -> int:
    value = _field(record, name, int)
    if not 0 <= value < _INT64:
        raise Rejection("wrong-type")
    return value


def _identifier(data: dict[str, Any]) -> int:
    """X writes ids as decimal strings, because JavaScript's numbers lose digits; plain integers are taken as well."""
    value = data.get("id")
    if not isinstance(value, str):
        return _natural(data, "id")
    if not _DECIMAL.fullmatch(value) or int(value) >= _INT64:
        raise Rejection("wrong-type")
    return int(value)


def _author(data: dict[str, Any]) -> str:
    value = data.get("author_id")
    if isinstance(value, int):
        return str(_natural(data, "author_id"))
    return readable(_field(data, "author_id", str))


def _language(value: Any) -> str:
    """A language tag; whatever is none, or absent, is undetermined."""
    return value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else UNDETERMINED


@remembered(8192)
def _created(written: str) -> tuple[int, str]:
    """µs since the epoch, cut to the milliseconds that `created_at` keeps, and that. Tweets of one moment share it."""
    if not _RFC3339.fullmatch(written):
        raise Rejection("wrong-type")
    try:
        since = datetime.fromisoformat(written.upper()).astimezone(UTC) - _EPOCH
    except (ValueError, OverflowError):
        raise Rejection("wrong-type") from None
    us = (since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000) * 1000
    return us, _rfc3339(us)


def _rfc3339(us: int) -> str:
    return (_EPOCH + timedelta(microseconds=us)).isoformat(timespec="milliseconds")[:-6] + "Z"
