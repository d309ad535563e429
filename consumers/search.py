"""Makes tweets searchable: `tweets-enriched` into the database, then into the index: `python -m consumers.search`.

The database comes first, then the index, then the commit. A tweet that is new to the database is surely not in the
index and is inserted there, which is cheap but would repeat a row; one that is known may be, and is upserted. So a
kill at any point loses nothing and repeats nothing. What one of the servers lost is repaired at the start.

New to the database means that no other member has it, as long as this one has its share. A process that stood still may
have lost that in between: so rows that are not sent soon are upserted, and after a commit that was refused, which tells
surely, all that were inserted. A row may be there twice only in between.

A deletion makes rows blank in the database, in the transaction that stores it, then takes them out of the index, then
outdates cached results, and then it is committed. Another member may be at the same tweet, whatever came between:

- It stores the tweet after the deletion: the tweet is known, and stays blank; or the account is known to be deleted.
- It has stored the tweet, and writes it into the index after the deletion took it out. Whoever writes into the index
  looks into the database afterwards, and takes out what is blank there by then. What is not blank yet, the deletion
  will take out: it looks after it has made it blank, and by then the row is in the index.

A kill in between: the events come again. A deletion is known then, and takes the tweet that it names out of the index
once more. Which rows an account had nobody can tell once they are blank: but who was killed starts again, with an
index that is compared with the database.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

import redis

from common.settings import Settings
from common.slowdown import delay_us, slow_down
from common.telemetry.reports import StageTelemetry
from common.tweets import ENRICHED, EnrichedTweet, enriched_tweet
from consumers.parking import Parking, readable
from consumers.runner import main
from middleware.driver import Middleware
from middleware.registry import connect
from search import cached_results
from search.encoder import Encoder
from search.index import INSERT_ROWS, Index, IndexDown
from search.milvus_rows import IndexRows, boottime_s
from search.store import Store, Stored
from search.table import created_at_us

log = logging.getLogger(__name__)
T = TypeVar("T")

GROUP = "search"
POLL_EVENTS, POLL_S = 8000, 0.1
STORED_TOGETHER = 2000
"""Tweets per transaction of the database."""

RECENT_US = 60_000_000
"""Rows stored since then may be on their way into the index by another member: reconciling leaves them alone.

Should their member have died, their events were not committed and come again.
"""

SURELY_NEW_S = 5.0
"""How long after a row was stored no other member has its event: less than the session or the lease of a member."""

ROWS_PER_REPAIR = 2000
REDIS_TIMEOUT_S = 5.0


class Search:
    """Handler of one member of the group."""

    def __init__(
        self, settings: Settings, member: str, connect: Callable[[Settings], Middleware] = connect
    ) -> None:
        self._encoder = Encoder.load(settings.encoder_dir)
        self._store, self._index = Store.open(settings), Index.open(settings)
        self._index.check_client()
        reconcile(self._store, self._index, self._encoder)
        self._suspect = False
        self._inserted: list[int] = []
        """Ids that the last `handle` found new, and gave to the index."""
        self._positions: list[int] = []
        """Those of them in the store."""
        self._forgotten: dict[int, int] = {}
        """Tweet id → position of blank rows that the index may have; kept until it has them no more."""
        self._outdated = False
        """Whether cached results may show what is forgotten."""
        self._redis = redis.Redis.from_url(settings.redis_address, socket_timeout=REDIS_TIMEOUT_S)
        self._prefix = settings.redis_prefix
        self._delay_us = delay_us(settings, "searchable")
        self._telemetry = StageTelemetry(
            settings.redis_address, settings.redis_prefix, "searchable", f"{GROUP}-{member}"
        )
        self._telemetry.add(parked=0)
        self._parking = Parking(settings, "search-consumer", ENRICHED, connect)

    def handle(self, events: list[bytes], place: Callable[[int], str]) -> None:
        tweets, refused = readable(events, storable_tweet)
        self._telemetry.add(parked=self._parking.park(events, refused, place))
        known: list[int] = []
        self._inserted, self._positions = [], []
        with self._suspecting():
            self._index.insert(self._stored(tweets, known))
            if known:
                write_again(self._store, self._index, self._encoder, known)
            self._forget()
        slow_down(self._delay_us, len(tweets))
        self._telemetry.record([tweet.ingest.sent_at_us for tweet in tweets])
        self._telemetry.show(ENRICHED, events)
        if known:
            self._telemetry.add(known=len(known))
        self._telemetry.save()

    def not_committed(self) -> None:
        """Where another member has read the same events it has upserted their rows, maybe before they were inserted."""
        log.info("%d tweets were not committed: writing their rows again", len(self._inserted))
        with self._suspecting():
            for share in _shares(self._inserted, ROWS_PER_REPAIR):
                write_again(self._store, self._index, self._encoder, share)

    @contextmanager
    def _suspecting(self) -> Iterator[None]:
        """An index that fails may come back with less than it had acknowledged."""
        try:
            yield
        except IndexDown:
            self._suspect = True
            raise

    def tick(self) -> None:
        """Repairs the index after a failure of it, and outdates cached results after one of Redis."""
        if self._suspect:
            reconcile(self._store, self._index, self._encoder)
            self._suspect = False
        if self._outdated:
            self._outdate()

    def close(self) -> None:
        self._telemetry.close()
        self._redis.close()
        self._index.close()
        self._store.close()

    def _stored(self, tweets: Sequence[EnrichedTweet], known: list[int]) -> Iterator[IndexRows]:
        """Stores tweets, and yields what the index lacks of them; adds to `known` the ids of those stored before.

        A share at a time: the index takes the rows of one while the next is stored and encoded.
        """
        for share in _shares(tweets, STORED_TOGETHER):
            until = boottime_s() + SURELY_NEW_S
            stored = self._store.insert(share)
            new = self._new(share, stored, known)
            for rows in self._rows(new, stored.positions):
                yield rows._replace(surely_new_until=until)

    def _new(self, share: Sequence[EnrichedTweet], stored: Stored, known: list[int]) -> Sequence[EnrichedTweet]:
        """What of a share the index is to have, and had not. Notes what it is to have no more."""
        new = share if len(stored.new) == len(share) else _new(share, set(stored.new), known)
        self._forgotten |= stored.forgotten
        if len(new) < len(share):  # who took them first may have been killed before it outdated anything
            self._outdated |= any(tweet.deletes and tweet.tweet_id not in stored.new for tweet in share)
        if stored.blank:
            new = [tweet for tweet in new if tweet.tweet_id not in stored.blank]
        self._inserted += [tweet.tweet_id for tweet in new]
        self._positions += [stored.positions[tweet.tweet_id] for tweet in new]
        return new

    def _forget(self) -> None:
        """Takes out of the index what is blank, and was to be found before, or may just have become so."""
        if self._inserted:
            blank = self._store.forgotten_between(min(self._positions), max(self._positions) + 1)
            self._forgotten |= {tweet_id: blank[tweet_id] for tweet_id in blank.keys() & self._inserted}
        if self._forgotten or self._outdated:
            self._index.remove(self._forgotten)
            self._telemetry.add(forgotten=len(self._forgotten))
            self._forgotten, self._outdated = {}, True
            self._outdate()

    def _outdate(self) -> None:
        """While Redis takes no writes it is tried on after each poll; cached results end by themselves meanwhile."""
        with suppress(redis.RedisError):
            cached_results.outdate(self._redis, self._prefix)
            self._outdated = False

    def _rows(self, tweets: Sequence[EnrichedTweet], positions: Mapping[int, int]) -> Iterator[IndexRows]:
        for share in _shares(tweets, INSERT_ROWS):
            ids = [tweet.tweet_id for tweet in share]
            yield IndexRows.of(
                ids, [positions[tweet_id] for tweet_id in ids],
                self._encoder.encode([tweet.clean_text for tweet in share]),
                [tweet.lang for tweet in share], [created_at_us(tweet) for tweet in share],
            )


def storable_tweet(event: bytes) -> EnrichedTweet:
    """An event of `tweets-enriched` that database and index can hold. Raises one of REFUSALS."""
    tweet = enriched_tweet(event)
    created_at_us(tweet)
    return tweet


def _new(tweets: Sequence[EnrichedTweet], new: set[int], known: list[int]) -> list[EnrichedTweet]:
    """The first of each new id; adds the ids of the others to `known`."""
    rows = []
    for tweet in tweets:
        if tweet.tweet_id in new:
            new.remove(tweet.tweet_id)
            rows.append(tweet)
        else:
            known.append(tweet.tweet_id)
    return rows


def _shares(whole: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (whole[start : start + size] for start in range(0, len(whole), size))


def write_again(store: Store, index: Index, encoder: Encoder, ids: Sequence[int]) -> None:
    """Has the index hold of these tweets what it should, whatever it held, and whoever forgets some meanwhile."""
    index.upsert([index_rows(store, encoder, ids)])
    index.remove(store.forgotten(ids))


def index_rows(store: Store, encoder: Encoder, ids: Sequence[int]) -> IndexRows:
    """What the index should hold of tweets in the database: always their stored text, never a repeat's."""
    rows = [row for row in store.get(ids).values() if not row.forgotten]
    return IndexRows.of(
        [row.tweet_id for row in rows], [row.position for row in rows],
        encoder.encode([row.clean_text for row in rows]),
        [row.lang for row in rows], [row.created_at_us for row in rows],
    )


def reconcile(store: Store, index: Index, encoder: Encoder) -> None:
    """Makes the index hold exactly the newest rows of the database that are not forgotten, shard by shard.

    The index is read first: whatever it holds then, the database holds already.
    """
    index.drop_strangers()
    existing, newest = set(index.shards()), store.newest_position()
    kept = range(index.shard_of(index.horizon(newest)), index.shard_of(newest) + 1) if newest else range(0)
    for number in existing.difference(kept):
        index.drop(number)
    for number in kept:
        rows = Counter(index.shard_ids(number)) if number in existing else Counter()
        _reconcile_shard(store, index, encoder, number, rows)


def _reconcile_shard(store: Store, index: Index, encoder: Encoder, number: int, rows: Counter[int]) -> None:
    """`rows`: tweet id → rows that the index had before."""
    began = number * index.shard_rows + 1
    wanted = store.ids_between(began, began + index.shard_rows)
    settled = time.time_ns() // 1000 - RECENT_US
    repeated = {tweet_id for tweet_id, count in rows.items() if count > 1}
    surplus = (rows.keys() - wanted.keys()) | repeated
    lacking = [i for i, stored_at in wanted.items() if i in repeated or (i not in rows and stored_at < settled)]
    if surplus:
        log.warning("shard %d of the index: %d tweets are repeated, forgotten or not in the database",
                    number, len(surplus))
        index.delete(number, surplus)
    if lacking:
        log.warning("shard %d of the index lacks %d tweets of the database", number, len(lacking))
    for share in _shares(lacking, ROWS_PER_REPAIR):
        write_again(store, index, encoder, share)


if __name__ == "__main__":
    main(GROUP, ENRICHED, Search, POLL_EVENTS, POLL_S)
