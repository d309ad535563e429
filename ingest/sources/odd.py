"""A share of the tweets made odd: late, repeated or broken, as some are of any source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import Any

import numpy as np

from ingest.sources.base import Payload, examine
from ingest.sources.content import BEGINNING
from ingest.sources.synthetic import LATE_MACHINE, Synthetic

BLOCK = 1024
SOUND, LATE, REPEATED, BROKEN = range(4)

LATEST_S = 3_600
"""A late tweet is dated back by a second to so many, half of them by less than a minute."""

_ID = len(BEGINNING) + len(b'"id":"')


class Odd(Synthetic):
    """Synthetic tweets of which `share` are odd, a third of them of each kind.

    Which ones, and in which way, is fixed by seed and number. A repeated one is, byte for byte, the last sound one
    that this process has taken.
    """

    def __init__(self, run: str, seed: int, share: float, **options: Any) -> None:
        super().__init__(run, seed, **options)
        self._seed, self._share = seed, share
        self._last: Payload | None = None
        self._kinds = self._from(0)

    def options(self) -> dict[str, Any]:
        return {**super().options(), "odd": self._share}

    def skip(self, count: int) -> None:
        super().skip(count)
        self._kinds = self._from(self._seq)

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        kinds = list(islice(self._kinds, len(sent_at_us)))
        dates = [sent - int(LATEST_S ** how * 1_000_000) if kind == LATE else sent
                 for sent, (kind, how) in zip(sent_at_us, kinds, strict=True)]
        return [self._made(payload, *kind) for payload, kind in zip(super().take(dates), kinds, strict=True)]

    def _made(self, payload: Payload, kind: int, how: float) -> Payload:
        if kind == SOUND:
            self._last = payload
        elif kind == LATE:  # it must not have the id of the one that was sent at that time
            end = payload.body.index(b'"', _ID)
            tweet_id = int(payload.body[_ID:end])
            body = payload.body.replace(b'"%d"' % tweet_id, b'"%d"' % (tweet_id ^ LATE_MACHINE), 2)
            return Payload(body, body, payload.author_id)
        elif kind == REPEATED:
            return self._last or payload
        elif kind == BROKEN:
            return _broken(payload.body, how)
        return payload

    def _from(self, number: int) -> Iterator[tuple[int, float]]:
        """Of each tweet from that one on its kind, and a number from [0, 1) that says how."""
        kinds = chain.from_iterable(map(self._block, count(number // BLOCK)))
        return islice(kinds, number % BLOCK, None)

    def _block(self, block: int) -> Iterator[tuple[int, float]]:
        random = np.random.default_rng((self._seed, 6, block))
        kind = np.where(random.random(BLOCK) < self._share, random.integers(LATE, BROKEN + 1, BLOCK), SOUND)
        return zip(kind.tolist(), random.random(BLOCK).tolist(), strict=True)


def _broken(body: bytes, how: float) -> Payload:
    """Cut off, an object that is no tweet, without a text, or with an id that is no number."""
    cut = 1 + int(how * (len(body) - 1))
    spoilt = (body[:cut], b'{"errors":[%d]}' % cut, body.replace(b'"text":', b'"txt":', 1),
              body.replace(b'"id":"', b'"id":"?', 1))
    return examine(spoilt[int(how * 1000) % len(spoilt)])
