"""What is done before the bookie's own process begins."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from deploy.local.pravega import bookie

Usage = namedtuple("Usage", "total used free")


def test_on_a_full_disk_it_is_not_started_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    total = 1000 << 20
    left = [0, 19 << 20, 21 << 20]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total, 0, left.pop(0)))
    monkeypatch.setattr(bookie, "ROOM_SECONDS", 0.0)
    bookie.await_room(tmp_path)
    assert left == []
    assert capsys.readouterr().out.splitlines() == [
        "the disk is full: 0 MiB of 1000 are free. Starting once less than 98% of it are used"
    ]
    left.append(500 << 20)
    bookie.await_room(tmp_path)
    assert capsys.readouterr().out == ""
