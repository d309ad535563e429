"""Words that a language does not have and could: a Markov chain over the characters of those that it has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

SHARES = 64
"""Of a context's followers: one that takes less than half of such a share of them is left out."""

SHORTER = 0.1
"""Weight of the shorter context beside the longer one: some hundred words alone would mostly be repeated."""

LONGEST, SHORTEST = 14, 2
END = "\0"


class Characters:
    """Chain of order 2 or, where a character is a syllable or a word, of order 1, learnt from `words`.

    A context is the last one or two characters; what follows it is one of SHARES equally likely entries.
    """

    def __init__(self, words: Iterable[str], order: int) -> None:
        followers = _followers(words, order)
        known = {context: number for number, context in enumerate(followers)}
        self._first = known[END]
        self._next = np.zeros((len(known), SHARES), np.uint32)
        self._context = np.zeros((len(known), SHARES), np.int32)
        for context, number in known.items():
            entries = _entries(followers[context], followers[context[-1:]])
            self._next[number] = [ord(character) for character in entries]
            self._context[number] = [
                known.get((context + character)[-order:], known.get(character, 0)) for character in entries]

    def words(self, random: np.random.Generator, count: int) -> list[str]:
        """So many words of SHORTEST to LONGEST characters; some may be known, or come twice."""
        found: list[str] = []
        while len(found) < count:
            found += self._walk(random, (count - len(found)) * 5 // 4 + 16)
        return found[:count]

    def _walk(self, random: np.random.Generator, count: int) -> list[str]:
        draws = random.integers(0, SHARES, (LONGEST + 1, count), np.uint8)
        steps = np.zeros((LONGEST + 1, count), np.uint32)
        context = np.full(count, self._first, np.int32)
        alive = np.ones(count, bool)
        for at, draw in enumerate(draws):
            found = self._next[context, draw]
            alive &= found > 0
            steps[at] = np.where(alive, found, 0)
            context = self._context[context, draw]
        characters = np.ascontiguousarray(steps.T)
        ended = (characters[:, LONGEST] == 0) & (characters[:, SHORTEST - 1] > 0)
        texts: list[str] = characters[ended].view(f"<U{LONGEST + 1}")[:, 0].tolist()  # zeros at the end are no part
        return texts


def _followers(words: Iterable[str], order: int) -> dict[str, Counter[str]]:
    """How often each character follows each context of 1 to `order` characters; END begins and ends a word."""
    followers: dict[str, Counter[str]] = defaultdict(Counter)
    for word in words:
        marked = f"{END}{word}{END}"
        for at, character in enumerate(marked[1:], 1):
            for length in range(1, min(order, at) + 1):
                followers[marked[at - length:at]][character] += 1
    return dict(followers)


def _entries(own: Counter[str], shorter: Counter[str]) -> list[str]:
    """SHARES characters, each as often as its probability says."""
    weights: Counter[str] = Counter()
    for counts, weight in ((own, 1 - SHORTER), (shorter, SHORTER)):
        for character, count in counts.items():
            weights[character] += weight * count / counts.total()  # type: ignore[assignment]
    names = list(weights)
    ends = np.cumsum([weights[name] for name in names])
    middles = (np.arange(SHARES) + 0.5) / SHARES * ends[-1]
    return [names[at] for at in np.searchsorted(ends, middles).tolist()]
