"""The words of a language by rank, its ways to say something, and words that nobody has read before."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ingest.sources.realistic.characters import Characters

Strings = np.ndarray[Any, np.dtype[np.object_]]

LANGUAGES = {"en": 0.48, "es": 0.13, "pt": 0.1, "ja": 0.1, "in": 0.06, "ko": 0.06, "de": 0.04, "fr": 0.03}
"""Share of each, roughly as in X's whole stream: the real samples are those of a few searches. `in` is Indonesian."""

SYLLABIC = ("ja", "ko")
"""Languages of which a character says as much as a syllable."""

SPACELESS, NOUNS_CAPITAL = ("ja",), ("de",)

RANKED = 1 << 15
"""Words of a language that have a rank; what is rarer is made up when it is needed."""

ZIPF_SHIFT, ZIPF_EXPONENT = 1.75, 1.05
"""Of the Zipf-Mandelbrot law by which a rank r is drawn: (r + shift) to the power of minus exponent. Different words
then grow with the number of words to the power of 1 / exponent, without end (B. Mandelbrot 1953; L. Lü et al. 2010)."""

LEAST = 1e-12
"""Probability beyond which no rank is looked for."""

TOPIC_WORDS = 24
"""Of each topic, the longest words of its phrases."""

_CONTENT_WORD = re.compile(r"[^\W\d_]{4,}")
_WRITTEN = Path(__file__).with_name("languages.json")
_PHRASES = Path(__file__).parent.with_name("phrases.json")


class Vocabulary:
    """Of one language; the same for every seed.

    `words`: RANKED different ones, the frequent ones first, then TOPIC_WORDS of each topic. `chunks`: frames, those of
    two slots and more first (`long_frames`), then `phrases` of each topic. `slots`: how many words each chunk takes.
    `width`: for how many a character counts.
    """

    def __init__(self, language: str) -> None:
        written = json.loads(_WRITTEN.read_text(encoding="utf-8"))[language]
        topics = [content[language] for content in json.loads(_PHRASES.read_text(encoding="utf-8")).values()]
        self.language = language
        self.gap = "" if language in SPACELESS else " "
        self.width = 2 if language in SYLLABIC else 1
        core, names = (" ".join(written[kind]).split() for kind in ("words", "names"))
        order = 3 - self.width
        self._characters = Characters([word.lower() for word in core], order)
        self._name_characters = Characters(names, order)
        random = np.random.default_rng(1)
        self._known = core
        self._endings = " ".join(written.get("endings", [])).split()
        ranked = self._ranked(random, core, names)
        self._phrases(topics, written["frames"])
        self.words: Strings = np.array([*ranked, *self._topic_words(topics)], dtype=object)

    def ranks(self, uniform: np.ndarray) -> np.ndarray:
        """Ranks, from 0, by the law above; -1 for all that have none. `uniform`: numbers from [0, 1)."""
        ranks = ZIPF_SHIFT * (np.maximum(1 - uniform, LEAST) ** (-1 / (ZIPF_EXPONENT - 1)) - 1)
        return np.where(ranks < RANKED, ranks, -1).astype(np.int64)

    def new(self, random: np.random.Generator, count: int) -> list[str]:
        """Words made up: 14 of 20 as the language could have them, 3 misspelt ones that it has, 2 names, a number."""
        kinds = random.integers(0, 20, count)
        words = self._made(random, count)
        for first, end, make in ((14, 17, self._misspelt), (17, 19, self._names), (19, 20, self._numbers)):
            at = np.flatnonzero((kinds >= first) & (kinds < end)).tolist()
            for place, word in zip(at, make(random, len(at)), strict=True):
                words[place] = word
        return words

    def _made(self, random: np.random.Generator, count: int) -> list[str]:
        """Where a character is a syllable or a word, two words and an ending grow together, or two of the three."""
        words = self._characters.words(random, count)
        if not self._endings:
            return words
        seconds = self._characters.words(random, count)
        ending = random.integers(0, len(self._endings), count).tolist()
        return [
            word + (second if how < 3 else "") + (self._endings[at] if how > 1 else "")
            for word, second, at, how in zip(words, seconds, ending, random.integers(0, 5, count).tolist(), strict=True)
        ]

    def name(self, random: np.random.Generator) -> str:
        return self._names(random, 1)[0]

    def _ranked(self, random: np.random.Generator, core: list[str], names: list[str]) -> list[str]:
        """The words of the language, then names and made-up ones, the shorter ones of neighbours first."""
        rare = [*names, *self.new(random, 2 * RANKED)]
        lengths = np.array([len(word) for word in rare]) * 1000 + np.arange(len(rare))
        rare = [rare[at] for at in np.argsort(lengths).tolist()]
        ranked = list(dict.fromkeys([*random.permutation(core).tolist(), *rare]))
        while len(ranked) < RANKED:
            ranked = list(dict.fromkeys([*ranked, *self.new(random, RANKED)]))
        return ranked[:RANKED]

    def _phrases(self, topics: list[Any], frames: list[str]) -> None:
        frames = sorted(frames, key=lambda frame: frame.count("%s") < 2)
        joint = "、" if self.language in SPACELESS else ","
        phrases = [[*(start + joint for start in starts), *ends] for starts, ends in topics]
        self.phrases = min(map(len, phrases))
        self.long_frames = sum(frame.count("%s") >= 2 for frame in frames)
        self.frames = len(frames)
        self.chunks = [*frames, *(phrase for of_topic in phrases for phrase in of_topic[:self.phrases])]
        self.slots = np.array([chunk.count("%s") for chunk in self.chunks])

    def _topic_words(self, topics: list[Any]) -> list[str]:
        """By topic, TOPIC_WORDS of each; of few, some come several times."""
        found: list[str] = []
        for starts, ends in topics:
            text = " ".join([*starts, *ends])
            words = list(dict.fromkeys(_CONTENT_WORD.findall(text if self.language in NOUNS_CAPITAL else text.lower())))
            words = sorted(words, key=len)[-TOPIC_WORDS:] if self.width == 1 else self._known[:TOPIC_WORDS]
            found += (words * TOPIC_WORDS)[:TOPIC_WORDS]
        return found

    def _names(self, random: np.random.Generator, count: int) -> list[str]:
        return [word.capitalize() for word in self._name_characters.words(random, count)]

    def _numbers(self, random: np.random.Generator, count: int) -> list[str]:
        """Of 1 to 5 digits, small ones more often."""
        return [str(number) for number in (10 ** random.uniform(0, 5, count)).astype(np.int64).tolist()]

    def _misspelt(self, random: np.random.Generator, count: int) -> list[str]:
        known = random.integers(0, len(self._known), count).tolist()
        at, how = random.random(count).tolist(), random.integers(0, 4, count).tolist()
        return [_misspell(self._known[which], place, slip) for which, place, slip in zip(known, at, how, strict=True)]


def _misspell(word: str, place: float, slip: int) -> str:
    """Two characters swapped, one lost, one doubled, or the last one drawn out."""
    at = int(place * (len(word) - 1))
    if slip == 0:
        return word[:at] + word[at + 1:at + 2] + word[at] + word[at + 2:]
    if slip == 1 and len(word) > 2:
        return word[:at] + word[at + 1:]
    if slip == 2:
        return word[:at] + word[at] + word[at:]
    return word + word[-1] * int(2 + place * 5)


@cache
def vocabulary(language: str) -> Vocabulary:
    return Vocabulary(language)
