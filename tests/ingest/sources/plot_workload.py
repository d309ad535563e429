"""Draws docs/workload.svg, 100,000 synthetic tweets beside the figures of real ones, and prints what it shows:
`python -m tests.ingest.sources.plot_workload`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from common.text import clean_text
from ingest.sources.synthetic import Synthetic
from loadgen.report.charts import Scale, short
from tests.ingest.sources.tweet_figures import (
    GROWTH,
    QUANTILES,
    WORD,
    figures,
    real_sets,
    tweets_of,
)
from tests.stack import ROOT

TWEETS, SAMPLE, SEED = 100_000, 800, 2026
PANEL, GAP, HEAD = (430, 300), 40, 34
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 26, 40
SHARES = ("retweet", "mention", "url", "pictograph", "clean_text_seen_before", "no_hashtag")
STYLE = """
svg { font: 12px system-ui, sans-serif; background: #fff; } text { fill: #4b535d; }
.title { font-weight: 600; fill: #1b1f24; }
.grid { stroke: #dfe3e8; } .synthetic { fill: none; stroke: #2563eb; stroke-width: 2; } .dot { fill: #2563eb; }
.real0 { stroke: #c2410c; fill: #c2410c; } .real1 { stroke: #15803d; fill: #15803d; } .bar { stroke-width: 1.5; }
"""


class Panel:
    """One chart; `x` and `y` are its scales, which map values to pixels."""

    def __init__(self, number: int, title: str, x: Scale, y: Scale, labels: tuple[str, str]) -> None:
        self._at = (number % 2 * (PANEL[0] + GAP), HEAD + number // 2 * (PANEL[1] + GAP / 2))
        self._x, self._y = x, y
        self._parts = [f'<text class="title" x="{LEFT}" y="14">{escape(title)}</text>',
                       f'<text x="{(PANEL[0] + LEFT) / 2}" y="{PANEL[1] - 6}" text-anchor="middle">{labels[0]}</text>',
                       f'<text transform="rotate(-90 12 {PANEL[1] / 2})" x="12" y="{PANEL[1] / 2}" '
                       f'text-anchor="middle">{labels[1]}</text>']
        for value in y.ticks():
            self._parts.append(f'<line class="grid" x1="{LEFT}" x2="{PANEL[0] - RIGHT}" y1="{y(value):.1f}" '
                               f'y2="{y(value):.1f}"/><text x="{LEFT - 5}" y="{y(value) + 4:.1f}" '
                               f'text-anchor="end">{short(value)}</text>')
        for value in x.ticks():
            self._parts.append(f'<text x="{x(value):.1f}" y="{PANEL[1] - BOTTOM + 16}" text-anchor="middle">'
                               f"{short(value)}</text>")

    def line(self, points: Iterable[tuple[float, float]]) -> None:
        drawn = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        self._parts.append(f'<polyline class="synthetic" points="{drawn}"/>')

    def real(self, which: int, x: float, y: float, ends: Sequence[float] = ()) -> None:
        """A figure of one of the sets, with its interval."""
        at = self._x(x)
        if ends:
            low, high = (self._y(max(end, self._y.low)) for end in ends)
            self._parts.append(f'<line class="real{which} bar" x1="{at:.1f}" x2="{at:.1f}" y1="{low:.1f}" '
                               f'y2="{high:.1f}"/>')
        self._parts.append(f'<circle class="real{which}" cx="{at:.1f}" cy="{self._y(y):.1f}" r="3"/>')

    def svg(self) -> str:
        return f'<g transform="translate({self._at[0]} {self._at[1]})">{"".join(self._parts)}</g>'


def scales(x: tuple[float, float], y: tuple[float, float], logarithmic: bool) -> tuple[Scale, Scale]:
    return (Scale(*x, LEFT, PANEL[0] - RIGHT, logarithmic), Scale(*y, PANEL[1] - BOTTOM, TOP, logarithmic))


def vocabulary(number: int, tweets: Sequence[dict[str, Any]], sets: Sequence[dict[str, Any]]) -> Panel:
    words = [word for tweet in tweets for word in WORD.findall(clean_text(tweet["text"]).casefold())]
    seen: set[str] = set()
    sizes = list(accumulate((not (word in seen or bool(seen.add(word))) for word in words), initial=0))
    both = scales((1000, len(words)), (100, len(seen)), True)
    panel = Panel(number, "different words", *both, ("words", "different"))
    at = np.unique(np.geomspace(1000, len(words), 80).astype(int)).tolist()
    panel.line((count, sizes[count]) for count in at)
    for which, each in enumerate(sets):
        for count, different in each["different_words_after"].items():
            panel.real(which, int(count) * (1 + 0.04 * which), different,
                       each["intervals"][f"different_words_after.{count}"])
    print(f"{len(tweets):,} tweets: {len(words):,} words, {len(seen):,} different; after",
          {count: sizes[count] for count in GROWTH})
    return panel


def lengths(number: int, unit: str, found: Sequence[int], sets: Sequence[dict[str, Any]], most: int) -> Panel:
    panel = Panel(number, f"{unit} of a tweet", *scales((0, most), (0, 100), False), (unit, "% that have no more"))
    panel.line((length, 100 * np.searchsorted(found, length, "right") / len(found)) for length in range(most + 1))
    for which, each in enumerate(sets):
        for percent, length in zip(QUANTILES, each[f"{unit}_quantiles_5_25_50_75_95"], strict=True):
            ends = [100 * share for share in each["intervals"][f"{unit}_below.{percent}"]]
            panel.real(which, length + which, percent, ends)
    print(f"{unit}: quantiles", np.quantile(found, np.array(QUANTILES) / 100).tolist())
    return panel


def hashtags(number: int, tweets: Sequence[dict[str, Any]], sets: Sequence[dict[str, Any]]) -> Panel:
    """By rank within samples as large as the real ones: the mean of them."""
    shares = []
    for first in range(0, len(tweets) - SAMPLE + 1, SAMPLE):
        count = Counter(tag["tag"].casefold() for tweet in tweets[first:first + SAMPLE]
                        for tag in tweet["entities"].get("hashtags", []))
        shares.append([found / SAMPLE for _, found in count.most_common(100)])
    depth = min(map(len, shares))
    means = np.mean([found[:depth] for found in shares], axis=0)
    panel = Panel(number, f"hashtags by rank, in {SAMPLE} tweets", *scales((1, 100), (0.001, 1), True),
                  ("rank", "share of tweets"))
    panel.line(enumerate(means.tolist(), 1))
    for which, each in enumerate(sets):
        for rank, count in each["hashtag_counts_by_rank"].items():
            ends = each["intervals"].get(f"share_with_hashtag_of_rank.{rank}", ())
            panel.real(which, int(rank) * (1 + 0.04 * which), count / each["tweets"], ends)
    return panel


def shares(number: int, found: dict[str, float], sets: Sequence[dict[str, Any]]) -> str:
    x = Scale(0, 100, LEFT + 110, PANEL[0] + 200)
    parts = []
    for row, name in enumerate(SHARES):
        y = 20 + 24 * row
        parts.append(f'<text x="{LEFT + 100}" y="{y + 4}" text-anchor="end">{name.replace("_", " ")}</text>'
                     f'<line class="grid" x1="{x(0)}" x2="{x(100)}" y1="{y}" y2="{y}"/>'
                     f'<rect class="dot" x="{x(100 * found[name]) - 2:.1f}" y="{y - 8}" width="4" height="16"/>')
        for which, each in enumerate(sets):
            low, high = (x(100 * end) for end in each["intervals"][f"share.{name}"])
            at = y - 4 + 8 * which
            parts.append(f'<line class="real{which} bar" x1="{low:.1f}" x2="{high:.1f}" y1="{at}" y2="{at}"/>'
                         f'<circle class="real{which}" cx="{x(100 * each["share"][name]):.1f}" cy="{at}" r="3"/>')
    parts += [f'<text x="{x(tick)}" y="{20 + 24 * len(SHARES)}" text-anchor="middle">{tick} %</text>'
              for tick in range(0, 101, 20)]
    return f'<g transform="translate(0 {HEAD + number // 2 * (PANEL[1] + GAP / 2)})">{"".join(parts)}</g>'


def main() -> None:
    tweets = tweets_of(payload.body for payload in Synthetic("plot", SEED).take([1_790_000_000_000_000] * TWEETS))
    named = real_sets()
    sets, found = list(named.values()), figures(tweets)
    samples = [figures(tweets[first:first + SAMPLE]) for first in range(0, TWEETS - SAMPLE + 1, SAMPLE)]
    share = {name: float(np.mean([sample["share"][name] for sample in samples])) for name in SHARES}
    print("shares", {name: round(value, 3) for name, value in share.items()})
    panels = [vocabulary(0, tweets, sets), hashtags(1, tweets, sets),
              lengths(2, "characters", found["characters"], sets, 300), lengths(3, "words", found["words"], sets, 60)]
    width, height = 2 * PANEL[0] + GAP, HEAD + 2 * PANEL[1] + GAP + 20 + 24 * (len(SHARES) + 1)
    legend = f'<text x="{LEFT}" y="16"><tspan fill="#2563eb">━ {TWEETS:,} synthetic tweets</tspan>' + "".join(
        f'<tspan dx="24" fill="{colour}">● {each["tweets"]} real ones, with 95 % intervals</tspan>'
        for colour, each in zip(("#c2410c", "#15803d"), sets, strict=True)) + "</text>"
    body = legend + "".join(panel.svg() for panel in panels) + shares(4, share, sets)
    (ROOT / "docs/workload.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Figures of synthetic tweets beside those of real ones"><style>{STYLE}</style>{body}</svg>\n')


if __name__ == "__main__":
    main()
