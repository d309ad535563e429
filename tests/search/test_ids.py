"""Reading the ids of an index while its oldest shard goes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from search.index import Index, IndexDown


class Rotating(Index):
    """Of its two shards the older one does not answer; `dropped`: because it is gone."""

    def __init__(self, dropped: bool) -> None:
        super().__init__("unused", "unused", 100)
        self.dropped, self.listed = dropped, 0

    def shards(self) -> list[int]:
        self.listed += 1
        return [2] if self.dropped and self.listed > 1 else [1, 2]

    def shard_ids(self, number: int) -> list[int]:
        if number == 1:
            raise IndexDown("no such collection")
        return [7, 8]


@pytest.fixture
def rotating(request: pytest.FixtureRequest) -> Iterator[Rotating]:
    index = Rotating(request.param)
    yield index
    index.close()


@pytest.mark.parametrize("rotating", [True], indirect=True)
def test_a_shard_that_is_dropped_meanwhile_is_passed_over(rotating: Rotating) -> None:
    assert list(rotating.ids()) == [7, 8]


@pytest.mark.parametrize("rotating", [False], indirect=True)
def test_a_shard_that_is_there_must_answer(rotating: Rotating) -> None:
    with pytest.raises(IndexDown):
        list(rotating.ids())
