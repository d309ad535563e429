"""What lies between two places of a partition, by the list of its ledgers."""

import pytest

from middleware.pulsar.ledgers import MEASURED, Ledger, Ledgers
from middleware.pulsar.offsets import Place

FOUND = Ledgers((Ledger(3, 10, 1000), Ledger(5, 0, 0), Ledger(9, 4, 800)))


def measured(ledger: int, entry: int) -> int:
    """Size of an entry: of ledger 3 the first one is small."""
    return {3: 10 if entry == 0 else 110, 9: 200}[ledger]


def test_the_ledger_that_is_written_to_is_told_beside_the_list():
    stats = {"ledgers": [{"ledgerId": 3, "entries": 10, "size": 1000}, {"ledgerId": 5, "entries": 0, "size": 0}],
             "currentLedgerEntries": 4, "currentLedgerSize": 70}
    assert Ledgers.of(stats) == Ledgers((Ledger(3, 10, 1000), Ledger(5, 4, 70)))


@pytest.mark.parametrize(("first", "end", "entries"), [
    (Place(3, 0, 0), Place(9, 3, 7), 14),
    (Place(3, 9, 5), Place(9, 0, 0), 0),  # to the end of one ledger, and the beginning of the next that has entries
    (Place(3, 8, 5), Place(9, 0, 0), 1),
    (Place(3, 10, 0), Place(9, 0, 0), 0),
    (Place(9, 1, 0), Place(9, 3, 0), 2),
    (Place(9, 3, 7), Place(9, 3, 7), 0),
    (Place(1, 5, 0), Place(3, 2, 0), 2),  # what is gone is not counted
])
def test_entries_between_two_places(first: Place, end: Place, entries: int):
    assert FOUND.entries_between(first, end) == entries


@pytest.mark.parametrize(("first", "end", "size"), [
    (Place(3, 0, 0), Place(9, 3, 7), 1800),
    (Place(3, 0, 5), Place(9, 3, 7), 990 + 800),  # the small entry was read
    (Place(9, 3, 7), Place(9, 3, 7), 0),
    (Place(3, 0, 0), Place(3, 0, 5), 10),
])
def test_bytes_between_two_places_by_the_sizes_of_few_entries(first: Place, end: Place, size: int):
    assert FOUND.bytes_between(first, end, measured) == size


def test_of_many_entries_each_counts_as_large_as_any_other():
    many = Ledgers((Ledger(1, 10 * MEASURED, 1_000_000),))

    def never(ledger: int, entry: int) -> int:
        raise AssertionError("it asks for many entries")

    assert many.bytes_between(Place(1, 5 * MEASURED, 0), Place(1, 10 * MEASURED - 1, 1), never) == 500_000


def test_the_last_entries_are_found_across_ledgers():
    assert FOUND.last(1) == Place(9, 3, 0)
    assert FOUND.last(6) == Place(3, 8, 0)
    assert FOUND.last(64) == Place(3, 0, 0)


def test_a_ledger_is_complete_once_another_follows():
    assert FOUND.is_complete(Place(3, 9, 5))
    assert not FOUND.is_complete(Place(9, 3, 7))
    assert not FOUND.is_complete(Place(1, 0, 0))
