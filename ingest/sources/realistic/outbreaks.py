"""What spreads: topics that break out and fade, and the tweets that everybody passes on meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ingest.sources.phrases import TAG_ENDINGS, Topic, User
from ingest.sources.realistic.texts import RETWEET, Numbers, Plan, Texts
from ingest.sources.realistic.vocabulary import vocabulary

STRETCH = 20_480
"""Five blocks, after which hashtags and what is passed on have drifted. A topic breaks out in some stretches, and lasts
for LASTING of them at most."""

LASTING, OUTBREAK_PROBABILITY = 4, 0.7
PEAKS, RISES = (0.05, 0.25), (1000, 7000)
"""Least and highest share of all tweets that one has at its height, and how many tweets it takes until then."""

ONE_LANGUAGE = 0.4
"""Of the outbreaks, those that stay within one."""

HOT, HOT_OF_OUTBREAK = 96, 24
"""Tweets that are passed on again and again, during a stretch and within an outbreak."""

HOT_SHIFT = 1.5
TAGS = (0.62, 0.15, 0.11, 0.08, 0.04)
"""Shares of texts with so many hashtags, beside that of an outbreak."""

HOT_NUMBER = 1 << 29
"""From here on their texts are numbered."""

OVERFLOWING, SHORTER, LONGER = 0.75, (40, 150), 190
"""Of retweets, those that reach beyond what X shows; characters of the others, and of these."""


class Outbreak(NamedTuple):
    """`begins` with that tweet; `language` is -1 where it is in all."""

    begins: int
    rise: float
    peak: float
    topic: int
    language: int
    tag: str

    def share(self, numbers: Numbers) -> np.ndarray:
        """Of all tweets around each of these numbers: it grows like a rumour and fades exponentially (x e^-x)."""
        x = np.maximum(0, numbers - self.begins) / self.rise
        share: np.ndarray = self.peak * x * np.exp(1 - x)
        return share


Hot = list[tuple[bytes, int, int]]
"""Retweets that come again and again, the favourite first: the JSON of each, whose tweet it is, and its topic."""


class Spread:
    """What is passed on, by seed and stretch alone."""

    def __init__(self, seed: int, texts: Texts, languages: Sequence[str], shares: np.ndarray, topics: Sequence[Topic],
                 users: Sequence[User]) -> None:
        self._seed, self._texts, self._languages, self._shares = seed, texts, languages, shares
        self._topics, self._users = topics, users
        self.outbreak = lru_cache(2 * LASTING)(self._outbreak)
        self.hot = lru_cache(2)(self._hot)
        self.hot_of_outbreak = lru_cache(2 * LASTING)(self._hot_of_outbreak)

    def outbreaks(self, stretch: int) -> list[tuple[int, Outbreak]]:
        """Those that may go on during a stretch, each with the stretch in which it began."""
        begun = range(max(0, stretch - LASTING + 1), stretch + 1)
        return [(number, found) for number in begun if (found := self.outbreak(number))]

    def popularity(self, stretch: int) -> np.ndarray:
        """Share of each topic during a stretch."""
        ranks = np.random.default_rng((self._seed, 1, stretch)).permutation(len(self._topics))
        weights: np.ndarray = 1 / (1 + ranks) / np.sum(1 / (1 + ranks))
        return weights

    def _outbreak(self, stretch: int) -> Outbreak | None:
        random = np.random.default_rng((self._seed, 3, stretch))
        if random.random() >= OUTBREAK_PROBABILITY:
            return None
        language = int(random.choice(len(self._shares), p=self._shares))
        words = vocabulary(self._languages[language])
        tag = words.name(random) + str(random.choice(TAG_ENDINGS))
        within = language if random.random() < ONE_LANGUAGE else -1
        return Outbreak(stretch * STRETCH + int(random.integers(STRETCH)), float(random.uniform(*RISES)),
                        float(random.uniform(*PEAKS)), int(random.integers(len(self._topics))), within, tag)

    def _hot(self, stretch: int) -> Hot:
        random = np.random.default_rng((self._seed, 4, stretch))
        language = random.choice(len(self._shares), HOT, p=self._shares)
        topic = random.choice(len(self._topics), HOT, p=self.popularity(stretch))
        tags = random.choice(5, HOT, p=TAGS)
        return self._written(random, language, topic, tags, [None] * HOT, stretch)

    def _hot_of_outbreak(self, stretch: int) -> Hot:
        outbreak = self.outbreak(stretch)
        assert outbreak
        random = np.random.default_rng((self._seed, 5, stretch))
        language = random.choice(len(self._shares), HOT_OF_OUTBREAK, p=self._shares)
        if outbreak.language >= 0:
            language[:] = outbreak.language
        topic = np.full(HOT_OF_OUTBREAK, outbreak.topic)
        tags = random.choice(2, HOT_OF_OUTBREAK, p=(0.8, 0.2))
        return self._written(random, language, topic, tags, [outbreak.tag] * HOT_OF_OUTBREAK, stretch)

    def _written(self, random: np.random.Generator, language: Numbers, topic: Numbers, tags: Numbers,
                 leading: list[str | None], stretch: int) -> Hot:
        count = len(language)
        other = random.integers(0, len(self._users), count)
        plan = Plan(
            np.full(count, RETWEET), language, topic, HOT_NUMBER + stretch * HOT + np.arange(count), other,
            retweet_reach(random, count), tags, leading, random.random(count) < 0.1, random.random(count) < 0.15)
        return list(zip(self._texts.write(random, plan, stretch), other.tolist(), topic.tolist(), strict=True))


def retweet_reach(random: np.random.Generator, count: int) -> Numbers:
    """Characters of what is passed on, before it is cut."""
    shorter = random.integers(*SHORTER, count)
    return np.where(random.random(count) < OVERFLOWING, LONGER, shorter)
