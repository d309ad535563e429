"""When a disk counts as full."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from deploy.local import disk

Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize(("total", "left"), [(1 << 30, 0.02 * (1 << 30)), (50 << 30, 1 << 30), (10 << 40, 1 << 30)])
def test_a_disk_is_full_at_two_percent_or_a_gibibyte(total: int, left: float) -> None:
    assert disk.room(total) == round(left)
    assert (1 - disk.full_share(total)) * total == pytest.approx(left)


def test_a_server_does_not_start_on_a_full_disk_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    total = 1000 << 20
    left = [0, 0, 19 << 20, 21 << 20]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total, 0, left.pop(0)))
    monkeypatch.setattr(disk, "ROOM_SECONDS", 0.0)
    disk.await_room(tmp_path)
    assert left == []
    assert capsys.readouterr().out.splitlines() == [
        "the disk is full: 0 MiB of 1000 are free. Starting once 20 MiB are"
    ]
    left.append(500 << 20)
    disk.await_room(tmp_path)
    assert capsys.readouterr().out == ""
