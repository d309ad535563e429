"""What others find in the folder of an experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from common.experiments import HELD, PROGRESS, RESULTS
from common.settings import Settings
from common.storage import files
from common.tweets import STAGES
from loadgen.errors import StackBroken
from loadgen.observe.samples import Sample
from loadgen.report import kept
from loadgen.report.kept import INTERRUPTED, Kept
from loadgen.report.result import Spec
from tests.cli.load.test_display import result

CALLED = "murmur load run --rate 1000"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of servers that do not run here."""
    monkeypatch.setattr(kept, "described", lambda settings: {"middleware": settings.middleware, "commit": "abc"})


def read(folder: Path, name: str) -> dict[str, Any]:
    return json.loads((folder / name).read_text())


def test_while_it_runs_it_says_what_it_does_and_afterwards_its_result(tmp_path: Path) -> None:
    folder = tmp_path / "experiments" / "one"
    with Kept.of(Settings(home=tmp_path), Spec(1000), folder, CALLED) as one:
        assert files.is_held(folder / HELD)
        assert (read(folder, PROGRESS)["phase"], read(folder, PROGRESS)["at"]) == ("starting", None)
        one.watch("measuring", Sample(1.25, dict.fromkeys(STAGES, 7)))
        one.watch("measuring", Sample(1.5, dict.fromkeys(STAGES, 8)))
        told = read(folder, PROGRESS)
        one.finish(result())
    assert told == {
        "kind": "run", "started_at": told["started_at"], "command": CALLED, "instance": "default",
        "workload": "realistic", "rate": 1000, "seconds": 60, "payload": "lean", "users": 0, "middleware": "pravega",
        "commit": "abc", "phase": "measuring", "at": 1.2, "backlog": dict.fromkeys(STAGES, 7),
    }
    assert [path.name for path in folder.iterdir()] == [RESULTS]
    kept_result = read(folder, RESULTS)
    assert kept_result["experiments"] == [json.loads(json.dumps(result().as_json()))]
    assert (kept_result["kind"], kept_result["command"], kept_result["commit"]) == ("run", CALLED, "abc")


@pytest.mark.parametrize(("error", "reason"), [
    (StackBroken("spark has ended"), "spark has ended"), (KeyboardInterrupt(), INTERRUPTED),
])
def test_one_that_breaks_is_kept_with_the_reason(tmp_path: Path, error: BaseException, reason: str) -> None:
    folder = tmp_path / "one"
    with pytest.raises(type(error)), Kept.of(Settings(home=tmp_path), Spec(1000), folder, CALLED):
        raise error
    (broken,) = read(folder, RESULTS)["experiments"]
    assert (broken["verdict"], broken["reason"], broken["rate"]) == ("broken", reason, 1000)
    assert not (folder / PROGRESS).exists()
