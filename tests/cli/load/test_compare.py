"""`murmur load compare` with searches that are invented, and no instance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.load import compare as command
from cli.load import instances
from cli.load.compare import status
from common.experiments import HELD, RESULTS
from common.storage import files
from loadgen.comparison.ranking import Run
from loadgen.comparison.rounds import Ended
from loadgen.comparison.searches import Search, Variant
from loadgen.errors import StackBroken
from loadgen.report.result import Spec
from middleware.registry import registry
from tests.loadgen.report.test_page import run as page_run

ONE, TWO, *_ = registry()
BASE = ("--middleware", f"{ONE},{TWO}", "--budget", "10")


class Laboratory:
    """Stands for instances and searches. `made`: the middleware and class of each search, and what it was told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.made: list[tuple[str, str]] = []
        self.specs: list[Spec] = []
        self.interrupted_in = self.breaks_in = -1
        self.commit = "abc"
        monkeypatch.setenv("MURMUR_HOME", str(home))
        monkeypatch.setattr(command, "started", self.started)
        monkeypatch.setattr(command, "search", self.search)
        monkeypatch.setattr(command, "commit", lambda: self.commit)
        monkeypatch.setattr(command, "host", lambda settings: page_run()["host"])
        monkeypatch.setattr(instances, "murmur", lambda *words, quiet: None)

    @contextmanager
    def started(self, variant: Variant, prefix: str, quiet: bool) -> Iterator[Variant]:
        yield variant

    def search(self, variant: Variant, spec: Spec, budget_s: float, warm_up_s: float, folder: Path, watcher: Any
               ) -> Run:
        if len(self.made) == self.interrupted_in:
            raise KeyboardInterrupt
        self.made.append((variant.middleware, variant.durability))
        self.specs.append(spec)
        if len(self.made) - 1 == self.breaks_in:
            raise StackBroken("no process")
        return page_run(variant.middleware, durability=variant.durability, commit=self.commit)


@pytest.fixture
def laboratory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Laboratory:
    (tmp_path / "home").mkdir()
    return Laboratory(monkeypatch, tmp_path / "home")


def compare(out: Path, *options: str) -> Result:
    return CliRunner().invoke(command.compare, [*BASE, "--out", str(out), *options])


def kept(out: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((out / RESULTS).read_text())
    return content


def test_it_searches_in_alternation_and_says_how_long_it_takes(laboratory: Laboratory, tmp_path: Path) -> None:
    result = compare(tmp_path / "out", "--repeat", "2")
    assert result.exit_code == 0, result.output
    assert laboratory.made == [(ONE, "fsync"), (TWO, "fsync"), (TWO, "fsync"), (ONE, "fsync")]
    assert "search 1 of 4; about 50 min for all that remain, until" in result.output
    assert kept(tmp_path / "out")["left"] == []
    assert not (tmp_path / "out" / HELD).exists()


def test_ended_it_goes_on_with_the_same_command(laboratory: Laboratory, tmp_path: Path) -> None:
    laboratory.interrupted_in = 1
    first = compare(tmp_path)
    assert first.exit_code == 1
    assert f"kept in {tmp_path}, and the same command goes on" in first.output
    assert kept(tmp_path)["left"] == [f"{TWO} (fsync), round 1"]
    laboratory.interrupted_in = -1
    second = compare(tmp_path)
    assert second.exit_code == 0
    assert laboratory.made == [(ONE, "fsync"), (TWO, "fsync")]
    assert f"1 of 2 searches are there already: {ONE} (fsync), round 1" in second.output
    third = compare(tmp_path)
    assert "2 of 2 searches are there already" in third.output
    assert len(laboratory.made) == 2


def test_another_version_of_the_code_is_a_warning(laboratory: Laboratory, tmp_path: Path) -> None:
    compare(tmp_path)
    laboratory.commit = "def"
    result = compare(tmp_path, "--repeat", "2")
    assert result.exit_code == 0
    assert "warning: not all searches are of the same version of the code: abc, def" in result.output
    assert kept(tmp_path)["mixed"]


@pytest.mark.parametrize("options", [
    ("--payload", "full"), ("--workload", "cached"), ("--budget", "11"), ("--slo-ms", "1000"), ("--users", "3"),
    ("--durability", "page-cache"),
])
def test_another_spec_is_an_error_that_names_the_way_out(laboratory: Laboratory, tmp_path: Path, options: tuple[str]
                                                         ) -> None:
    compare(tmp_path)
    before = (tmp_path / RESULTS).read_bytes()
    result = compare(tmp_path, *options)
    assert result.exit_code == 1
    assert "Choose another --out" in result.output
    assert (tmp_path / RESULTS).read_bytes() == before
    assert len(laboratory.made) == 2


def test_another_setting_of_the_environment_too(laboratory: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                ) -> None:
    compare(tmp_path)
    monkeypatch.setenv("MURMUR_PARTITIONS", "4")
    assert "setting partitions is 1 there and 4 now" in compare(tmp_path).output


def test_results_that_cannot_be_read_are_not_overwritten(laboratory: Laboratory, tmp_path: Path) -> None:
    compare(tmp_path)
    (tmp_path / RESULTS).write_text((tmp_path / RESULTS).read_text()[:-100])
    before = (tmp_path / RESULTS).read_bytes()
    result = compare(tmp_path)
    assert result.exit_code == 1
    assert "was left as it is" in result.output
    assert (tmp_path / RESULTS).read_bytes() == before


def test_sides_have_one_thing_otherwise(laboratory: Laboratory, tmp_path: Path) -> None:
    result = compare(tmp_path, "--side", "durability=page-cache", "--side", "payload=full")
    assert result.exit_code == 0, result.output
    assert [made[1] for made in laboratory.made] == ["fsync"] * 2 + ["page-cache"] * 2 + ["fsync"] * 2
    assert [spec.payload for spec in laboratory.specs] == ["lean"] * 4 + ["full"] * 2
    content = kept(tmp_path)
    assert [row["of"] for row in content["ranking"]] == [1, 1]
    assert list(content["sides"]) == ["durability=page-cache", "payload=full"]


@pytest.mark.parametrize(("side", "told"), [
    ("durability=fsync", "is what the main comparison has"), ("payload=lean", "is what the main comparison has"),
    ("payload=small", "choose of durability=page-cache"),
])
def test_a_side_that_is_none_is_refused(laboratory: Laboratory, tmp_path: Path, side: str, told: str) -> None:
    result = compare(tmp_path, "--side", side)
    assert (result.exit_code, told in result.output) == (2, True)


def test_it_ends_before_a_search_for_which_there_is_no_time(laboratory: Laboratory, tmp_path: Path) -> None:
    result = compare(tmp_path, "--hours", "0.1")
    assert result.exit_code == 4
    assert laboratory.made == []
    assert "2 searches are left, of which one takes about 12 min: what is kept goes on with\n  murmur" in result.output


def test_a_search_that_fails_ends_no_other(laboratory: Laboratory, tmp_path: Path) -> None:
    laboratory.breaks_in = 0
    result = compare(tmp_path)
    assert result.exit_code == 3
    assert len(laboratory.made) == 2
    assert f"{ONE} (fsync), round 1: failed: no process" in result.output
    assert kept(tmp_path)["left"] == [f"{ONE} (fsync), round 1"]
    assert compare(tmp_path).exit_code == 0
    assert laboratory.made[2:] == [(ONE, "fsync")]


def test_two_comparisons_do_not_share_a_folder_or_instances(laboratory: Laboratory, tmp_path: Path) -> None:
    with command.held(tmp_path / "out", "compare"):
        assert "another comparison writes to" in compare(tmp_path / "out").output
        assert "choose another --instance" in compare(tmp_path / "other").output
    assert laboratory.made == []
    assert not files.is_held(tmp_path / "other" / HELD)


def test_what_a_killed_one_left_running_is_removed_first(laboratory: Laboratory, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(instances, "murmur", lambda *words, quiet: said.append(words))
    (tmp_path / "home" / "instances" / f"compare-{TWO}-page-cache").mkdir(parents=True)
    (tmp_path / "home" / "instances" / "compare-mine").mkdir()
    compare(tmp_path / "out")
    assert said == [("down", "--wipe", "--yes", "--instance", f"compare-{TWO}-page-cache")]


def run(highest_pass: float | None, lowest_fail: float | None) -> Run:
    return {"capacity": {"highest_pass": highest_pass, "lowest_fail": lowest_fail}}


PASSED, FAILED, BROKEN = run(100, 200), run(None, 50), run(None, None)
SEARCH = Search(1, Variant("a", "fsync"))


@pytest.mark.parametrize(("runs", "expected"), [
    ([PASSED, PASSED], 0), ([PASSED, FAILED], 1), ([PASSED, BROKEN], 3), ([BROKEN, FAILED], 3),
])
def test_status(runs: list[Run], expected: int) -> None:
    assert status(Ended(runs, {}, [])) == expected


def test_status_of_what_is_not_whole() -> None:
    assert status(Ended([PASSED], {SEARCH: "why"}, [])) == 3
    assert status(Ended([PASSED], {SEARCH: "why"}, [SEARCH])) == 4
