"""What is done before the broker's own process begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local.kafka import broker, folder


def stored(settings: Settings, replica: int) -> None:
    """What a formatted broker has in its folder, as far as it is looked at."""
    log = folder(settings, replica) / "log"
    log.mkdir(parents=True)
    (log / "meta.properties").touch()


@pytest.mark.parametrize(("replicas", "way_out"), [(1, "murmur down --wipe --instance default"), (3, "neither lags")])
def test_a_broker_that_has_lost_its_folder_does_not_begin_anew_by_itself(
    tmp_path: Path, replicas: int, way_out: str
) -> None:
    settings, replica = Settings(home=tmp_path, middleware="kafka", replicas=replicas), replicas - 1
    stored(settings, replica)
    broker.formatted(settings, replica).touch()
    broker.format_once(settings, replica)
    shutil.rmtree(folder(settings, replica))
    with pytest.raises(SystemExit, match=way_out):
        broker.format_once(settings, replica)
    assert not folder(settings, replica).exists()
