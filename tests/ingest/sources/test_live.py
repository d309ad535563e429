"""What live sources have in common, without a connection."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources.base import GROUP_BYTES, Payload, examine
from ingest.sources.live import Backoff, Inbox, Window, identifier
from tests.stack import eventually


def post(number: int) -> Payload:
    return examine(b'{"data":{"id":"%d"}}' % number)


def test_waits_grow_up_to_a_bound_with_chance_in_them_and_begin_anew() -> None:
    backoff = Backoff()
    for longest in (1, 2, 4, 8, 16, 32, 64, *[64] * 100):
        assert longest / 2 <= backoff.after_failure() <= longest
    assert len({backoff.after_failure() for _ in range(20)}) > 1
    backoff.succeeded()
    assert backoff.after_failure() <= 1


@given(st.lists(st.integers(0, 30), max_size=200))
def test_the_window_knows_the_last_ones_and_no_more(numbers: list[int]) -> None:
    window, known = Window([], 10), list[int]()
    for number in numbers:
        assert window.is_new(post(number)) == (number not in known)
        known = (known if number in known else [*known, number])[-10:]


@pytest.mark.parametrize("body", [
    b'{"data":{"delete":{"event_at":"1","tweet":{"id":"5","author_id":"a"}}}}',
    b'{"data":{"user_delete":{"event_at":"1","user":{"id":"a"}}}}',
])
def test_a_deletion_is_told_from_what_it_deletes(body: bytes) -> None:
    window = Window([post(5)])
    assert window.is_new(examine(body))
    assert not window.is_new(examine(body))
    assert not window.is_new(post(5))


def test_a_post_that_is_written_anew_may_be_deleted_anew() -> None:
    window, gone = Window([]), examine(b'{"data":{"delete":{"event_at":"1","tweet":{"id":"5","author_id":"a"}}}}')
    assert [window.is_new(payload) for payload in (gone, gone, post(5), gone, gone)] == [True, False, True, True, False]


def test_the_same_account_may_go_again() -> None:
    gone = b'{"data":{"user_delete":{"event_at":"%b","user":{"id":"a"}}}}'
    assert [Window([examine(gone % b"1")]).is_new(examine(gone % at)) for at in (b"1", b"2")] == [False, True]


def test_who_puts_waits_for_room_and_no_longer_than_the_source_is_open() -> None:
    inbox, closing, large = Inbox(), threading.Event(), post(1)._replace(body=b"x" * (GROUP_BYTES // 4))
    putting = threading.Thread(target=lambda: [inbox.put(large, closing) for _ in range(10)])
    putting.start()
    taken: list[Payload] = []

    def all_came() -> bool:
        got = inbox.take(3)
        taken.extend(got)
        assert sum(len(payload.body) for payload in got) <= GROUP_BYTES
        return len(taken) == 10
    eventually("all of them come", all_came)
    putting.join()
    waiting = threading.Thread(target=lambda: [inbox.put(large, closing) for _ in range(10)])
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    closing.set()
    waiting.join(60)
    assert not waiting.is_alive()


@given(st.text(max_size=40), st.text(max_size=40))
def test_an_id_fits_into_63_bits(one: str, other: str) -> None:
    found = identifier(one, other)
    assert found.isdecimal()
    assert 0 <= int(found) < 1 << 63


def test_ids_stay_what_they_were() -> None:
    """Those of posts that were taken in before are compared with them: another hash would bring all of them again."""
    assert identifier("did:plc:invented", "3kaaaa") == "39935383889986656"
