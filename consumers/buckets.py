"""The counts and rankings in Redis: the trending consumers write counts there, and one of them publishes rankings."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import redis

from common.settings import Settings
from common.stored_counts import by_shard, highest
from common.tweets import BUCKET_SECONDS, SLOT_US, SlotCount
from consumers.arrivals import Slots
from consumers.ranking import Ranking


def _script(name: str) -> str:
    return "".join(Path(__file__).with_name(part).read_text() for part in ("count.lua", name))


RAISE, RAISE_SLOTS = _script("buckets.lua"), _script("slots.lua")
END_REBUILD = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return false
end
redis.call('MSET', KEYS[2], ARGV[2], KEYS[3], ARGV[3])
return redis.call('DEL', KEYS[1])
"""
"""In one step, so that no loss of data comes between question and answer. KEYS: lock, marker, kept_s; ARGV: owner,
marker, kept_s."""

PUBLISH = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] or tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[2]) then
  return false
end
for i = 3, #KEYS do
  redis.call('SET', KEYS[i], ARGV[i + 1], 'EX', ARGV[3])
end
return redis.call('SET', KEYS[2], ARGV[2])
"""
"""So that who stood still shows nothing older over what another has published. KEYS: lock, visible, rankings; ARGV:
owner, sequence, seconds until rankings expire, rankings."""

HASHTAGS_PER_CALL = 5000
LOCK_MS = 3000
REBUILD_LOCK_MS = 60_000
RANKING_EXPIRES_S = 30
"""A ranking that nobody refreshes goes: better none than an old one that looks like now."""


class Part(NamedTuple):
    """What one of so many shards has counted of a bucket."""

    bucket_start: int
    shards: int
    shard: int


Counts = Mapping[Part, Mapping[str, int]]
"""Part → hashtag → count"""


class Changes(NamedTuple):
    """What changed in the buckets. `marker` names the life of this content: another one means that data was lost."""

    marker: str | None
    sequence: int
    buckets: dict[int, dict[str, int]]


class Buckets:
    """Keys, all below the instance's prefix: `bucket:<start>` (by hashtag), `slots:<start>` (by slot of `sent_at_us`,
    and in `by` who wrote last), `changed` (buckets by the number of their last change), `sequence` (that number),
    `visible` (the change up to which the rankings go), `ranking:<window>`, `marker`, `kept_s` (seconds that the buckets
    are kept since that marker was set), `rebuilding` and `publisher` (locks). Counts are those of common.stored_counts.
    """

    def __init__(self, client: redis.Redis, prefix: str, kept_s: int) -> None:
        self._redis: Any = client  # its stubs do not tell the plain client from the asynchronous one
        self._prefix, self._kept_s = prefix, kept_s
        self._raise, self._raise_slots = client.register_script(RAISE), client.register_script(RAISE_SLOTS)
        self._end_rebuild = client.register_script(END_REBUILD)
        self._publish = client.register_script(PUBLISH)

    @classmethod
    def open(cls, settings: Settings) -> Buckets:
        client = redis.Redis.from_url(settings.redis_address, decode_responses=True, socket_timeout=5)
        return cls(client, settings.redis_prefix, settings.rankings_kept_s)

    def key(self, name: str) -> str:
        return self._prefix + name

    def marker(self) -> str | None:
        """Present while the buckets are complete, and kept for as long as is set now: each expires as was set when its
        last count came, so that a longer time needs all of them to be written again."""
        marker, kept_s = self._redis.mget(self.key("marker"), self.key("kept_s"))
        return marker if kept_s == str(self._kept_s) else None

    def is_kept(self, bucket_start: int) -> bool:
        return bucket_start > time.time() - self._kept_s

    def raise_slots(self, counts: Iterable[SlotCount], writer: str) -> dict[int, Slots]:
        """Raises what is lower, at once. Returns what the writer does not know: of those buckets to which another has
        written since, or that it comes to for the first time, what there was before."""
        arguments: defaultdict[int, list[int]] = defaultdict(list)
        for count in counts:
            arguments[count.bucket_start] += count.max_sent_us // SLOT_US, count.shards, count.shard, count.count
        if not arguments:
            return {}
        flat = [each for start, slots in arguments.items() for each in (start, len(slots) // 4, *slots)]
        told = self._raise_slots([], [writer, self.key("slots:"), self._kept_s, *flat])
        return {int(start): _slots(dict(zip(content[::2], content[1::2], strict=True))) for start, content in told}

    def raise_counts(self, counts: Counts, marker: str) -> int | None:
        """Raises what is lower, while `marker` is in force; number of the change, or None if data was lost."""
        return self._raised(counts, "marker", marker)

    def begin_rebuild(self, owner: str) -> bool:
        """Whether `owner` may rebuild now: nobody else does, or just has. Then the buckets are not complete until it
        has ended."""
        key = self.key("rebuilding")
        if not self._redis.set(key, owner, nx=True, px=REBUILD_LOCK_MS) and self._redis.get(key) != owner:
            return False
        if self.marker() is not None:
            self._redis.delete(key)
            return False
        self._redis.delete(self.key("marker"))
        return True

    def rebuild_counts(self, counts: Counts, owner: str) -> bool:
        """Raises counts while `owner` rebuilds; False if the right or the data was lost. Prolongs the right."""
        if self._raised(counts, "rebuilding", owner) is None:
            return False
        return bool(self._redis.pexpire(self.key("rebuilding"), REBUILD_LOCK_MS))

    def end_rebuild(self, owner: str, marker: str) -> bool:
        """Declares the buckets complete, whose rebuilder `owner` still is; False if the right or the data was lost."""
        keys = [self.key(name) for name in ("rebuilding", "marker", "kept_s")]
        return bool(self._end_rebuild(keys, [owner, marker, self._kept_s]))

    def is_publisher(self, member: str) -> bool:
        """Whether this member publishes rankings for now: it does already, or nobody does."""
        key = self.key("publisher")
        if self._redis.set(key, member, nx=True, px=LOCK_MS):
            return True
        return self._redis.get(key) == member and bool(self._redis.pexpire(key, LOCK_MS))

    def changes(self, since: int) -> Changes:
        """Whole content of the buckets that changed after change number `since`."""
        with self._redis.pipeline() as pipe:
            pipe.get(self.key("marker")).get(self.key("sequence"))
            pipe.zrangebyscore(self.key("changed"), f"({since}", "+inf")
            marker, sequence, starts = pipe.execute()
        with self._redis.pipeline(transaction=False) as pipe:
            for start in starts:
                pipe.hgetall(self.key(f"bucket:{start}"))
            contents = pipe.execute()
        counts = {
            int(start): {tag: highest(count) for tag, count in content.items()}
            for start, content in zip(starts, contents, strict=True)
        }
        return Changes(marker, int(sequence or 0), counts)

    def publish(self, rankings: Iterable[Ranking], sequence: int, member: str) -> bool:
        """Shows rankings that include the changes up to `sequence`, while `member` publishes and none shows more."""
        shown = {self.key(f"ranking:{each['window']}"): json.dumps(each, ensure_ascii=False) for each in rankings}
        keys = [self.key("publisher"), self.key("visible"), *shown]
        return bool(self._publish(keys, [member, sequence, RANKING_EXPIRES_S, *shown.values()]))

    def visible(self) -> int:
        """Number of the last change that the published rankings include."""
        return int(self._redis.get(self.key("visible")) or 0)

    def forget(self, buckets: Iterable[int]) -> None:
        """Takes buckets that no ranking needs from the list of changes; their counts expire by themselves."""
        if gone := list(buckets):
            self._redis.zrem(self.key("changed"), *gone)

    def oldest(self) -> int | None:
        """Start of the oldest bucket that has not expired, in seconds since the epoch; None if there is none.

        The list of changes does not tell: it lets go of buckets as soon as no ranking needs them.
        """
        now = int(time.time())
        starts = range((now - self._kept_s) // BUCKET_SECONDS * BUCKET_SECONDS, now + 1, BUCKET_SECONDS)
        with self._redis.pipeline(transaction=False) as pipe:
            for start in starts:
                pipe.exists(self.key(f"bucket:{start}"))
            return next(compress(starts, pipe.execute()), None)

    def _raised(self, counts: Counts, guard: str, expected: str) -> int | None:
        keys = [self.key(name) for name in (guard, "sequence", "changed")]
        sequence: int | None = None
        for chunk in _chunks(counts, time.time() - self._kept_s):
            sequence = self._raise(keys, [expected, self.key("bucket:"), self._kept_s, *chunk])
            if sequence is None:
                return None
        return sequence


def _chunks(counts: Counts, oldest: float) -> Iterable[list[str | int]]:
    """Arguments of the script; one empty call if nothing is recent enough to be kept, so that the guard is asked."""
    arguments: list[str | int] = []
    for part, bucket in counts.items():
        if part.bucket_start <= oldest:
            continue
        items = list(bucket.items())
        for at in range(0, len(items), HASHTAGS_PER_CALL):
            some = items[at : at + HASHTAGS_PER_CALL]
            arguments += [*part, len(some), *(value for item in some for value in item)]
            if len(arguments) >= 2 * HASHTAGS_PER_CALL:
                yield arguments
                arguments = []
    yield arguments


def _slots(content: Mapping[str, str]) -> Slots:
    return {
        (int(slot), *part): count for slot, stored in content.items() if slot != "by"
        for part, count in by_shard(stored).items()
    }
