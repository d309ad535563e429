"""Files that are there whole or not at all, or held by one process at a time."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from common.storage import files


def test_the_text_takes_the_place_of_the_former_one_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "one"
    file.write_text("a former, longer text")
    file.chmod(0o644)
    files.replace(file, "new")
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "one"
    file.write_text("former")
    with pytest.raises(UnicodeEncodeError):
        files.replace(file, "half of it \ud800")
    assert file.read_text() == "former"
    assert list(tmp_path.iterdir()) == [file]


def test_a_log_is_begun_anew_once_it_has_its_size_and_whoever_writes_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "load.log"
    with files.log_file(path, 5) as earlier:
        earlier.write(b"12345")
        with files.log_file(path, 5) as log:
            log.write(b"6")
        assert path.read_bytes() == b"123456"
        with files.log_file(path, 5) as log:
            earlier.write(b"7")
            log.write(b"8")
    assert path.read_bytes() == b"78"


def test_whether_a_file_is_held_and_how(tmp_path: Path) -> None:
    path = tmp_path / "one"
    with files.locked(path, os.O_CREAT):
        assert (files.is_held(path), files.is_held(path, alone=True)) == (True, True)
    with files.locked(path, shared=True), files.locked(path, shared=True):
        assert (files.is_held(path), files.is_held(path, alone=True)) == (True, False)
        with pytest.raises(BlockingIOError), files.locked(path):
            pytest.fail("it is held alone")
    assert not files.is_held(path)


def test_whoever_looks_neither_hinders_nor_is_taken_for_one_who_holds(tmp_path: Path) -> None:
    path, ended, looks, seen = tmp_path / "one", threading.Event(), [0, 0], [0, 0]
    path.touch()

    def look(n: int) -> None:
        while not ended.is_set():
            seen[n] += files.is_held(path)
            looks[n] += 1

    others = [threading.Thread(target=look, args=(n,)) for n in range(2)]
    for other in others:
        other.start()
    try:
        while min(looks) < 1000:
            assert not files.is_held(path)
        before = list(seen)
        for _ in range(3000):
            with files.locked(path):
                pass
    finally:
        ended.set()
        for other in others:
            other.join()
    assert before == [0, 0]


def test_a_pipe_is_not_held_and_nobody_waits_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not files.is_held(tmp_path / "pipe")


def test_a_file_that_was_removed_while_it_was_opened_is_not_what_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by who held it before: another one would hold the next file of that name."""
    path, hold, held = tmp_path / "one", files.hold, []

    def removed_first(descriptor: int, shared: bool = False) -> None:
        if not held:
            path.unlink()
        held.append(descriptor)
        hold(descriptor, shared)

    monkeypatch.setattr(files, "hold", removed_first)
    with files.locked(path, os.O_CREAT):
        assert files.is_held(path)
        assert len(held) == 2
    path.touch()
    held.clear()
    with pytest.raises(FileNotFoundError), files.locked(path):
        pytest.fail("it holds nothing")
