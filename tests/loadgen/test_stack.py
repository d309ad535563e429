"""The instance as experiments see it, without one that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.experiments import disturbing
from common.settings import Settings
from loadgen.errors import Busy
from loadgen.stack import Instance, running


def test_an_instance_takes_one_experiment_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path, instance="one")
    settings.instance_dir.mkdir(parents=True)
    monkeypatch.setattr(Instance, "processes", lambda self: {"spark": 1})
    with running(settings), pytest.raises(Busy, match="another experiment, or"), running(settings):
        pytest.fail("there are two")
    with disturbing(settings), pytest.raises(Busy, match="or `murmur chaos`, runs"), running(settings):
        pytest.fail("it has begun")
    with running(settings) as found:
        assert found.settings is settings
