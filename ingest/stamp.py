"""Events of `tweets-raw` and lines of the archive, put together from bytes: payloads are not encoded anew. Pure."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import NamedTuple

import orjson

from common.tweets import rfc3339
from ingest.sources.base import Payload, dump, examine, parse

ARCHIVED = re.compile(
    rb'\{"ingest":\{"sent_at_us":-?[0-9]+,"source":"[^"\\]*","run":"[^"\\]*","seq":[0-9]+(?:,"position":"[^}]*")?\},'
    rb'"payload(_base64)?":'
)
"""How `Stamper.line` begins."""


DELETIONS = ("delete", "user_delete")
"""Fields of `data` that tell of a deletion, where it has no `id`."""


class Archived(NamedTuple):
    """One line of the archive."""

    seq: int
    sent_at_us: int
    payload: Payload


class Stamper:
    """Stamps the payloads of one run."""

    def __init__(self, source: str, run: str, max_event_bytes: int) -> None:
        self._middle = b',"source":%b,"run":%b,"seq":' % (orjson.dumps(source), orjson.dumps(run))
        self._max_event_bytes = max_event_bytes

    def event(self, seq: int, sent_at_us: int, payload: Payload) -> bytes:
        """The event of `tweets-raw`; what stands for a payload that is unusable or too large, where it is."""
        tweet = payload.tweet
        stamp = self._stamp(seq, sent_at_us, payload.position)
        if tweet is None:
            event = b'%b,"raw_base64":"%b"}' % (stamp, base64.b64encode(payload.body))
        elif len(tweet) > 2:
            event = stamp + b"," + tweet[1:]
        else:
            event = stamp + b"}"
        if len(event) <= self._max_event_bytes:
            return event
        digest = hashlib.sha256(payload.body).hexdigest().encode()
        return b'%b,"oversize":{"bytes":%d,"sha256":"%b"}}' % (stamp, len(payload.body), digest)

    def line(self, seq: int, sent_at_us: int, payload: Payload) -> bytes:
        """The line of the archive: the stamp and the payload as it came."""
        stamp = self._stamp(seq, sent_at_us, payload.position)
        if payload.tweet is None or b"\n" in payload.body:
            return b'%b,"payload_base64":"%b"}\n' % (stamp, base64.b64encode(payload.body))
        return b'%b,"payload":%b}\n' % (stamp, payload.body)

    def _stamp(self, seq: int, sent_at_us: int, position: str) -> bytes:
        """The beginning of an event or a line; its first closing brace ends the stamp."""
        if not position:
            return b'{"ingest":{"sent_at_us":%d%b%d}' % (sent_at_us, self._middle, seq)
        written = orjson.dumps(position).replace(b"}", b"\\u007d")
        return b'{"ingest":{"sent_at_us":%d%b%d,"position":%b}' % (sent_at_us, self._middle, seq, written)


def read_line(line: bytes) -> Archived | None:
    """What `Stamper.line` wrote; None for a torn line, or one that was spoilt."""
    if not line.endswith(b"}\n"):
        return None
    end = line.find(b"}") + 1
    stamp = parse(line[len(b'{"ingest":'):end])
    if not isinstance(stamp, dict):
        return None
    seq, sent_at_us, position = stamp.get("seq"), stamp.get("sent_at_us"), stamp.get("position", "")
    name, _, body = line[end + 1:-2].partition(b":")
    if not (isinstance(seq, int) and isinstance(sent_at_us, int) and isinstance(position, str)):
        return None
    if name == b'"payload_base64"':
        try:
            body = base64.b64decode(body.strip(b'"'), validate=True)
        except ValueError:
            return None
    return Archived(seq, sent_at_us, examine(body)._replace(position=position))


def payload_of(line: bytes) -> Payload:
    """The payload of a line from outside, which may be one of an archive: then the one that was archived."""
    if ARCHIVED.match(line) and (entry := read_line(line)):
        return entry.payload._replace(position="")  # where another source would go on
    return examine(line)


def created_now(payload: Payload, sent_at_us: int) -> Payload:
    """The tweet, or the deletion, dated to the time at which it is meant to be sent; the body stays as it came.

    One that cannot be written anew, or for a time that the calendar does not have, keeps its date.
    """
    tweet = parse(payload.tweet) if payload.tweet else None
    if not isinstance(tweet, dict) or not isinstance(tweet.get("data"), dict):
        return payload
    data = tweet["data"]
    deletions = [data.get(name) for name in DELETIONS if "id" not in data]
    try:
        moment = rfc3339(sent_at_us)
        for deletion in deletions:
            if isinstance(deletion, dict):
                deletion["event_at"] = moment
        if not any(deletions):
            data["created_at"] = moment
    except OverflowError:
        return payload
    dated = dump(tweet)
    return payload._replace(tweet=dated) if dated else payload
