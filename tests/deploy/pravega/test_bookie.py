"""What is done before the bookie's own process begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local.pravega import bookie


def test_a_bookie_keeps_its_identity_with_its_folder_and_is_another_one_without(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, replicas=3)
    names = [bookie.identity(settings, replica) for replica in range(4)]
    assert len(set(names)) == 4
    assert [bookie.identity(settings, replica) for replica in range(4)] == names
    made(settings)
    shutil.rmtree(bookie.folder(settings, 0))
    assert bookie.identity(settings, 0) not in names


def test_the_only_bookie_says_that_what_it_held_is_lost(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    bookie.identity(settings, 0)
    made(settings)
    bookie.identity(settings, 0)
    shutil.rmtree(bookie.folder(settings, 0))
    with pytest.raises(SystemExit, match=r"put it back from a backup, or .*murmur down --wipe --instance default"):
        bookie.identity(settings, 0)


def made(settings: Settings) -> None:
    """The ledgers' metadata, as its stamp says."""
    stamp = bookie.formatted(settings)
    stamp.parent.mkdir(parents=True)
    stamp.touch()
