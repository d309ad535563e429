import gzip
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
import zstandard

from common.tweets import rfc3339
from ingest.manifest import Manifest
from ingest.resume import rest
from ingest.sources.base import examine
from ingest.sources.replay import Replay
from ingest.stamp import Stamper

LINES = [b'{"data":{"id":"1","author_id":"7"}}', b"", b"   ", b"not json", b'{"data":{"id":"2"}}\r',
         b"\xff\xfe", b"[1]"]
CONTENT = b"\n".join(LINES)
BODIES = [b'{"data":{"id":"1","author_id":"7"}}', b"not json", b'{"data":{"id":"2"}}', b"\xff\xfe", b"[1]"]


def in_frames(content: bytes) -> bytes:
    """As two compressed files put one after the other."""
    return zstandard.compress(content[:20]) + zstandard.compress(content[20:])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress, in_frames])
def test_every_line_that_is_not_blank_comes(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "any-name"
    file.write_bytes(pack(CONTENT))
    source = Replay([file])
    payloads = source.take([1] * 100)
    assert [payload.body for payload in payloads] == BODIES
    assert [payload.tweet is not None for payload in payloads] == [True, False, True, False, False]
    assert source.ended
    assert source.take([1]) == []


def test_files_come_one_after_the_other_in_groups(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_bytes(CONTENT)
    source = Replay(files)
    found = [payload.body for size in (1, 5, 2, 100) for payload in source.take([1] * size)]
    assert found == BODIES * 2


def test_skipping_counts_lines_that_came(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(CONTENT)
    source = Replay([file])
    source.skip(3)
    assert [payload.body for payload in source.take([1] * 100)] == BODIES[3:]


def test_now_dates_each_tweet_to_its_own_time_and_keeps_the_body(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(CONTENT)
    payloads = Replay([file], "now").take([1_790_000_000_000_000 + 1000 * n for n in range(5)])
    assert [payload.body for payload in payloads] == BODIES
    dates = [orjson.loads(payload.tweet)["data"]["created_at"] for payload in payloads if payload.tweet]
    assert dates == ["2026-09-21T14:13:20.000Z", "2026-09-21T14:13:20.002Z"]


def dated(*seconds: float) -> bytes:
    dates = [rfc3339(int((1_790_000_000 + second) * 1e6)).encode() for second in seconds]
    return b"\n".join(b'{"data":{"id":"%d","created_at":"%b"}}' % each for each in enumerate(dates))


def came(source: Replay, *at_s: float) -> list[int]:
    """How many come at each of these times."""
    return [len(source.take([int((5000 + at) * 1e6)] * 100)) for at in at_s]


@pytest.mark.parametrize("speed", [0.5, 1.0, 20.0])
def test_a_speed_keeps_them_as_far_apart_as_they_were_written(tmp_path: Path, speed: float) -> None:
    file = tmp_path / "a"
    file.write_bytes(dated(0, 0, 2, 2.5, 1, 10))
    source = Replay([file], speed=speed)
    assert came(source, 0, 1.9 / speed, 2.1 / speed, 2.6 / speed, 9.9 / speed, 10.1 / speed) == [2, 0, 1, 2, 0, 1]
    source.take([0])
    assert source.ended


def test_a_speed_waits_for_no_pause_above_a_minute(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(dated(0, 3600, 3601))
    assert came(Replay([file], speed=1), 0, 59, 60.5, 61.5) == [1, 0, 1, 1]


def test_what_has_no_date_comes_with_the_one_before_it_and_a_deletion_has_one(tmp_path: Path) -> None:
    file = tmp_path / "a"
    deletion = b'{"data":{"delete":{"event_at":"%b"}}}' % rfc3339(1_790_000_005_000_000).encode()
    lines = [b"no json", dated(0), b"[]", b'{"data":{"created_at":"?"}}', deletion, b"5", dated(5)]
    file.write_bytes(b"\n".join(lines))
    assert came(Replay([file], speed=1), 0, 4.9, 5.1) == [4, 0, 3]


def test_a_run_with_a_speed_is_continued_with_it(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(dated(0, 7, 8, 9))
    options = Replay([file], speed=2).options()
    source = rest(Manifest("r", "replay", 0, options, archived=1))
    assert isinstance(source, Replay)
    assert came(source, 0, 0.6, 1.1) == [1, 1, 1]
    assert "speed" not in Replay([file]).options()


def test_a_missing_file_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Replay([tmp_path / "nowhere"])


def test_what_an_archive_holds_is_replayed_as_it_came(tmp_path: Path) -> None:
    file, stamper = tmp_path / "archived", Stamper("http", "run-1", 1 << 20)
    file.write_bytes(b"".join(stamper.line(seq, 5, examine(body)) for seq, body in enumerate(BODIES)))
    assert Replay([file]).take([1] * 100) == [examine(body) for body in BODIES]


def test_what_only_looks_like_an_archive_is_a_payload(tmp_path: Path) -> None:
    stamp = b'{"sent_at_us":1,"source":"a","run":"b","seq":2}'
    lines = [b'{"ingest":{"run":"x"},"payload":{}}', b'{"ingest":%b,"data":{}}' % stamp]
    file = tmp_path / "raw"
    file.write_bytes(b"\n".join(lines))
    assert Replay([file]).take([1] * 100) == [examine(line) for line in lines]
