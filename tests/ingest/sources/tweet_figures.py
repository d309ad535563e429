"""Figures of tweets by which synthetic ones are held against real ones; run as a program it writes those of the latter.

A word is a run of `\\w` and apostrophes of the clean text, case-folded. Every interval is one of 95 %, from the figure
and the number of tweets alone: Wilson's for a share of tweets; for the share of different words among the first n, too,
with as many tweets as n words take, since the words of a tweet depend on each other; for a number of hashtags that of
Poisson, with as many events as tweets carry one. A quantile has none in its own unit: what is held against it is the
share of synthetic tweets below it, and the interval is that of the share.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from common.text import clean_text
from tests.stack import ROOT

REAL = ROOT / "tests/data/real-tweets.json"
WORD = re.compile(r"[\w'’]+")
PICTOGRAPH = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf]")
GROWTH = (1000, 2000, 5000, 10_000, 15_000)
QUANTILES = (5, 25, 50, 75, 95)
RANKS = (1, 2, 5, 10, 20, 50)
Z = 1.96

Interval = tuple[float, float]


def figures(tweets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of tweets in X's shape (`data`): what the file of real ones tells of those, and all lengths."""
    texts = [tweet["text"] for tweet in tweets]
    cleaned = [clean_text(text) for text in texts]
    words = [WORD.findall(text.casefold()) for text in cleaned]
    tags = [{tag["tag"].casefold() for tag in tweet.get("entities", {}).get("hashtags", [])} for tweet in tweets]
    counts = [count for _, count in Counter(tag for found in tags for tag in found).most_common()]
    marks = {
        "retweet": [text.startswith("RT @") for text in texts],
        "url": ["http" in text for text in texts],
        "mention": ["mentions" in tweet.get("entities", {}) for tweet in tweets],
        "pictograph": [bool(PICTOGRAPH.search(text)) for text in texts],
        "clean_text_seen_before": _seen(cleaned),
        "no_hashtag": [not found for found in tags],
    }
    return {
        "different_words_after": growth(words),
        "characters": sorted(map(len, texts)),
        "words": sorted(map(len, words)),
        "share": {name: sum(found) / len(tweets) for name, found in marks.items()},
        "hashtags_per_tweet": sum(map(len, tags)) / len(tweets),
        "hashtags_different_per_tweet": len(counts) / len(tweets),
        "share_with_hashtag_of_rank": {rank: counts[rank - 1] / len(tweets) for rank in RANKS if rank <= len(counts)},
        "languages": {name: count / len(tweets) for name, count in Counter(t["lang"] for t in tweets).items()},
    }


def growth(words: Iterable[Sequence[str]], at: Sequence[int] = GROWTH) -> dict[int, int]:
    """How many different words there are after so many, as far as there are so many."""
    seen: dict[str, None] = {}
    flat = [word for of_tweet in words for word in of_tweet]
    sizes = list(accumulate((not (word in seen or seen.update({word: None})) for word in flat), initial=0))
    return {count: sizes[count] for count in at if count < len(sizes)}


def _seen(texts: Sequence[str]) -> list[bool]:
    seen: set[str] = set()
    return [text in seen or bool(seen.add(text)) for text in texts]


def wilson(share: float, n: float) -> Interval:
    """E. B. Wilson's interval of a binomial share (1927)."""
    middle, half = share + Z * Z / (2 * n), Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


def intervals(real: Mapping[str, Any]) -> dict[str, Interval]:
    """By name of the figure, of one set of real tweets."""
    n, share = real["tweets"], real["share"]
    tagged = n * (1 - share["no_hashtag"])
    around = Z / sqrt(tagged)
    found: dict[str, Interval] = {f"share.{name}": wilson(value, n) for name, value in share.items()}
    for count, different in real["different_words_after"].items():
        low, high = wilson(different / int(count), int(count) * n / real["words"])
        found[f"different_words_after.{count}"] = low * int(count), high * int(count)
    for unit in ("characters", "words"):
        for percent in QUANTILES:
            found[f"{unit}_below.{percent}"] = wilson(percent / 100, n)
    for name, value in (("hashtags_per_tweet", real["hashtags_per_tweet_mean"]),
                        ("hashtags_different_per_tweet", real["hashtags_different"] / n)):
        found[name] = value * (1 - around), value * (1 + around)
    for rank in RANKS:
        found[f"share_with_hashtag_of_rank.{rank}"] = wilson(real["hashtag_counts_by_rank"][str(rank)] / n, n)
    return {name: (round(low, 4), round(high, 4)) for name, (low, high) in found.items()}


def real_sets() -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads(REAL.read_text())["sets"]
    return content


def between(name: str) -> Interval:
    """From the lowest to the highest that the sets allow: they are of few searches each, and differ."""
    found = [tuple(each["intervals"][name]) for each in real_sets().values() if name in each["intervals"]]
    return min(low for low, _ in found), max(high for _, high in found)


def quantiles(unit: str, percent: int) -> tuple[int, int]:
    """The lowest and the highest quantile of the sets."""
    found = [each[f"{unit}_quantiles_5_25_50_75_95"][QUANTILES.index(percent)] for each in real_sets().values()]
    return min(found), max(found)


def share_below(lengths: Sequence[int], length: int) -> float:
    return float(np.searchsorted(lengths, length, "left")) / len(lengths)


def tweets_of(bodies: Iterable[bytes]) -> list[dict[str, Any]]:
    return [orjson.loads(body)["data"] for body in bodies]


def write(source: Path) -> None:
    """The numbers in `source`, with their intervals."""
    content = json.loads(source.read_text())
    sets = {name: each for name, each in content.items() if isinstance(each, dict)}
    for each in sets.values():
        each["intervals"] = intervals(each)
    what = "Figures of real tweets in the shape of X's API v2, from public samples of 2021 to 2023; numbers only."
    written = {"what": what, "intervals": (__doc__ or "").partition("\n\n")[2].replace("\n", " ").strip(), "sets": sets}
    REAL.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
