from collections.abc import Callable
from pathlib import Path

import pytest

from common.settings import Settings
from ingest.archive import Archive, compress, prune, read
from ingest.source import examine
from ingest.stamp import Stamper

RUN = "run-1"
STAMPER = Stamper("synthetic", RUN, 1 << 20)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, archive_rotate_bytes=2000, archive_max_bytes=1 << 20)


def lines(first: int, count: int) -> list[bytes]:
    return [STAMPER.line(seq, 5, examine(b'{"data":{"id":"%d"}}' % seq)) for seq in range(first, first + count)]


def write(settings: Settings, first: int, count: int, acknowledged: Callable[[str], int] = lambda run: 0) -> None:
    archive = Archive(settings, RUN, first, acknowledged)
    for seq in range(first, first + count):
        archive.append(lines(seq, 1), seq + 1)
    archive.close()


def files(settings: Settings) -> list[str]:
    return sorted(path.name for path in (settings.archive_dir / RUN).iterdir())


def seqs(settings: Settings, from_seq: int = 0) -> list[int]:
    return [entry.seq for entry in read(settings, RUN, from_seq)]


def test_everything_written_is_read_in_order(settings: Settings) -> None:
    write(settings, 0, 100)
    assert seqs(settings) == list(range(100))
    assert seqs(settings, 37) == list(range(37, 100))
    assert seqs(settings, 100) == []


def test_full_files_are_compressed_and_named_by_their_first_event(settings: Settings) -> None:
    write(settings, 0, 100)
    names = files(settings)
    assert len(names) > 3
    assert [name.endswith(".zst") for name in names] == [True] * (len(names) - 1) + [False]
    assert names[0] == "000000000000.jsonl.zst"


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_last_line_is_passed_over_and_its_number_used_again(settings: Settings, cut: int) -> None:
    write(settings, 0, 10)
    last = settings.archive_dir / RUN / files(settings)[-1]
    last.write_bytes(last.read_bytes()[:-cut])
    assert seqs(settings) == list(range(9))
    write(settings, 9, 5)
    assert seqs(settings) == list(range(14))


def test_a_torn_first_line_leaves_nothing(settings: Settings) -> None:
    folder = settings.archive_dir / RUN
    folder.mkdir(parents=True)
    (folder / "000000000000.jsonl").write_bytes(b'{"ingest":{"sent')
    write(settings, 0, 3)
    assert seqs(settings) == [0, 1, 2]


def test_a_compression_that_was_cut_off_changes_nothing(settings: Settings) -> None:
    write(settings, 0, 10)
    plain = settings.archive_dir / RUN / "000000000000.jsonl"
    content = plain.read_bytes()
    compress(plain)
    plain.write_bytes(content)  # as if killed between the two steps
    (settings.archive_dir / RUN / "000000000000.partial").write_bytes(b"half")
    assert seqs(settings) == list(range(10))


def test_the_bound_takes_the_oldest_but_spares_what_is_not_acknowledged(settings: Settings) -> None:
    write(settings, 0, 100)
    names = files(settings)
    third = int(names[2].partition(".")[0])
    prune(settings.archive_dir, 0, lambda run: third)
    assert files(settings) == names[2:]
    prune(settings.archive_dir, 0, lambda run: 100)
    assert files(settings) == names[-1:]


def test_an_archive_within_its_bound_is_left_alone(settings: Settings) -> None:
    write(settings, 0, 100)
    names = files(settings)
    prune(settings.archive_dir, 1 << 20, lambda run: 100)
    assert files(settings) == names


def test_the_bound_holds_while_writing(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, archive_rotate_bytes=2000, archive_max_bytes=3000)
    write(settings, 0, 1000, acknowledged=lambda run: 1000)
    assert sum(path.stat().st_size for path in (settings.archive_dir / RUN).iterdir()) <= 3000 + 2 * 2000
