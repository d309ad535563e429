"""Contents of tweets that fit every cache: some hundred sentences again and again, 1,669 different words in all.

Random numbers are drawn for many tweets at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count as count_from
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ingest.sources.content import BEGINNING, Content, Size
from ingest.sources.phrases import EMOJI, LANGUAGES, USERS, load_topics, make_users

BLOCK = 1024
"""Tweets whose random numbers are drawn together."""

DRIFT_TWEETS = 20_480
"""After so many tweets the popularity of topics and hashtags has drifted on."""

ZIPF_EXPONENT = 1.1
SPIKE_PROBABILITY = 0.4
"""How often one hashtag is on everybody's lips during such a stretch, in one of seven tweets."""

URL_LENGTH = 23
"""As X counts every link."""

RETWEET = 1
"""Of the kinds of a tweet; 0 is its author's own text, 2 begins with a mention."""


class Cached:
    """Deterministic by `seed`."""

    def __init__(self, seed: int, size: Size) -> None:
        self._seed, self._size = seed, size
        self._topics = load_topics()
        self._users = make_users(np.random.default_rng((seed, 0)))
        self._languages = list(LANGUAGES)

    def from_number(self, number: int) -> Iterator[Content]:
        return islice(self._from_block(number // BLOCK), number % BLOCK, None)

    def ahead(self, number: int, count: int, folder: Path) -> Iterator[Content]:
        """In memory."""
        return cycle(list(islice(self.from_number(number), count)))

    def _from_block(self, block: int) -> Iterator[Content]:
        return (self._content(row) for number in count_from(block) for row in self._block(number))

    def _block(self, block: int) -> Iterator[tuple[Any, ...]]:
        """What the tweets of a block are made of: indexes into the prepared parts."""
        stretch = block * BLOCK // DRIFT_TWEETS
        drift = np.random.default_rng((self._seed, 1, stretch))
        random = np.random.default_rng((self._seed, 2, block))
        topics, tags = len(self._topics), len(self._topics[0].tags)
        topic = random.choice(topics, BLOCK, p=_zipf(topics, 0.6)[drift.permutation(topics)])
        tag = random.choice(tags, (BLOCK, 3), p=_zipf(tags, ZIPF_EXPONENT))
        # Ranks move up by a few places from one stretch to the next, so that a favourite fades within some of them.
        tag = (tag + 3 * stretch) % tags
        count = random.choice(4, BLOCK, p=(0.25, 0.4, 0.25, 0.1))
        if drift.random() < SPIKE_PROBABILITY:
            spiking = random.random(BLOCK) < 1 / 7
            topic[spiking] = drift.integers(topics)
            tag[spiking, 0] = drift.integers(tags)
            count[spiking] = np.maximum(count[spiking], 1)
        columns = (
            topic, random.choice(len(LANGUAGES), BLOCK, p=list(LANGUAGES.values())), random.integers(0, 1 << 20, BLOCK),
            tag[:, 0], tag[:, 1], tag[:, 2], count, random.zipf(1.3, BLOCK) % USERS, random.integers(0, USERS, BLOCK),
            random.choice(3, BLOCK, p=(0.55, 0.2, 0.25)), random.random(BLOCK) < 0.3,
            random.integers(0, len(EMOJI), BLOCK), random.integers(1 << 30, 1 << 31, BLOCK),
        )
        return zip(*(column.tolist() for column in columns), strict=True)

    def _content(self, row: tuple[Any, ...]) -> Content:
        topic_at, language_at, sentence_at, *tags_at, count, author_at, other_at, kind, link, emoji_at, number = row
        topic, language = self._topics[topic_at], self._languages[language_at]
        sentences = topic.sentences[language]
        author, other = self._users[author_at], self._users[other_at]
        text, entities = "", {}
        if kind:  # a retweet or a mention
            start = 3 if kind == RETWEET else 0
            text = f"{'RT ' if kind == RETWEET else ''}@{other.name}"
            mention = {"start": start, "end": len(text), "username": other.name, "id": other.id}
            entities["mentions"] = [mention]
            text += ": " if kind == RETWEET else " "
        text += sentences[sentence_at % len(sentences)] + EMOJI[emoji_at]
        if count:
            entities["hashtags"] = []
            for tag in dict.fromkeys(topic.tags[at] for at in tags_at[:count]):
                start, text = len(text) + 1, f"{text} #{tag}"
                entities["hashtags"].append({"start": start, "end": len(text), "tag": tag})
        if link:
            start, url = len(text) + 1, f"https://t.co/x{number % 10**9:09}"
            text += f" {url}"
            entities["urls"] = [{
                "start": start, "end": start + URL_LENGTH, "url": url,
                "expanded_url": f"https://news.example.org/{number}", "display_url": f"news.example.org/{number}",
            }]
        data = {
            "text": text, "author_id": author.id, "lang": language, "entities": entities,
            **({"referenced_tweets": [{"type": "retweeted", "id": str(number << 30)}]} if kind == RETWEET else {}),
            "possibly_sensitive": False, "reply_settings": "everyone", "source": "Murmuration",
            "public_metrics": {
                "retweet_count": number % 53, "reply_count": number % 7, "like_count": number % 211,
                "quote_count": number % 3,
            },
        }
        if self._size == "full":
            tweet = {"data": {**data, "context_annotations": topic.annotations},
                     "includes": {"users": [author.full, other.full]}}
        else:
            tweet = {"data": data, "includes": {"users": [author.lean]}}
        return author.id, orjson.dumps(tweet).removeprefix(BEGINNING)

@cache
def _zipf(count: int, exponent: float) -> np.ndarray:
    weights = 1 / np.arange(1, count + 1) ** exponent
    shares: np.ndarray = weights / weights.sum()
    return shares
