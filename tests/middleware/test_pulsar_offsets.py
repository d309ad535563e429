"""Places of events in a partition of Pulsar, and the integers that stand for them."""

import itertools

import pytest

from middleware.data import Position
from middleware.pulsar.offsets import MOST_INDEXED, Origin, Place

ORIGIN = Origin(7, 2)

PLACES = [Place(7, 3, 0), Place(7, 3, 1), Place(7, 3, MOST_INDEXED), Place(7, 4, 0), Place(7, (1 << 28) - 1, 5),
          Place(8, 0, 0), Place(8, 0, 1), Place(8, 3, 0), Place(1 << 22, 9, 2)]


def test_the_first_event_behind_the_origin_has_offset_0():
    """By which the audit knows that nothing is cut."""
    assert ORIGIN.offset(Place(7, 3, 0)) == 0
    assert ORIGIN.offset(Place(7, 2, 1)) == 0  # behind the origin itself: the end of what is empty
    assert ORIGIN.offset(Place(7, 0, 0)) == 0  # the beginning of its ledger
    assert not Position("s", "l", {0: ORIGIN.offset(Place(7, 0, 0))}).is_cut()


@pytest.mark.parametrize("place", PLACES)
def test_an_offset_leads_back_to_its_place(place: Place):
    assert ORIGIN.place(ORIGIN.offset(place)) == place


def test_offsets_are_in_the_order_of_places_and_fit_a_long():
    offsets = [ORIGIN.offset(place) for place in PLACES]
    assert all(one < next_ for one, next_ in itertools.pairwise(offsets))
    assert offsets[-1] < 1 << 63


def test_an_origin_is_kept_as_a_text():
    assert Origin.of(str(ORIGIN)) == ORIGIN


@pytest.mark.parametrize(("at", "event", "followed"), [
    (Place(7, 3, 0), Place(7, 3, 0), True),
    (Place(7, 3, 5), Place(7, 3, 5), True),
    (Place(7, 3, 5), Place(7, 4, 0), True),  # the entry had five events
    (Place(7, 3, 0), Place(7, 4, 0), False),  # entry 3 was not read at all
    (Place(7, 3, 5), Place(7, 5, 0), False),
    (Place(7, 3, 5), Place(7, 3, 6), False),
    (Place(7, 3, 5), Place(8, 0, 0), False),  # whether that was the last entry of its ledger the broker knows
])
def test_what_can_lie_between_two_events(at: Place, event: Place, followed: bool):
    assert at.is_followed_by(event) is followed
