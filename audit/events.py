"""What the audit reads of events that may be anything."""

from __future__ import annotations

import msgspec
import orjson

from common.tweets import REFUSALS, Ingest

HEAD_BYTES = 1024
"""The stamp stands at the front of a raw event, so that its body need not be parsed."""

_stamp = msgspec.json.Decoder(Ingest).decode


def stamp_of(event: bytes) -> Ingest | None:
    """The `ingest` object of a raw event; None if it has none."""
    start, end = event.find(b'{"ingest":'), event.find(b"}", 0, HEAD_BYTES)
    try:
        if start == 0 and end > 0:
            stamp = _stamp(event[len(b'{"ingest":'):end + 1])
        else:
            stamp = msgspec.convert(orjson.loads(event)["ingest"], Ingest)
    except (*REFUSALS, KeyError, TypeError):
        return None
    return stamp if stamp.seq >= 0 else None
