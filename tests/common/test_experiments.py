"""Whether an experiment runs on an instance, as other processes see it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from common.experiments import disturbing, experimenting, is_running
from common.settings import Settings
from tests.stack import ROOT

HOLD = """
import sys
from common.experiments import experimenting
from common.settings import Settings
with experimenting(Settings(home=sys.argv[1])):
    print("held", flush=True)
    input()
"""


def test_an_instance_is_held_until_the_experiment_ends_however_it_does(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    settings.instance_dir.mkdir(parents=True)
    experiment = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        assert experiment.stdout
        assert experiment.stdout.readline() == b"held\n"
        for hold in (experimenting, disturbing):
            with pytest.raises(BlockingIOError), hold(settings):
                pytest.fail("there are two")
        assert is_running(settings)
    finally:
        experiment.kill()
        experiment.communicate()
    assert not is_running(settings)
    with experimenting(settings):
        pass


def test_several_may_disturb_it_and_no_experiment_begins_meanwhile(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    settings.instance_dir.mkdir(parents=True)
    with disturbing(settings), disturbing(settings):
        assert not is_running(settings)
        with pytest.raises(BlockingIOError), experimenting(settings):
            pytest.fail("it has begun")
    with experimenting(settings):
        pass
