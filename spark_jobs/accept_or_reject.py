"""What *enrich* makes of one event of `tweets-raw`: an enriched tweet, a deletion or a rejection, never an error.

Pure Python: one pass over the bytes decides everything, which `from_json` cannot (it turns wrong types into nulls), and
Spark SQL has neither NFKC nor case folding nor HTML entities.
"""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from typing import NamedTuple

from common.remembered import remembered
from common.text import clean_text
from common.tweets import (
    ENRICHED,
    EPOCH,
    KEY_CHARACTERS,
    REJECTED,
    REJECTED_EVENT_BYTES,
    EnrichedTweet,
    Reason,
    RejectedEvent,
    rfc3339,
    to_json,
)
from spark_jobs.raw import UNDETERMINED, Origin, RawDeletion, RawTweet, Rejection, examined
from spark_jobs.raw_fast import is_utf8, well_formed

_DATE, _TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}", r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_RFC3339 = re.compile(rf"{_DATE}[Tt ]{_TIME}(?:[Zz]|[+-][0-9]{{2}}:[0-9]{{2}})")


class Rules(NamedTuple):
    """Limits of *enrich*, from the settings of the same names."""

    max_event_bytes: int
    allowed_lateness_s: int
    future_tolerance_s: int
    max_hashtags: int

    def is_future(self, us: int, now_us: int) -> bool:
        """Further ahead than clocks may be apart; both in µs since the epoch."""
        return us > now_us + self.future_tolerance_s * 1_000_000


class Outcome(NamedTuple):
    """A row for the sink, and what the telemetry counts. `sent_at_us` is None if no stamp could be read that
    can be true."""

    event: bytes
    key: str
    stream: str
    reason: Reason | None
    late: bool
    sent_at_us: int | None


def enrich_event(raw: bytes, rules: Rules, now_us: int, utf8: bool = False) -> Outcome:
    """Decides over one event of `tweets-raw`. `now_us`: µs since the epoch, against stamps from the future; `utf8`: it
    is known to be that, which is quicker to tell of many events at once."""
    origin = tweet = None
    try:
        if len(raw) <= rules.max_event_bytes and (utf8 or is_utf8(raw)):
            tweet = well_formed(raw, rules.max_hashtags)
        if tweet is None:
            origin = Origin(raw)
            found = examined(origin, rules.max_event_bytes, rules.max_hashtags)
            if isinstance(found, RawDeletion):
                return _deletion(found, rules, now_us)
            tweet = found
        return _enriched(tweet, rules, now_us)
    except Rejection as rejection:
        return _rejected(origin or Origin(raw, tweet and tweet.ingest), rejection.reason, rules, now_us)


def _enriched(raw: RawTweet, rules: Rules, now_us: int) -> Outcome:
    created_us, created_at = _created(raw.created_at)
    sent_us = raw.ingest.sent_at_us
    if rules.is_future(created_us, sent_us) or rules.is_future(sent_us, now_us):
        raise Rejection("future")
    late = created_us < sent_us - rules.allowed_lateness_s * 1_000_000
    event = to_json(EnrichedTweet(
        raw.tweet_id, created_at, late, raw.hashtags, raw.ingest, raw.author_id, raw.lang, raw.text,
        clean_text(raw.text), raw.url,
    ))  # fmt: skip
    if len(event) > rules.max_event_bytes:
        raise Rejection("too-large")
    return Outcome(event, str(raw.tweet_id), ENRICHED, None, late, sent_us)


def _deletion(raw: RawDeletion, rules: Rules, now_us: int) -> Outcome:
    """Keyed by the tweet that goes, and so behind it in its partition. Tweets of an author are in any partition."""
    deleted_us, deleted_at = _created(raw.event_at)
    sent_us = raw.ingest.sent_at_us
    if rules.is_future(deleted_us, sent_us) or rules.is_future(sent_us, now_us):
        raise Rejection("future")
    event = to_json(EnrichedTweet(
        _deletion_id(raw, deleted_at), deleted_at, True, [], raw.ingest, raw.author_id, UNDETERMINED, "", "", "",
        raw.deletes, raw.deleted_id,
    ))  # fmt: skip
    if len(event) > rules.max_event_bytes:
        raise Rejection("too-large")
    key = str(raw.deleted_id) if raw.deletes == "tweet" else raw.author_id[:KEY_CHARACTERS]
    return Outcome(event, key, ENRICHED, None, True, sent_us)


def _deletion_id(raw: RawDeletion, deleted_at: str) -> int:
    """63 bits, the same whenever the same deletion comes: it is stored once."""
    told = f"{raw.deletes} {raw.deleted_id} {deleted_at} {raw.author_id}".encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest()) >> 1


def _rejected(origin: Origin, reason: Reason, rules: Rules, now_us: int) -> Outcome:
    rejected = RejectedEvent(
        reason=reason,
        event=base64.b64encode(origin.body[:REJECTED_EVENT_BYTES]).decode(),
        bytes=origin.bytes,
        sha256=origin.sha256 or hashlib.sha256(origin.body).hexdigest(),
        ingest=origin.ingest,
        rejected_at=rfc3339(now_us),
    )
    sent_at_us = origin.ingest.sent_at_us if origin.ingest else None
    if sent_at_us is not None and rules.is_future(sent_at_us, now_us):
        sent_at_us = None  # nobody has sent it yet: as the newest stamp of all it would hide every backlog
    return Outcome(to_json(rejected), rejected.sha256, REJECTED, reason, False, sent_at_us)


@remembered(8192)
def _created(written: str) -> tuple[int, str]:
    """µs since the epoch, cut to the milliseconds that `created_at` keeps, and that. Tweets of one moment share it."""
    if not _RFC3339.fullmatch(written):
        raise Rejection("wrong-type")
    try:
        since = datetime.fromisoformat(written.upper()).astimezone(UTC) - EPOCH
    except (ValueError, OverflowError):
        raise Rejection("wrong-type") from None
    us = (since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000) * 1000
    return us, rfc3339(us)
