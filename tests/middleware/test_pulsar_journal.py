"""The durability class of a live server of Pulsar, here a process that only looks like one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from middleware.errors import Unreachable
from middleware.pulsar.journal import OPTION, SERVER, journal_durability


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Settings]:
    settings = Settings(home=tmp_path, middleware="pulsar")
    file = settings.state_dir / "conf" / "standalone.conf"
    file.parent.mkdir(parents=True)
    process = subprocess.Popen([sys.executable, "-c", "input()", SERVER, f"{OPTION}{file}"], stdin=subprocess.PIPE)
    yield settings
    process.communicate(b"\n")


@pytest.mark.parametrize(("lines", "expected"), [
    ("journalSyncData=true", "fsync"), ("journalSyncData = false", "page-cache"), ("# journalSyncData=false", "fsync"),
    ("journalSyncData=true\njournalWriteData=false", "page-cache"),
])
def test_it_is_what_its_configuration_file_says(server: Settings, lines: str, expected: str) -> None:
    (server.state_dir / "conf" / "standalone.conf").write_text(f"# journal\n{lines}\n")
    assert journal_durability(server) == expected


def test_the_server_of_another_instance_does_not_count(server: Settings) -> None:
    with pytest.raises(Unreachable, match="other"):
        journal_durability(Settings(home=server.home, middleware="pulsar", instance="other"))


def test_of_a_server_elsewhere_it_is_unknown(server: Settings) -> None:
    assert journal_durability(server.model_copy(update={"middleware_uri": "pulsar://elsewhere:6650"})) is None
