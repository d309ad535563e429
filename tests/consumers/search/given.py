"""What the search consumer is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from common.tweets import to_json
from consumers.search import Search
from search.milvus_rows import WriteRequest
from tests.search.samples import tweet

TEXTS = ["Two goals in the last ten minutes", "Storm warning for the coast tonight", "My sourdough starter doubled"]


def place(index: int) -> str:
    return f"0/{index}"


def events(*ids: int, **other) -> list[bytes]:
    return [to_json(tweet(i, f"{TEXTS[i % 3]} {i}", **other)) for i in ids]


def stand_still(monkeypatch: pytest.MonkeyPatch, one: Search, meanwhile: Callable[[], None]) -> None:
    """Has `one` stand still once, with its tweets in the database and the requests for the index ready."""
    send, stood = WriteRequest.send, []

    def late(request: WriteRequest, client, timeout: float) -> None:
        if not stood:
            stood.append(request)
            meanwhile()
        send(request, client, timeout)

    monkeypatch.setattr(WriteRequest, "send", late)
