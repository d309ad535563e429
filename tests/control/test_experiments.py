"""Experiments that the page asks for, on an instance on which none can be made."""

from __future__ import annotations

from typing import Any

import pytest

from common.experiments import experimenting
from common.settings import Settings
from tests.control.conftest import Ask

SMALL = {"rate_per_s": 100, "seconds": 10}


@pytest.mark.parametrize("body", [
    {"rate_per_s": 0}, {"rate_per_s": -1}, {"rate_per_s": 1e9}, {"rate_per_s": "NaN"}, {"rate_per_s": None},
    {**SMALL, "seconds": 9}, {**SMALL, "seconds": 301}, {**SMALL, "seconds": 10.5}, {**SMALL, "workload": "other"},
    {**SMALL, "folder": "/tmp"}, {}, [], "10",
])
def test_rate_and_length_are_bounded(opened: Ask, settings: Settings, body: Any) -> None:
    answer = opened("experiments", body)
    assert (answer.status_code, answer.mimetype) == (400, "application/problem+json")
    assert not settings.experiments_dir.exists()


def test_there_is_one_at_a_time(opened: Ask, settings: Settings) -> None:
    with experimenting(settings):
        answer = opened("experiments", SMALL)
    assert answer.status_code == 409
    assert "an experiment runs" in answer.json["detail"]


def test_what_does_not_begin_says_why(opened: Ask, settings: Settings) -> None:
    settings.save()
    for _ in range(2):  # what did not begin keeps no other from it
        answer = opened("experiments", SMALL)
        assert (answer.status_code, answer.mimetype) == (503, "application/problem+json")
        assert "the instance is not running" in answer.json["detail"]
