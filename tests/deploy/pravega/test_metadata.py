"""The ledgers' metadata in ZooKeeper, which is all bookies'."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local import pravega
from deploy.local.pravega import bookie
from deploy.local.processes.spec import Probe
from tests.stack import PORT_BASE, ROOT, eventually

pytestmark = pytest.mark.server


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """Those of an instance of which only ZooKeeper runs."""
    (tmp_path / "jars").symlink_to(ROOT / ".murmur" / "jars")
    settings = Settings(home=tmp_path, port_base=PORT_BASE + 1800)
    pravega.write_configuration(settings)
    zookeeper = pravega.processes(settings)[0]
    with subprocess.Popen(zookeeper.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually("ZooKeeper answers", lambda: answers(zookeeper.ready), 60)
            yield settings
        finally:
            process.kill()


def answers(probe: Probe) -> bool:
    try:
        return probe(0.0)
    except OSError:  # not yet
        return False


def test_it_is_made_once_though_nothing_says_any_more_that_it_was(settings: Settings) -> None:
    """As where it was killed before it could say so."""
    pravega.write_one(settings, bookie.TEMPLATE, disk_full=1, folder=bookie.folder(settings, 0), identity="one")
    with pytest.raises(subprocess.CalledProcessError):
        instance_id(settings)
    bookie.format_once(settings)
    made = instance_id(settings)
    bookie.formatted(settings).unlink()
    bookie.format_once(settings)
    assert bookie.formatted(settings).exists()
    assert instance_id(settings) == made


def instance_id(settings: Settings) -> str:
    shell = bookie.zookeeper(settings, "get", bookie.INSTANCE_ID)
    output = subprocess.run(shell, check=True, capture_output=True, text=True, timeout=60).stdout
    (found,) = re.findall(r"^[0-9a-f]{8}-[0-9a-f-]{27}$", output, re.MULTILINE)
    return found
