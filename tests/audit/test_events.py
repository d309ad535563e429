"""Where the audit finds the stamp of a raw event."""

from __future__ import annotations

import json

import pytest

from audit.events import stamp_of
from common.tweets import Ingest
from ingest.sources.base import examine
from ingest.stamp import Stamper


def event(source: str, front: bool = True, seq: int = 7) -> bytes:
    stamp = {"sent_at_us": 1_700_000_000_000_000, "source": source, "run": "r", "seq": seq}
    made = {"ingest": stamp, "data": {"text": "x"}}
    return json.dumps(made if front else dict(reversed(made.items())), separators=(",", ":")).encode()


@pytest.mark.parametrize("front", [True, False])
@pytest.mark.parametrize("source", ["x", "}", '"}', '"},', "x" * 5000])
def test_whatever_the_source_is_called(source: str, front: bool) -> None:
    assert stamp_of(event(source, front)) == Ingest(1_700_000_000_000_000, source, "r", 7)


@pytest.mark.parametrize("position", ["host 1 2", '[{"offset":5}]', "}" * 2000])
def test_a_position_in_it_is_passed_over(position: str) -> None:
    payload = examine(b'{"data":{}}')._replace(position=position)
    assert stamp_of(Stamper("x", "r", 1 << 20).event(7, 5, payload)) == Ingest(5, "x", "r", 7)


@pytest.mark.parametrize("odd", [
    b"", b"{", b'{"ingest":', b'{"ingest":{}}', b'{"ingest":null}', b"[1]", b"\xff}", event("x", seq=-1),
    event("x", seq=1 << 63), event("x")[:40],
])
def test_what_has_no_stamp_has_none(odd: bytes) -> None:
    assert stamp_of(odd) is None
