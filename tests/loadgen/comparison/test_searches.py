"""Which searches a comparison is made of, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadgen.comparison.searches import MixedDurability, Search, Side, Variant, order, variants

A, B = Variant("a", "fsync"), Variant("b", "fsync")


def test_every_second_round_goes_back() -> None:
    assert [search.variant for search in order([A, B], 3)] == [A, B, B, A, A, B]
    assert [search.round for search in order([A, B], 3)] == [1, 1, 2, 2, 3, 3]


def test_side_comparisons_come_last_with_one_round_each() -> None:
    sides = [Side("durability", "page-cache"), Side("payload", "full")]
    found = list(order([A, B], 1, sides))
    assert found == [
        Search(1, A), Search(1, B),
        Search(1, B._replace(durability="page-cache"), "durability=page-cache"),
        Search(1, A._replace(durability="page-cache"), "durability=page-cache"),
        Search(1, A, "payload=full"), Search(1, B, "payload=full"),
    ]
    assert len({search.folder for search in found}) == len(found)
    assert found[-1].folder == Path("side-payload-full/b-fsync-1")
    assert str(found[-1]) == "b (fsync), round 1, aside with payload=full"


def test_raising_the_repetitions_and_adding_a_middleware_keeps_what_was_wanted_before() -> None:
    assert set(order([A], 1)) < set(order([A, B], 3))


def test_a_search_is_known_again_by_its_result() -> None:
    result = {"round": 2, "middleware": "a", "durability": "fsync", "side": "payload=full"}
    assert Search.made(result) == Search(2, A, "payload=full")


def test_classes_are_not_mixed_unless_asked_for() -> None:
    with pytest.raises(MixedDurability, match="something else in fsync and in page-cache"):
        variants(["a"], ["fsync", "page-cache"], across=False)
    assert variants(["a", "b", "a"], ["fsync", "fsync"], across=False) == [A, B]
    assert len(variants(["a", "b"], ["fsync", "page-cache"], across=True)) == 4


@pytest.mark.parametrize("text", ["durability", "durability=none", "rate=1", "", "payload=page-cache"])
def test_what_is_no_side_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(ValueError, match=r"durability=page-cache, durability=fsync, payload=lean, payload=full, wor"):
        Side.of(text)
