"""What the audit reads of events that may be anything."""

from __future__ import annotations

from contextlib import suppress

import msgspec
import orjson

from common.tweets import REFUSALS, Ingest

FRONT = b'{"ingest":'
HEAD_BYTES = 1024
"""The stamp stands at the front of a raw event, so that its body need not be parsed."""

_stamp = msgspec.json.Decoder(Ingest).decode


def stamp_of(event: bytes) -> Ingest | None:
    """The `ingest` object of a raw event; None if it has none."""
    if event.startswith(FRONT) and (end := event.find(b"}", 0, HEAD_BYTES)) > 0:
        with suppress(*REFUSALS):  # a brace in a string of it is no end
            return _stamp(event[len(FRONT):end + 1])
    try:
        return msgspec.convert(orjson.loads(event)["ingest"], Ingest)
    except (*REFUSALS, KeyError, TypeError):
        return None
