"""Arithmetic of positions, and of the files of a partition."""

from pathlib import Path

import pytest

from middleware.data import Position
from middleware.kafka.retention import files


def at(**offsets: int) -> Position:
    return Position("stream", "life", {int(name.removeprefix("p")): offset for name, offset in offsets.items()})


@pytest.mark.parametrize(("position", "head", "before"), [
    (at(p0=5, p1=7), at(p0=5, p1=7), False),
    (at(p0=5, p1=7), at(p0=0, p1=6), False),
    (at(p0=5, p1=7), at(p0=5, p1=8), True),
    (at(p0=5), at(p0=5, p1=3), False),  # a partition that it knows nothing of
    (at(p0=5, p1=7), at(p1=7, p2=0, p3=0), True),  # partition 0 has ended before the head
    (at(p1=7, p2=1, p3=1), at(p0=5, p1=7), False),  # it has read partition 0 to its end
    (at(p0=5), at(), False),
])  # fmt: skip
def test_a_position_lies_before_the_head_where_events_are_gone(position, head, before):
    assert position.lies_before(head) is before


def test_it_is_moved_only_where_events_are_gone():
    assert at(p0=5, p1=7).moved_to(at(p0=9, p1=2)) == at(p0=9, p1=7)
    assert at(p0=5, p1=7).moved_to(at(p1=7, p2=1, p3=1)) == at(p1=7, p2=1, p3=1)
    assert not at(p0=5, p1=7).moved_to(at(p0=9, p1=9)).lies_before(at(p0=9, p1=9))


def test_bytes_between_offsets_by_the_files_of_a_partition(tmp_path: Path):
    for first, size in ((0, 1000), (10, 500), (30, 100)):
        (tmp_path / f"{first:020}.log").write_bytes(bytes(size))
        (tmp_path / f"{first:020}.index").write_bytes(bytes(7))
    found = files(tmp_path, 40)
    assert sum(file.between(0, 40) for file in found) == 1600
    assert sum(file.between(5, 20) for file in found) == 500 + 250
    assert sum(file.between(40, 40) for file in found) == 0


def test_a_partition_whose_last_file_is_empty(tmp_path: Path):
    for first, size in ((0, 1000), (10, 0)):
        (tmp_path / f"{first:020}.log").write_bytes(bytes(size))
    assert [file.size for file in files(tmp_path, 10)] == [1000]
