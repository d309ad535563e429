"""The contracts: names of the streams and the shape of the events in each (JSON, one object per event, UTF-8), as
docs/streams.md describes them.

What Python reads or writes of every tweet is a Struct, which costs half of what a dict does.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, NotRequired, TypedDict, get_args

import msgspec
from msgspec import Meta, Struct

RAW = "tweets-raw"
ENRICHED = "tweets-enriched"
REJECTED = "tweets-rejected"
HASHTAG_COUNTS = "hashtag-counts"
STREAMS = (RAW, ENRICHED, REJECTED, HASHTAG_COUNTS)

StageName = Literal["published", "enriched", "ranked", "searchable"]
STAGES: tuple[str, ...] = get_args(StageName)

SourceKind = Literal["live", "pushed", "recorded", "invented"]
"""How real the tweets of a source are: written now, sent by somebody, written earlier, made up by a program."""

BUCKET_SECONDS = 5
Window = Literal["1m", "5m", "15m", "1h"]
WINDOWS: dict[str, int] = {name: int(name[:-1]) * {"m": 60, "h": 3600}[name[-1]] for name in get_args(Window)}
"""Ranking windows, in seconds."""

TOTAL = ""
"""The empty hashtag, which no tweet has: under it rankings keep the number of all tweets in a bucket."""

SLOT_US = 100_000
"""Length of a slot of `sent_at_us`: how precisely it is known when the tweets that became ranked were sent."""

KEY_CHARACTERS = 64
"""As the key of an event an author is known by at most so many characters; those of X have 19 digits."""

REJECTED_EVENT_BYTES = 64 << 10
"""How much of a rejected event is kept in `tweets-rejected`."""

Reason = Literal[
    "not-json", "not-an-object", "missing-field", "wrong-type", "too-large", "future", "invalid-utf8", "unreadable"
]
"""`unreadable`: an event of an inner stream, which one of its readers parked."""

Reader = Literal["enrich", "trending", "trending-consumer", "search-consumer"]
"""Who rejected or parked an event: a query of Spark, or a consumer."""


Long = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
"""What the database and the index hold as 64 bits; no number of ours is negative."""

Micros = Annotated[int, Meta(ge=0, lt=1 << 53)]
"""A moment in µs since the epoch, up to the year 2255."""

MOST_COUNTED = 10_000_000
"""Tweets of one bucket: at two million a second a higher count is none."""

MOST_SHARDS = 64
"""Tasks that may share the counting of one bucket."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

X_EPOCH_MS = 1_288_834_974_657
"""From which X counts the milliseconds in the upper bits of a tweet's id, since 1970; the lower 22 tell those of one
apart."""


def rfc3339(us: int) -> str:
    """This moment, in µs since the epoch, in UTC and cut to milliseconds, as X writes `created_at`. Raises
    OverflowError outside the years 1 to 9999."""
    return (EPOCH + timedelta(microseconds=us)).isoformat(timespec="milliseconds")[:-6] + "Z"


class Ingest(Struct, gc=False):
    """Stamp of the ingester. `run` and `seq` number the events of one run without gaps, from 0."""

    sent_at_us: Micros  # when the event was meant to be sent (open loop)
    source: str
    run: str
    seq: Long


class RawIngest(Ingest, gc=False):
    """The stamp in `tweets-raw`; *enrich* passes on that of `Ingest`."""

    position: str = ""  # where the source goes on with this event, if it can; not there otherwise


class Oversize(TypedDict):
    bytes: int
    sha256: str


class RawEvent(TypedDict):
    """Event of `tweets-raw`: X's v2 payload beside the stamp, or what stands for an unusable payload."""

    ingest: RawIngest
    data: NotRequired[dict[str, Any]]
    includes: NotRequired[dict[str, Any]]
    raw_base64: NotRequired[str]
    oversize: NotRequired[Oversize]


Deletes = Literal["", "tweet", "author"]
"""What an event of `tweets-enriched` deletes: nothing, for it is a tweet; one; all that its author wrote until then."""


class EnrichedTweet(Struct, gc=False, omit_defaults=True):
    """Event of `tweets-enriched`: a tweet, or a deletion. `created_at` is RFC 3339 in UTC with milliseconds, as X
    writes it.

    What *trending* reads comes first: of the rest it reads nothing. A deletion is `late`, without text and hashtags,
    so that it passes by everybody who counts. Its `tweet_id` is its own, `created_at` the moment of the deletion, and
    `author_id` whose tweets they are.
    """

    tweet_id: Long
    created_at: str
    late: bool
    hashtags: list[str]
    ingest: Ingest
    author_id: str
    lang: str
    text: str
    clean_text: str
    url: str = ""
    deletes: Deletes = ""
    deleted_id: Long = 0  # of `deletes` "tweet"


class RejectedEvent(Struct, gc=False):
    """Event of `tweets-rejected`. `event` is base64; `ingest` is null if the stamp itself was unreadable.

    `position` tells of a parked event where it stands, as `stream/partition/offset`: it counts once per `stage` and
    position, however often it is there. Of what *enrich* rejects it is empty.
    """

    reason: str
    event: str
    bytes: int
    sha256: str
    ingest: Ingest | None
    rejected_at: str
    stage: Reader = "enrich"
    position: str = ""


to_json = msgspec.json.Encoder().encode
"""A Struct as an event."""

REFUSALS = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What a decoder raises for an event that it cannot read; a ValueError where a string is no UTF-8."""

enriched_tweet = msgspec.json.Decoder(EnrichedTweet).decode
"""An event of `tweets-enriched` as it was written. Raises one of REFUSALS."""

rejected_event = msgspec.json.Decoder(RejectedEvent).decode
"""An event of `tweets-rejected` as it was written. Raises one of REFUSALS."""


class _Count(Struct, tag_field="kind", gc=False):
    """Event of `hashtag-counts`: tweets of a bucket that one of `shards` shards counted, and the range of their
    `sent_at_us`.

    What counts the same only grows: readers keep the maximum of each shard, and add up the shards. Where the number of
    shards was changed there are several such sums of a bucket, each right or too low: the highest holds.
    """

    bucket_start: Annotated[int, Meta(ge=0, lt=1 << 33, multiple_of=BUCKET_SECONDS)]  # seconds since the epoch
    bucket_seconds: Annotated[int, Meta(ge=BUCKET_SECONDS, le=BUCKET_SECONDS)]
    shards: Annotated[int, Meta(ge=1, le=MOST_SHARDS)]
    shard: Annotated[int, Meta(ge=0, lt=MOST_SHARDS)]
    count: Annotated[int, Meta(ge=0, le=MOST_COUNTED)]
    min_sent_us: Micros
    max_sent_us: Micros


class HashtagCount(_Count, tag="hashtag", gc=False):
    """Tweets with a hashtag."""

    hashtag: Annotated[str, Meta(min_length=1)]


class BucketCount(_Count, tag="bucket", gc=False):
    """All tweets."""

    hashtag: ClassVar[str] = TOTAL


class SlotCount(_Count, tag="slot", gc=False):
    """Those that were sent within one slot of SLOT_US: it tells when the tweets came that rankings show."""


Count = HashtagCount | BucketCount | SlotCount


class _Sent(Struct, gc=False):
    """What events of any of the streams tell of their time."""

    ingest: Ingest | None = None
    min_sent_us: Micros | None = None


def sent_at(event: bytes) -> float | None:
    """When the tweet of an event, or the first one of a count, was meant to be sent, in seconds since the epoch; None
    where it does not tell."""
    try:
        sent = msgspec.json.decode(event, type=_Sent)
    except REFUSALS:
        return None
    us = sent.ingest.sent_at_us if sent.ingest else sent.min_sent_us
    return None if us is None else us / 1e6


def first_sent_at(events: Iterable[bytes]) -> float | None:
    """The earliest `sent_at` of these events; None where none tells."""
    return min((at for at in map(sent_at, events) if at is not None), default=None)


hashtag_count = msgspec.json.Decoder(Count).decode
"""An event of `hashtag-counts` as it was written. Raises one of REFUSALS."""
