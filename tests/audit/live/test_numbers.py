"""Numbers of several accounts together, against sets of Python."""

from __future__ import annotations

import random

from audit.live.numbers import Numbers, Tally
from search.accounts import BLOCK, COMPLETE


def test_a_number_that_comes_again_is_one() -> None:
    numbers = Numbers()
    numbers.add([5, 5, BLOCK, 3])
    numbers.add([3, 2 * BLOCK])
    assert numbers.size == 4
    assert Tally().below(3 * BLOCK, 0, numbers.blocks, {}) == 4
    assert Tally().below(BLOCK + 1, 0, numbers.blocks, {}) == 3
    assert Tally().below(5, 0, numbers.blocks, {}) == 1


def test_what_is_in_any_of_the_sets_counts_once_and_only_below_the_end() -> None:
    chosen = random.Random(7)
    left, right = ({chosen.randrange(2 * BLOCK, 6 * BLOCK) for _ in range(5000)} for _ in range(2))
    one, other = Numbers(), Numbers()
    one.add(left)
    other.add(right)
    everything = left | right | set(range(2 * BLOCK)) | set(range(6 * BLOCK, 7 * BLOCK))
    for end in (0, 1, BLOCK, 2 * BLOCK + 77, 5 * BLOCK, 6 * BLOCK + 5, 9 * BLOCK):
        expected = sum(number < end for number in everything)
        assert Tally().below(end, 2, {**one.blocks, 6: COMPLETE}, other.blocks) == expected, end


def test_a_tally_that_is_asked_again_counts_as_a_new_one() -> None:
    chosen, tally, one, other = random.Random(7), Tally(), Numbers(), Numbers()
    end = 0
    for _ in range(300):
        end += chosen.randrange(2 * BLOCK)
        one.add([number for number in range(max(0, end - 3 * BLOCK), end) if chosen.random() < 0.999])
        other.add([chosen.randrange(end + 1) for _ in range(chosen.randrange(50))])
        for below in (chosen.randrange(end + 1), end):
            assert tally.below(below, 0, one.blocks, other.blocks) == Tally().below(below, 0, one.blocks, other.blocks)


def test_what_is_complete_between_both_is_not_looked_at_again() -> None:
    tally, one, other = Tally(), Numbers(), Numbers()
    one.add([number for number in range(50 * BLOCK) if number % BLOCK != 7])
    other.add(range(7, 50 * BLOCK, BLOCK))
    assert tally.below(50 * BLOCK, 0, one.blocks, other.blocks) == 50 * BLOCK
    assert tally.below(50 * BLOCK, 0, {}, {}) == 50 * BLOCK
    assert len(tally._counted) <= 1


def test_nothing_is_remembered_of_what_is_known_to_be_complete() -> None:
    tally, numbers = Tally(), Numbers()
    for end in range(BLOCK, 100 * BLOCK, BLOCK):
        numbers.add(range(end - BLOCK + 1, end))
        tally.below(end, 0, numbers.blocks, {})
    assert len(tally._counted) == 99
    tally.below(100 * BLOCK, 98, numbers.blocks, {})
    assert len(tally._counted) <= 2


def test_a_block_that_is_full_is_known_to_be() -> None:
    numbers = Numbers()
    numbers.add(range(BLOCK))
    assert numbers.blocks == {0: COMPLETE}
    numbers.add([7])
    assert numbers.size == BLOCK
