"""Lines that repeat are limited, all others pass."""

from __future__ import annotations

import pytest

from deploy.local.processes.log_repeats import KEPT, KINDS, LINE_BYTES, MINUTE_S, Repeats


def closed(n: int) -> bytes:
    return b"2026-11-24 00:11:%02d.287 WARN  LedgerHandle - Attempt to add to closed ledger: %d\n" % (n % 60, n)


def test_the_first_of_a_kind_pass_and_the_others_are_counted_at_the_end_of_the_minute() -> None:
    repeats = Repeats()
    output = b"".join(repeats.passed(closed(n), now=100 + n / 100) for n in range(1000))
    assert output == b"".join(map(closed, range(KEPT)))
    later = repeats.passed(b"another\n", now=100 + MINUTE_S)
    assert later.splitlines()[0].startswith(b"(%d more lines like this one) 2026-11-24" % (1000 - KEPT))
    assert later.splitlines()[1:] == [b"another"]
    assert repeats.passed(closed(7), now=101 + MINUTE_S) == closed(7)


def test_lines_that_differ_in_words_all_pass() -> None:
    lines = [b"%s failed\n" % bytes([97 + n % 26, 97 + n // 26 % 26, 97 + n // 676]) for n in range(500)]
    assert Repeats().passed(b"".join(lines), now=100) == b"".join(lines)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_pieces_make_no_difference(size: int) -> None:
    output = b"".join(map(closed, range(100))) + b"one\n\ntwo\nthe end"
    repeats = Repeats()
    pieces = [repeats.passed(output[at : at + size], now=100) for at in range(0, len(output), size)]
    whole = Repeats()
    assert b"".join(pieces) + repeats.rest() == whole.passed(output, now=100) + whole.rest()


def test_a_line_without_an_end_and_ever_new_kinds_take_no_memory() -> None:
    repeats = Repeats()
    output = b"".join(repeats.passed(b"x" * 4096, now=100) for _ in range(100))
    assert len(output) + len(repeats.rest()) == 100 * 4096
    assert len(output) >= 100 * 4096 - 2 * LINE_BYTES
    for n in range(2 * KINDS):
        word = bytes(107 + n // 5**place % 5 for place in range(8))
        assert repeats.passed(word + b"\n", now=100) == word + b"\n"
    assert len(repeats._seen) <= KINDS
