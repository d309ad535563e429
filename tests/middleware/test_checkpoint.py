"""A checkpoint is read and moved as Spark keeps it."""

import itertools
from pathlib import Path

import pytest

from common.storage import files
from middleware.checkpoint import Batch, Checkpoint, SourceOffset, last_planned
from middleware.errors import MiddlewareError

INITIAL = ("0", "\0v1\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("offsets", "commits", "sources/0"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "sources" / "0" / "0").write_text("\0v1\nbegin")
    return tmp_path


def plan(folder: Path, number: int, end: str) -> None:
    (folder / "offsets" / str(number)).write_text(f'v1\n{{"batchWatermarkMs":{number}}}\n{end}')
    (folder / "offsets" / f".{number}.crc").write_text("sum")


def complete(folder: Path, number: int) -> None:
    (folder / "commits" / str(number)).write_text("v1\n{}")


def test_a_query_that_has_not_begun_stands_nowhere(tmp_path):
    assert Checkpoint(tmp_path / "none", INITIAL).committed() is None


def test_what_spark_notes_of_the_last_batch(folder):
    assert last_planned(folder) is None
    noted = '{"batchWatermarkMs":7,"conf":{"spark.sql.shuffle.partitions":"2"}}'
    (folder / "offsets" / "0").write_text("v1\n{}\na")
    (folder / "offsets" / "10").write_text(f"v1\n{noted}\nb")
    assert last_planned(folder) == Batch(2, 7)


@pytest.mark.parametrize("noted", ["{}", "[]", "x", '{"batchWatermarkMs":"x","conf":{}}'])
def test_a_batch_that_does_not_tell_is_an_error(folder, noted):
    (folder / "offsets" / "0").write_text(f"v1\n{noted}\na")
    with pytest.raises(MiddlewareError, match="offsets/0"):
        last_planned(folder)


def test_before_the_first_batch_is_complete_it_stands_where_it_began(folder):
    assert Checkpoint(folder, INITIAL).committed() == "begin"
    plan(folder, 0, "a")
    assert Checkpoint(folder, INITIAL).committed() == "begin"
    Checkpoint(folder, INITIAL).move(lambda offset: f"{offset}+")
    assert Checkpoint(folder, INITIAL).committed() == "begin+"
    assert (folder / "sources" / "0" / "0").read_text() == "\0v1\nbegin+"
    assert (folder / "offsets" / "0").read_text() == 'v1\n{"batchWatermarkMs":0}\na+'


def test_the_last_complete_batch_and_the_one_after_it_are_moved(folder):
    for number, end in enumerate("abc"):
        plan(folder, number, end)
    complete(folder, 0)
    complete(folder, 1)
    assert Checkpoint(folder, INITIAL).committed() == "b"
    Checkpoint(folder, INITIAL).move(str.upper)
    assert [(folder / "offsets" / str(n)).read_text()[-1] for n in range(3)] == ["a", "B", "C"]
    assert (folder / "offsets" / "1").read_text() == 'v1\n{"batchWatermarkMs":1}\nB'
    assert sorted(file.name for file in (folder / "offsets").iterdir()) == [".0.crc", "0", "1", "2"]
    assert (folder / "sources" / "0" / "0").read_text() == "\0v1\nbegin"


@pytest.mark.parametrize("commits", [[], [0, 1]])
def test_a_move_that_was_cut_off_is_seen_and_can_be_done_again(folder, monkeypatch, commits):
    """Wherever it ends: the query stands where it stood until all of it is moved."""
    for number, end in enumerate("abc"):
        plan(folder, number, end)
    for number in commits:
        complete(folder, number)
    before = Checkpoint(folder, INITIAL).committed()
    replace = files.replace
    for writes in itertools.count():
        done = iter(range(writes))

        def cut_off(path: Path, text: str, done=done) -> None:
            if next(done, None) is None:
                raise KeyboardInterrupt
            replace(path, text)

        monkeypatch.setattr(files, "replace", cut_off)
        try:
            Checkpoint(folder, INITIAL).move(str.upper)
            break
        except KeyboardInterrupt:
            assert Checkpoint(folder, INITIAL).committed() == before
    assert Checkpoint(folder, INITIAL).committed() == before.upper()


@pytest.mark.parametrize("content", ["v2\n{}\na", "v1\n{}\na\nb", ""])
def test_what_it_does_not_know_it_does_not_touch(folder, content):
    (folder / "offsets" / "0").write_text(content)
    complete(folder, 0)
    with pytest.raises(MiddlewareError, match="offsets/0"):
        Checkpoint(folder, INITIAL).move(str.upper)
    assert (folder / "offsets" / "0").read_text() == content


def test_an_offset_is_read_as_it_is_written():
    offset = SourceOffset('2026-"ß', [17, 0, 1 << 45])
    assert offset.text() == '{"life":"2026-\\"ß","next":[17,0,35184372088832]}'
    assert SourceOffset.parse("s", offset.text()) == offset


def test_an_offset_of_a_stream_that_is_no_more_lies_before_the_new_one():
    assert SourceOffset("1", [17, 4]).of("1") == [17, 4]
    assert SourceOffset("1", [17, 4]).of("2") == [-1, -1]


@pytest.mark.parametrize("text", ["", "17", '{"0":17}', '{"life":"1"}', '{"life":"1","next":7}', '{"next":["x"]}'])
def test_what_is_no_offset_is_an_error(text):
    with pytest.raises(MiddlewareError, match="not an offset of s in a checkpoint"):
        SourceOffset.parse("s", text)
