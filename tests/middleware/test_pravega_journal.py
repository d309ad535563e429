"""The durability class of a live bookie, here a process that only looks like one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from middleware.errors import Unreachable
from middleware.pravega.journal import BOOKIE, journal_durability, properties


@pytest.fixture
def bookie(tmp_path: Path) -> Iterator[Settings]:
    settings = Settings(home=tmp_path)
    file = settings.state_dir / "conf" / "bookkeeper.conf"
    file.parent.mkdir(parents=True)
    file.write_text("journalSyncData=true\n")
    process = subprocess.Popen([sys.executable, "-c", "input()", BOOKIE, "--conf", str(file)], stdin=subprocess.PIPE)
    yield settings
    process.communicate(b"\n")


@pytest.mark.parametrize(("line", "expected"), [
    ("journalSyncData=true", "fsync"), ("journalSyncData = false", "page-cache"),
    ("# journalSyncData=false", "fsync"), ("journalSyncData=true\njournalSyncData=false", "page-cache"),
])
def test_it_is_what_its_configuration_file_says(bookie: Settings, line: str, expected: str) -> None:
    (bookie.state_dir / "conf" / "bookkeeper.conf").write_text(f"# journal\n{line}\n")
    assert journal_durability(bookie) == expected


def test_the_bookie_of_another_instance_does_not_count(bookie: Settings) -> None:
    with pytest.raises(Unreachable, match="other"):
        journal_durability(Settings(home=bookie.home, instance="other"))


def test_of_a_server_elsewhere_it_is_unknown(bookie: Settings) -> None:
    assert journal_durability(bookie.model_copy(update={"middleware_uri": "tcp://elsewhere:9090"})) is None


@pytest.mark.parametrize(
    ("line", "expected"), [("journalSyncData=true", "fsync"), ("journalSyncData=false", "page-cache")])
def test_of_a_bookie_whose_process_nobody_sees_it_is_what_that_begins_with(
    tmp_path: Path, line: str, expected: str
) -> None:
    settings = Settings(home=tmp_path, service_hosts=True)
    with pytest.raises(Unreachable, match="cannot be read"):
        journal_durability(settings)
    file = settings.state_dir / "conf" / "bookkeeper.conf"
    file.parent.mkdir(parents=True)
    file.write_text(f"{line}\n")
    assert journal_durability(settings) == expected


def test_properties_are_read_as_the_server_reads_them() -> None:
    assert properties("a=1\n#b=2\n\n c = x=y \na=3") == {"a": "3", "c": "x=y"}
