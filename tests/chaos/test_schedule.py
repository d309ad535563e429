"""Which failures follow each other: the same for the same seed, and everything comes in turn."""

from __future__ import annotations

from itertools import islice

import pytest

from chaos.failure import CACHE, LONGEST_S
from chaos.schedule import Planned, schedule

NAMES = ["kafka", "milvus", CACHE, "search", "spark", "trending", "web-0"]


def first(seed: int, names: list[str], count: int = 200) -> list[Planned]:
    return list(islice(schedule(seed, names), count))


def test_it_is_a_function_of_the_seed_and_the_set_of_processes() -> None:
    assert first(7, NAMES) == first(7, NAMES[::-1])
    assert first(7, NAMES) != first(8, NAMES)
    assert first(7, NAMES) != first(7, NAMES[1:])


def test_every_process_has_its_turn_in_each_round_and_so_has_the_loss_of_the_cache() -> None:
    round_of = len(NAMES) + 1
    planned = first(7, NAMES, 2 * round_of)
    for round in (planned[:round_of], planned[round_of:]):
        assert sorted(one.failure.name for one in round) == sorted([*NAMES, CACHE])
        assert [one.failure.name for one in round if one.failure.what == "flush-cache"] == [CACHE]


def test_what_lasts_is_within_the_bound_and_most_are_kills() -> None:
    failures = [one.failure for one in first(7, NAMES, 1000)]
    kinds = [failure.what for failure in failures]
    assert set(kinds) == {"kill", "pause", "slow", "flush-cache"}
    assert kinds.count("kill") > len(kinds) / 2 - 100
    for failure in failures:
        assert (failure.seconds > 0) is (failure.what in ("pause", "slow"))
        assert failure.seconds <= LONGEST_S
        assert (0 < failure.share < 1) is (failure.what == "slow")


def test_without_redis_no_cache_is_lost_and_without_processes_nothing() -> None:
    assert all(one.failure.what != "flush-cache" for one in first(7, ["spark", "web-0"]))
    with pytest.raises(ValueError, match="no processes"):
        next(schedule(7, []))
