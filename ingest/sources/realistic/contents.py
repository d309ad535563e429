"""Contents of tweets that behave like real ones: new words without end, topics that break out, texts passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, cycle, islice, starmap
from itertools import count as count_from
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from ingest.sources.content import Content, Size
from ingest.sources.phrases import USERS, User, load_topics, make_users
from ingest.sources.realistic.ahead import BLOCK, Part, blocks, is_whole, read, write
from ingest.sources.realistic.outbreaks import (
    HOT,
    HOT_OF_OUTBREAK,
    HOT_SHIFT,
    STRETCH,
    TAGS,
    Outbreak,
    Spread,
    retweet_reach,
)
from ingest.sources.realistic.texts import RETWEET, Numbers, Plan, Texts, skewed
from ingest.sources.realistic.vocabulary import LANGUAGES, RANKED

KINDS = (0.22, 0.57, 0.21)
KINDS_IN_OUTBREAK = (0.12, 0.66, 0.22)
"""Shares of tweets of one's own, retweets and replies."""

HOT_SHARE = 0.74
"""Of retweets, those of what others pass on, too."""

TAGGED = 0.8
"""Of the tweets of an outbreak, those with its hashtag."""

LINK_SHARE, PICTOGRAPH_SHARE = 0.5, 0.15
"""Of the tweets that are no retweets; of all."""

REACHES, REACH_SHARES = ((25, 60), (60, 150), (150, 270), (340, 341)), (0.2, 0.45, 0.2, 0.15)
"""Least and most characters of such a text, about, and how often; the last are cut at the limit."""

METRICS = 1024
NUMBER_BITS = 26
"""So many tweets of a seed have numbers that the next seed's have not."""


class Author(NamedTuple):
    """A user's parts of a tweet, as JSON: as its author, as all of `includes`, and as one of those described there."""

    id: str
    named: bytes
    included: bytes
    described: bytes


class Drawn(NamedTuple):
    """Tweets by number, as arrays of one length. `outbreak`: to which of those that go on it belongs, or -1."""

    number: Numbers
    kind: Numbers
    language: Numbers
    topic: Numbers
    outbreak: Numbers


class Realistic:
    """Deterministic by `seed` and `languages`, the share of each; LANGUAGES unless given."""

    def __init__(self, seed: int, size: Size, languages: Mapping[str, float] | None = None) -> None:
        self._seed, self._languages = seed, languages or LANGUAGES
        self._shares = np.array(list(self._languages.values())) / sum(self._languages.values())
        self._topics = load_topics()
        users = make_users(np.random.default_rng((seed, 0)))
        self._texts = Texts(list(self._languages), self._topics, users)
        self._spread = Spread(seed, self._texts, list(self._languages), self._shares, self._topics, users)
        self._authors = [_author(user) for user in users]
        self._annotations = [orjson.dumps(topic.annotations) for topic in self._topics]
        self._metrics = [_metrics(number) for number in range(METRICS)]
        self._content = self._full if size == "full" else self._lean

    def from_number(self, number: int) -> Iterator[Content]:
        """The contents of tweet `number` and those that follow it."""
        parts = chain.from_iterable(map(self._block, count_from(number // BLOCK)))
        return starmap(self._content, islice(parts, number % BLOCK, None))

    def ahead(self, number: int, count: int, folder: Path) -> Iterator[Content]:
        """In blocks on disk, as far as they are not there from an earlier time. Raises DiskFull."""
        paths = blocks(folder, self._seed, self._languages, number, count)
        for block, path in enumerate(paths, number // BLOCK):
            if not is_whole(path):
                write(path, self._block(block))
        parts = chain.from_iterable(map(read, cycle(paths)))
        return starmap(self._content, islice(parts, number % BLOCK, None))

    def _block(self, block: int) -> Iterator[Part]:
        random = np.random.default_rng((self._seed, 2, block))
        stretch = block * BLOCK // STRETCH
        outbreaks = self._spread.outbreaks(stretch)
        drawn = self._drawn(random, np.arange(block * BLOCK, (block + 1) * BLOCK), outbreaks)
        # What is passed on changes from stretch to stretch, little by little.
        is_earlier = random.random(BLOCK) >= drawn.number % STRETCH / STRETCH
        author, metrics = random.zipf(1.3, BLOCK) % USERS, random.integers(0, METRICS, BLOCK)
        is_hot = (drawn.kind == RETWEET) & (random.random(BLOCK) < HOT_SHARE)
        rank = skewed(random.random(BLOCK), HOT_SHIFT, np.where(drawn.outbreak < 0, HOT, HOT_OF_OUTBREAK))
        tables = [self._spread.hot(stretch), self._spread.hot(max(0, stretch - 1)),
                  *(self._spread.hot_of_outbreak(begun) for begun, _ in outbreaks)]
        table = np.where(drawn.outbreak < 0, is_earlier, drawn.outbreak + 2)
        plan = self._plan(random, Drawn(*(column[~is_hot] for column in drawn)), [each.tag for _, each in outbreaks])
        fresh = zip(self._texts.write(random, plan, stretch), plan.other.tolist(), plan.topic.tolist(), strict=True)
        columns = (is_hot, table, rank, author, metrics)
        for passed_on, which, place, writer, metric in zip(*(column.tolist() for column in columns), strict=True):
            text, other, topic = tables[which][place] if passed_on else next(fresh)
            yield text, writer, other, topic, metric

    def _drawn(self, random: np.random.Generator, number: Numbers, outbreaks: Sequence[tuple[int, Outbreak]]) -> Drawn:
        count, popularity = len(number), self._spread.popularity(int(number[0]) // STRETCH)
        uniform, bound = random.random(count), np.zeros(count)
        topic = random.choice(len(self._topics), count, p=popularity)
        language = random.choice(len(self._shares), count, p=self._shares)
        kind, in_outbreak = random.choice(3, count, p=KINDS), random.choice(3, count, p=KINDS_IN_OUTBREAK)
        source = np.full(count, -1)
        for at, (_, outbreak) in enumerate(outbreaks):
            share = outbreak.share(number)
            of_it = (uniform >= bound) & (uniform < bound + share)
            bound += share
            source[of_it], topic[of_it], kind[of_it] = at, outbreak.topic, in_outbreak[of_it]
            if outbreak.language >= 0:
                language[of_it] = outbreak.language
        return Drawn(number, kind, language, topic, source)

    def _plan(self, random: np.random.Generator, drawn: Drawn, tags: Sequence[str]) -> Plan:
        """What those say that are not passed on; `tags`: the hashtag of each outbreak."""
        count = len(drawn.number)
        more = random.choice(len(TAGS), count, p=TAGS)
        tagged = np.where(random.random(count) < TAGGED, drawn.outbreak, -1).tolist()
        classes = random.choice(len(REACHES), count, p=REACH_SHARES)
        low, high = np.array(REACHES).T[:, classes]
        reach = np.where(drawn.kind == RETWEET, retweet_reach(random, count), random.integers(low, high))
        return Plan(
            drawn.kind, drawn.language, drawn.topic, drawn.number + (self._seed << NUMBER_BITS) % RANKED**2,
            random.integers(0, USERS, count), reach, more, [tags[at] if at >= 0 else None for at in tagged],
            random.random(count) < LINK_SHARE, random.random(count) < PICTOGRAPH_SHARE)

    def _lean(self, text: bytes, author: int, other: int, topic: int, metrics: int) -> Content:
        user = self._authors[author]
        return user.id, b"".join((text, user.named, self._metrics[metrics], user.included))

    def _full(self, text: bytes, author: int, other: int, topic: int, metrics: int) -> Content:
        user = self._authors[author]
        return user.id, b'%b%b%b,"context_annotations":%b},"includes":{"users":[%b,%b]}}' % (
            text, user.named, self._metrics[metrics], self._annotations[topic], user.described,
            self._authors[other].described)


def _author(user: User) -> Author:
    return Author(user.id, b',"author_id":"%b"' % user.id.encode(),
                  b'},"includes":{"users":[%b]}}' % orjson.dumps(user.lean), orjson.dumps(user.full))


def _metrics(number: int) -> bytes:
    counts = {"retweet_count": number % 53, "reply_count": number % 7, "like_count": number % 211,
              "quote_count": number % 3}
    return (b',"possibly_sensitive":false,"reply_settings":"everyone","source":"Murmuration","public_metrics":'
            + orjson.dumps(counts))
