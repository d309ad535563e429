"""What the benchmark of Spark's data sources makes of its figures, and what it asks of a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.spark_sources.__main__ import arguments, remaining
from benchmarks.spark_sources.measures import small_commit
from benchmarks.spark_sources.progress import ended_ms, quantile
from benchmarks.spark_sources.results import OtherSetting, Results, largest
from benchmarks.spark_sources.source import AT_LEAST, EXACTLY, sources
from common.settings import Settings
from middleware.registry import connect, registry


class Writer:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}

    def format(self, name: str) -> Writer:
        return self

    def options(self, **given: str) -> Writer:
        self.given = given
        return self


def test_a_table_has_medians_and_tells_what_a_source_does_not_have(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.json", {})
    for rate in (1000.0, 3000.0, 2000.0):
        results.add("one", {"write, events/s": rate}, {})
    results.add("two", {"write, events/s": 5.4, "only here, ms": 7.0}, {})
    assert results.table().splitlines()[2:] == ["| write, events/s | 2,000 | 5 |", "| only here, ms | – | 7 |"]


def test_the_cpu_table_names_the_largest_three_by_their_medians() -> None:
    rounds = [{"spark": 1.0, "a": 4.0, "b": 0.5, "c": 0.1}, {"spark": 1.2, "a": 2.0, "b": 0.5, "c": 0.1},
              {"spark": 1.1, "a": 3.0, "b": 0.7, "c": 9.0}]
    assert largest(rounds) == "5.60: a 3.00, spark 1.10, b 0.50"
    assert largest([{"spark": 1.0, "idle": 0.001}]) == "1.00: spark 1.00"


def test_figures_are_added_to_those_of_the_same_setting_alone(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    Results.beside(file, {"events": 1}).add("one", {"ms": 1.0}, {"spark": 0.12345})
    Results.beside(file, {"events": 1}).add("one", {"ms": 2.0}, {"spark": 0.2})
    found = json.loads(file.read_text())
    assert found["figures"] == {"one": {"ms": [1.0, 2.0]}}
    assert found["cpu_seconds_per_million_events"] == {"one": {"ms": [{"spark": 0.123}, {"spark": 0.2}]}}
    with pytest.raises(OtherSetting, match="another setting"):
        Results.beside(file, {"events": 2})


def test_a_quantile_goes_by_weight() -> None:
    assert quantile([(1, 1), (2, 98), (3, 1)], 0.5) == 2
    assert quantile([(1, 1), (2, 98), (3, 1)], 0.995) == 3


def test_a_batch_ends_as_long_after_its_begin_as_it_took() -> None:
    progress = {"timestamp": "1970-01-01T00:00:01.500Z", "durationMs": {"triggerExecution": 250}}
    assert ended_ms(progress) == 1750


def test_what_is_left_goes_by_what_is_done() -> None:
    assert remaining(0, 60) == "begins"
    assert remaining(0.25, 300) == "5 min, about 15 left"


def test_a_commit_is_named_by_what_it_was() -> None:
    assert small_commit(EXACTLY, 1, False) == "commit of a small epoch exactly once, 1 partition, ms"
    assert small_commit(AT_LEAST, 4, True) == "commit of a small epoch with keys at least once, 4 partitions, ms"


def test_all_stores_are_measured_unless_some_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert arguments().parse_args(["--out", "x"]).middleware == list(registry())
    assert arguments().parse_args(["--out", "x", "--middleware", registry()[1]]).middleware == [registry()[1]]
    with pytest.raises(SystemExit):
        arguments().parse_args(["--out", "x", "--middleware", "unheard-of"])
    assert "unheard-of: not among" in capsys.readouterr().err


@pytest.mark.parametrize("name", registry())
def test_a_sink_is_given_what_its_store_says(name: str) -> None:
    """Without servers, which are asked nothing."""
    with connect(Settings(middleware=name)) as middleware:
        binding = middleware.spark.binding("any")
        first, *others = sources(name, middleware)
        for guarantee in first.guarantees:
            wanted = {**binding.write_options, **(binding.repeating_options if guarantee == AT_LEAST else {})}
            assert first.writer(Writer(), guarantee).given == wanted
        assert first.guarantees == ((EXACTLY, AT_LEAST) if binding.exactly_once else (AT_LEAST,))
        assert len(others) == bool(binding.tuning)
        for other in others:
            assert other.numbers is first.numbers
            assert set(binding.write_options) - set(other.writer(Writer(), AT_LEAST).given) <= binding.tuning
