"""What is done before the server's own process begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local.nats import folder, server


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(home=tmp_path, middleware="nats")
    settings.state_dir.mkdir(parents=True)
    server.begin_once(settings)
    return settings


def test_a_server_that_has_lost_its_folder_does_not_begin_anew_by_itself(settings: Settings) -> None:
    server.begin_once(settings)
    (folder(settings) / "jetstream").rmdir()
    with pytest.raises(SystemExit, match="is gone"):
        server.begin_once(settings)
    shutil.rmtree(folder(settings))
    for _ in range(2):
        with pytest.raises(SystemExit, match="murmur down --wipe --instance default"):
            server.begin_once(settings)
    folder(settings).mkdir()  # as where a disk is not mounted
    with pytest.raises(SystemExit, match="is gone"):
        server.begin_once(settings)


def test_a_beginning_that_was_killed_is_gone_on_with(settings: Settings) -> None:
    (settings.state_dir / "nats-begun").unlink()
    server.begin_once(settings)
    server.begin_once(settings)
