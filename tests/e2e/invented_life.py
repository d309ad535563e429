"""What people write within a while on Bluesky, invented: events of Jetstream, and what must become of them."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from common.tweets import BUCKET_SECONDS
from ingest.sources.live import identifier
from tests.ingest.sources.jetstream import BEGAN, account, at, commit, did, post, rkey

PER_S = 60
"""Events a second: about as many as there are on a busy day."""

AUTHORS, LEAVING = 500, 3
UNSAID, UNFIT = "unsaid", "unfit"
"""In texts that are deleted later, and in those that must not be taken in at all."""

TAGS = ["tide", "Amsel", "STRASSE", "straße", "été", "Лес", "海", "ﬁeld", *(f"tag{number}" for number in range(300))]
EVERY = 50
"""Of so many events some are no posts that stay."""


@dataclass
class Life:
    """`alive`: the ids of the posts that stay; `gone`: those that are deleted later; `payloads`: how many events are
    taken in; `counts`: by bucket (s), the posts with each hashtag, and `posts`: the number of posts."""

    events: list[dict[str, Any]] = field(default_factory=list)
    alive: set[int] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    payloads: int = 0
    counts: dict[int, Counter[str]] = field(default_factory=dict)
    posts: Counter[int] = field(default_factory=Counter)

    def ranking(self, as_of: int, span_s: int) -> tuple[int, Counter[str]]:
        """Posts, and posts by hashtag, in the buckets of the window that ends with the bucket `as_of`."""
        within = [bucket for bucket in self.counts if as_of - span_s < bucket <= as_of]
        return sum(self.posts[bucket] for bucket in within), sum((self.counts[each] for each in within), Counter[str]())


def invented(count: int, ends: float) -> Life:
    """So many events, of which the last is of `ends` (s since the epoch)."""
    life, chance = Life(), random.Random(30)
    began = ends - BEGAN.timestamp() - count / PER_S
    for number in range(count):
        seconds = began + number / PER_S
        if count // 2 <= number < count // 2 + LEAVING:
            life.events.append(account(_leaving(number), "deleted", seconds))
            life.payloads += 1
        elif number % EVERY == 43:
            deleted = number - 40
            life.events.append(commit(deleted, "delete", did=did(deleted % AUTHORS), time=at(seconds)))
            life.payloads += 1
        elif number % EVERY == 17:
            life.events.append(_unfit(number, seconds))
        else:
            _write(life, number, seconds, count, chance)
    return life


def _write(life: Life, number: int, seconds: float, count: int, chance: random.Random) -> None:
    leaves = number % EVERY == 30 and number < count // 3
    goes = leaves or (number % EVERY == 3 and number + 40 < count and not 0 <= number + 40 - count // 2 < LEAVING)
    author = did(_leaving(number // EVERY)) if leaves else did(number % AUTHORS)
    tags = chance.choices(TAGS, [1 / (rank + 1) for rank in range(len(TAGS))], k=chance.choice((0, 0, 1, 2, 3)))
    life.events.append({**_said(number, UNSAID if goes else "said", tags), "did": author, "time": at(seconds)})
    (life.gone if goes else life.alive).add(int(identifier(author, rkey(number))))
    life.payloads += 1
    bucket = int(BEGAN.timestamp() + seconds) // BUCKET_SECONDS * BUCKET_SECONDS
    life.posts[bucket] += 1
    life.counts.setdefault(bucket, Counter()).update({unicodedata.normalize("NFKC", tag).casefold() for tag in tags})


def _said(number: int, what: str, tags: list[str]) -> dict[str, Any]:
    """The first hashtag is marked in the text, the others stand beside it."""
    text, facets = f"où {what} {number} by the sea", []
    if tags:
        begins = len(text.encode()) + 1
        text += f" #{tags[0]}"
        facets = [{"index": {"byteStart": begins, "byteEnd": len(text.encode())},
                   "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": tags[0]}]}]
    return post(number, text=text, facets=facets, tags=tags[1:])


def _unfit(number: int, seconds: float) -> dict[str, Any]:
    """A post that says of itself that it is for adults, or a change of one."""
    labels = {"$type": "com.atproto.label.defs#selfLabels", "values": [{"val": "porn"}]}
    made = post(number, text=f"{UNFIT} {number}", labels=labels, tags=[UNFIT])
    return {**made, "time": at(seconds), "operation": "update" if number % (2 * EVERY) < EVERY else "create"}


def _leaving(number: int) -> int:
    return 9000 + number % LEAVING
