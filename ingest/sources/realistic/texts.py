"""What tweets say, made for many at once: text, language, hashtags, mentions and links, as bytes of JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson

from ingest.sources.phrases import EMOJI, Topic, User
from ingest.sources.realistic.vocabulary import RANKED, TOPIC_WORDS, Vocabulary, vocabulary

Numbers = np.ndarray[Any, np.dtype[np.int64]]

PLAIN, RETWEET, REPLY = range(3)
"""Kinds of tweets."""

LIMIT, RETWEET_LIMIT, URL_LENGTH = 280, 140, 23
"""Characters of a tweet, of which one of a syllabic script counts for two, of what X shows of a retweeted one, and of
every link."""

PHRASE_SHARE, TOPIC_WORD_SHARE = 0.85, 0.3
"""Of texts of several chunks, those with a phrase of the topic; of words, those that are the topic's."""

FRAME_SKEW = 2.0
"""Above 1: some ways to say something are more usual than others."""

UNIQUE_WORDS = 6
"""A text of fewer free words says its number in two of them, so that it comes once: 2 ** 30 have one of their own.
That two of more words are the same is less likely than one in 10 ** 8 among 2.4 million."""

NUMBER_STEP = 0x2545F491
"""Odd: numbers that follow each other say unlike words."""

OWN_TAG_SHARE, TAG_SHIFT = 0.65, 0.3

CHUNK_WORD = 6.5
"""Characters of a free word, about."""

_REFERENCES = ("", "retweeted", "replied_to")
_PICTOGRAPHS = [emoji.strip() for emoji in EMOJI if emoji]


class Plan(NamedTuple):
    """What is to be said, by arrays of one length: `number` is the text's own, `reach` its characters, about.

    `tags`: how many hashtags; `leading`: those that stand first, by text, before what is drawn.
    """

    kind: Numbers
    language: Numbers
    topic: Numbers
    number: Numbers
    other: Numbers
    reach: Numbers
    tags: Numbers
    leading: Sequence[str | None]
    link: np.ndarray
    pictograph: np.ndarray


class Texts:
    """`languages`: their names, in the order of a plan's numbers."""

    def __init__(self, languages: Sequence[str], topics: Sequence[Topic], users: Sequence[User]) -> None:
        self._languages = [vocabulary(language) for language in languages]
        self._topics = topics
        self._fronts = [[front.format(user.name) for user in users] for front in ("", "RT @{}: ", "@{} ")]
        self._mentions = [[_mention(user, start) for user in users] for start in (0, 3, 0)]
        self._lengths = [_mean_chunk(words) for words in self._languages]

    def write(self, random: np.random.Generator, plan: Plan, drift: int) -> Iterator[bytes]:
        """The JSON of each text, from `"text"` to its entities; `drift` moves the ranks of the topics' hashtags."""
        count = len(plan.kind)
        bodies, tags = self._bodies(random, plan), self._tags(random, plan, drift)
        pictographs = random.integers(0, len(_PICTOGRAPHS), count).tolist()
        links = random.integers(1 << 30, 1 << 31, count).tolist()
        columns = (plan.kind, plan.language, plan.other, plan.link, plan.pictograph)
        rows = zip(bodies, tags, pictographs, links, *(column.tolist() for column in columns), strict=True)
        return (self._piece(*row) for row in rows)

    def _piece(self, body: str, tags: list[str], pictograph: int, number: int, kind: int, language: int, other: int,
               link: bool, pictured: bool) -> bytes:
        words, entities = self._languages[language], []
        if pictured:  # of what is passed on one sees the beginning
            body = f"{_PICTOGRAPHS[pictograph]} {body}" if kind == RETWEET else f"{body} {_PICTOGRAPHS[pictograph]}"
        text, limit = self._fronts[kind][other], LIMIT // words.width
        if kind == RETWEET:
            tags_at, limit = len(text), RETWEET_LIMIT
            text += "".join([f"#{tag} " for tag in tags]) + body
        else:
            marked = "".join([f" #{tag}" for tag in tags])
            room = max(1, limit - len(text) - len(marked) - (URL_LENGTH + 1 if link else 0))
            text += body if len(body) <= room else body[:room - 1] + "…"
            tags_at = len(text) + 1
            text += marked
        if link and len(text) + 1 + URL_LENGTH <= limit:
            start = len(text) + 1
            text += f" https://t.co/x{number % 10**9:09}"
            entities.append(
                f'"urls":[{{"start":{start},"end":{start + URL_LENGTH},"url":"{text[start:]}",'
                f'"expanded_url":"https://news.example.org/{number}",'
                f'"display_url":"news.example.org/{number}"}}]')
        shown = len(text)
        if shown > limit:
            text, shown = text[:limit - 1] + "…", limit - 1
        if kind:
            entities.append(self._mentions[kind][other])
        if tags:
            named = []
            for tag in tags:
                if tags_at + len(tag) + 1 > shown:
                    break
                named.append(f'{{"start":{tags_at},"end":{tags_at + len(tag) + 1},"tag":"{tag}"}}')
                tags_at += len(tag) + 2
            entities.append(f'"hashtags":[{",".join(named)}]')
        referenced = f',"referenced_tweets":[{{"type":"{_REFERENCES[kind]}","id":"{number << 30}"}}]' if kind else ""
        rest = f',"lang":"{words.language}","entities":{{{",".join(entities)}}}{referenced}'
        return b'"text":%b%b' % (orjson.dumps(text), rest.encode())

    def _bodies(self, random: np.random.Generator, plan: Plan) -> list[str]:
        bodies = [""] * len(plan.kind)
        for number, words in enumerate(self._languages):
            at = np.flatnonzero(plan.language == number)
            if len(at):
                reach = plan.reach[at] // words.width
                chunks = np.maximum(1, np.rint(reach / self._lengths[number])).astype(np.int64)
                made = _compose(random, words, plan.topic[at], chunks, plan.number[at])
                for place, body in zip(at.tolist(), made, strict=True):
                    bodies[place] = body
        return bodies

    def _tags(self, random: np.random.Generator, plan: Plan, drift: int) -> list[list[str]]:
        """Hashtags by text: many of them the topic's own, the others any word's of the language, however rare."""
        found: list[list[str]] = [[tag] if tag else [] for tag in plan.leading]
        total, most = int(plan.tags.sum()), len(self._topics[0].tags)
        own = (skewed(random.random(total), TAG_SHIFT, most) + 3 * drift) % most
        rare = np.where(random.random(total) < OWN_TAG_SHARE, -1, skewed(random.random(total), 1.0, RANKED))
        columns = (np.arange(len(found)), plan.topic, plan.language)
        repeated = (np.repeat(column, plan.tags).tolist() for column in columns)
        for text, topic, language, of_topic, of_language in zip(*repeated, own.tolist(), rare.tolist(), strict=True):
            tag = self._topics[topic].tags[of_topic]
            if of_language >= 0 and (word := self._languages[language].words[of_language]).isalpha():
                tag = word.capitalize()
            if tag not in found[text]:
                found[text].append(tag)
        return found


def _compose(random: np.random.Generator, words: Vocabulary, topic: Numbers, chunks: Numbers,
             number: Numbers) -> Iterator[str]:
    """Texts of so many chunks each, whose slots are filled with words by rank, the topic's, and new ones."""
    first = np.cumsum(chunks) - chunks
    many = int(chunks.sum())
    chunk = (random.random(many) ** FRAME_SKEW * words.frames).astype(np.int64)
    phrase = words.frames + topic * words.phrases + random.integers(0, words.phrases, len(topic))
    phrased = (random.random(len(topic)) < PHRASE_SHARE) & (chunks > 1)
    at = first + 1 + (random.random(len(topic)) * (chunks - 1)).astype(np.int64)
    chunk[at[phrased]] = phrase[phrased]
    chunk[first] %= words.long_frames  # so that every text has two free words
    slots = np.add.reduceat(words.slots[chunk], first)
    ends = np.cumsum(slots)
    free = int(ends[-1])
    topical = RANKED + np.repeat(topic, slots) * TOPIC_WORDS + random.integers(0, TOPIC_WORDS, free)
    rank = np.where(random.random(free) < TOPIC_WORD_SHARE, topical, words.ranks(random.random(free)))
    short, said = (ends - slots)[slots < UNIQUE_WORDS], number[slots < UNIQUE_WORDS] * NUMBER_STEP % RANKED**2
    rank[short], rank[short + 1] = said // RANKED, said % RANKED
    is_new = rank < 0
    filled = words.words[rank]
    filled[is_new] = words.new(random, int(is_new.sum()))
    chosen, filling, ways, gap = chunk.tolist(), filled.tolist(), words.chunks, words.gap
    begin = slot = 0
    for count, end in zip(chunks.tolist(), ends.tolist(), strict=True):
        yield gap.join([ways[way] for way in chosen[begin:begin + count]]) % tuple(filling[slot:end])
        begin, slot = begin + count, end


def _mention(user: User, start: int) -> str:
    return (f'"mentions":[{{"start":{start},"end":{start + len(user.name) + 1},"username":"{user.name}",'
            f'"id":"{user.id}"}}]')


def _mean_chunk(words: Vocabulary) -> float:
    """Characters of a chunk, with what fills it."""
    frames, word = words.chunks[:words.frames], CHUNK_WORD / words.width - len("%s")
    return float(np.mean([len(frame) + word * frame.count("%s") for frame in frames]))


def skewed(uniform: np.ndarray, shift: float, most: int | Numbers) -> Numbers:
    """Ranks from 0 to below `most` by the Zipf-Mandelbrot law with an exponent of 1. `uniform`: from [0, 1)."""
    ranks = shift * ((1 + most / shift) ** uniform - 1)
    numbers: Numbers = ranks.astype(np.int64)
    return numbers
