"""What may lie between two events of a partition of Pulsar, by the ledgers that there are and those that there were."""

from __future__ import annotations

from typing import Any, cast

import pytest

from middleware.pulsar.ledgers import Ledger, Ledgers
from middleware.pulsar.offsets import Origin, Place
from middleware.pulsar.reader import PartitionReader

ORIGIN = Origin(1, 0)
END_OF_3 = ORIGIN.offset(Place(3, 9, 1))


def ledgers(*listed: tuple[int, int]) -> Ledgers:
    return Ledgers(tuple(Ledger(number, entries, 100 * entries) for number, entries in listed))


@pytest.mark.parametrize(("known", "found", "first", "misses"), [
    (ledgers((3, 10), (5, 4)), ledgers((5, 8), (7, 1)), Place(5, 0, 0), False),  # 3 was read wholly
    (ledgers((3, 10), (5, 4)), ledgers((5, 8), (7, 1)), Place(5, 1, 0), True),
    (ledgers((3, 10), (5, 4), (7, 1)), ledgers((7, 8), (9, 1)), Place(7, 0, 0), True),  # and 5 not at all
    (ledgers((3, 10), (5, 0)), ledgers((7, 8), (9, 1)), Place(7, 0, 0), True),  # 5 was still empty then
    (ledgers(), ledgers((5, 8), (7, 1)), Place(5, 0, 0), True),  # nobody knows
])
def test_what_lies_between_is_missing_unless_all_of_it_was_known(
    known: Ledgers, found: Ledgers, first: Place, misses: bool
) -> None:
    reader = PartitionReader(cast(Any, None), "topic", ORIGIN, END_OF_3)
    reader.accept(known)
    assert reader.misses(found, ORIGIN.offset(found.first()), ORIGIN.offset(first)) == misses
