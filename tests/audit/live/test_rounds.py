"""When a round ends: never by silence, and never for what came after it began."""

from __future__ import annotations

from audit.live.reading import History, Reading
from audit.live.rounds import Positions, Rounds, has_passed
from common.tweets import ENRICHED, RAW
from middleware.data import Position


def at(offset: int, stream: str = RAW, life: str = "one") -> Position:
    return Position(stream, life, {0: offset})


class Looks:
    """Each a second after the one before; what is known at it is its number."""

    def __init__(self) -> None:
        self.rounds = Rounds[int](["enrich", "search-consumer"])
        self.number = 0

    def look(self, raw: int, enrich: int, enriched: int, search: int, life: str = "one") -> int | None:
        self.number += 1
        positions = Positions(
            {RAW: at(raw, life=life), ENRICHED: at(enriched, ENRICHED)},
            {"enrich": at(enrich, life=life), "search-consumer": at(search, ENRICHED)},
        )
        return self.rounds.look(Reading(positions, self.number - 0.2, self.number - 0.1), self.number, self.number)


def test_it_ends_when_each_reader_has_passed_the_end_that_was_fixed_after_the_one_before() -> None:
    looks = Looks()
    assert looks.look(10, 10, 5, 5) is None  # it begins: these positions are older
    assert looks.look(10, 9, 5, 5) is None
    assert looks.look(20, 10, 6, 5) is None  # enrich has passed 10; more came, which is of the next round
    assert looks.look(20, 10, 8, 7) is None  # what enrich wrote ends at 8
    assert looks.look(20, 10, 9, 8) == 1
    assert looks.look(20, 20, 9, 9) is None
    assert [looks.look(20, 20, 9, 9) for _ in range(2)] == [None, 6]


def test_silence_ends_nothing() -> None:
    looks = Looks()
    assert {looks.look(10, 9, 5, 5) for _ in range(100)} == {None}


def test_a_stream_that_was_made_anew_has_the_round_begin_anew() -> None:
    looks = Looks()
    looks.look(10, 5, 5, 5)
    looks.look(10, 5, 5, 5)
    found = [looks.look(2, 2, 5, 5, life="two") for _ in range(5)]
    assert [one for one in found if one] == [4]


def test_who_stands_nowhere_in_a_partition_has_not_passed_it() -> None:
    end = Position(RAW, "one", {0: 5, 1: 0})
    assert not has_passed(Position(RAW, "one", {0: 9}), end)
    assert has_passed(Position(RAW, "one", {0: 5, 1: 0, 2: 1}), end)
    assert not has_passed(Position(RAW, "other", {0: 5, 1: 0}), end)


def test_a_history_tells_what_held_at_a_moment() -> None:
    history = History[str]()
    assert history.at(5) is None
    history.add("a", 1)
    history.add("b", 2)
    assert [history.at(moment) for moment in (0.5, 1.5, 2, 9)] == [None, "a", "b", "b"]
