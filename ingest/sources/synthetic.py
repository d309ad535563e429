"""Invented tweets in the shape of X's v2 stream.

What tweet n says is fixed by workload, seed and n alone, and may be made ahead. Its id and date come from the run and
the time at which it is meant to be sent, and are put before that as bytes: to write a whole tweet anew takes 1.8 µs of
CPU more for a lean one and 5.3 for a full one, of the 104 that a tweet costs in all.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from common.tweets import X_EPOCH_MS, rfc3339
from ingest.sources.base import Payload, Source
from ingest.sources.content import BEGINNING, Contents, Size, Workload

LATE_MACHINE = 1 << 21
"""Highest bit of an id's `machine`."""


def first_snowflake(ms: int, machine: int) -> int:
    """Lowest tweet id of a moment: milliseconds since X's epoch (41 bits), a run's `machine` (10), 12 bits for seq."""
    return (ms - X_EPOCH_MS) << 22 | machine << 12


class Synthetic(Source):
    """Endless; content deterministic by `workload`, `languages` and `seed`."""

    name = "synthetic"

    def __init__(self, run: str, seed: int = 1, payload: Size = "lean", workload: Workload = "realistic",
                 languages: Mapping[str, float] | None = None) -> None:
        """`languages`: share of each, of a realistic workload; those of the whole stream unless given."""
        self._options: dict[str, Any] = {"seed": seed, "payload": payload, "workload": workload}
        if languages:
            self._options["languages"] = dict(languages)
        self._machine = int.from_bytes(hashlib.sha256(run.encode()).digest()[:2], "big") & 0x3FF
        self._maker = _contents(seed, payload, workload, languages)
        self._seq = 0
        self._contents = self._maker.from_number(0)
        self._second, self._second_text = -1, b""

    def options(self) -> dict[str, Any]:
        return self._options

    def skip(self, count: int) -> None:
        self._seq += count
        self._contents = self._maker.from_number(self._seq)

    def make_ahead(self, count: int, folder: Path) -> None:
        """Makes about the next `count` tweets now, where there is no room in memory for them below `folder`.

        From then on they come in turn, each time with another id and date. Raises DiskFull.
        """
        if count:
            self._contents = self._maker.ahead(self._seq, count, folder)

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        payloads = []
        moment_ms, created_at = -1, b""
        for seq, (sent, (author_id, content)) in enumerate(zip(sent_at_us, self._contents, strict=False), self._seq):
            if sent // 1000 != moment_ms:  # tweets of one moment share it
                moment_ms = sent // 1000
                created_at, snowflakes = self._created_at(moment_ms), first_snowflake(moment_ms, self._machine)
            tweet_id = snowflakes | seq & 0xFFF
            body = b'%b"id":"%d","conversation_id":"%d","created_at":"%b",%b' % (
                BEGINNING, tweet_id, tweet_id, created_at, content)
            payloads.append(Payload(body, body, author_id))
        self._seq += len(payloads)
        return payloads

    def _created_at(self, ms: int) -> bytes:
        second, milliseconds = divmod(ms, 1000)
        if second != self._second:
            self._second, self._second_text = second, rfc3339(second * 1_000_000)[:-4].encode()
        return b"%b%03dZ" % (self._second_text, milliseconds)


def _contents(seed: int, payload: Size, workload: Workload, languages: Mapping[str, float] | None) -> Contents:
    """Each workload is imported only when it is asked for: the realistic one's words take a second to make."""
    if workload == "cached":
        from ingest.sources.cached import Cached
        return Cached(seed, payload)
    from ingest.sources.realistic.contents import Realistic
    return Realistic(seed, payload, languages)


def synthetic(run: str, options: Mapping[str, Any]) -> Synthetic:
    """The source that has such `options`; without a seed its content is that of its run alone."""
    chosen = {name: options[name] for name in ("payload", "workload", "languages") if options.get(name)}
    seed = options.get("seed")
    if seed is None:
        seed = zlib.crc32(run.encode())
    if share := options.get("odd"):
        from ingest.sources.odd import Odd
        return Odd(run, seed, share, **chosen)
    return Synthetic(run, seed, **chosen)
