"""What an experiment makes of samples and of its generators' progress; experiments themselves need a stack."""

from __future__ import annotations

from pathlib import Path

from common.tweets import STAGES
from loadgen.experiment import drained
from loadgen.load.generator import Part
from loadgen.load.generator_processes import processes_for
from loadgen.load.locust_users import read_stats
from loadgen.load.pushed import Pushed
from loadgen.load.shared_progress import SharedProgress
from loadgen.observe.samples import Offered, Sample


def sample(at: float, **backlog: int) -> Sample:
    return Sample(at, {stage: backlog.get(stage, 0) for stage in STAGES})


def test_a_backlog_is_gone_when_it_does_not_come_back() -> None:
    samples = [sample(60, ranked=5, searchable=9), sample(61, ranked=0, searchable=3),
               sample(62, ranked=2, searchable=3), sample(63, ranked=0, searchable=3)]
    assert drained(samples, 60) == {"published": 0, "enriched": 0, "ranked": 3, "searchable": None}
    assert drained([], 60) == dict.fromkeys(STAGES, None)


def test_progress_is_shared_by_its_path(tmp_path: Path) -> None:
    mine = SharedProgress(tmp_path / "b", 2, create=True)
    theirs = SharedProgress(tmp_path / "b", 2)
    theirs.tell("taken", 5, 1)
    theirs.tell("ready", 1)
    mine.tell("start_us", 1_700_000_000_000_123)
    assert (mine.sum("taken"), mine.told("taken", 0), mine.told("taken", 1)) == (5, 0, 5)
    assert mine.all("ready")
    assert not mine.all("taken")
    assert theirs.told("start_us", 1) == 1_700_000_000_000_123


def test_the_processes_share_one_even_schedule() -> None:
    parts = [Part("i", "r", 1000.0, 4, n, "lean", 1, "b") for n in range(4)]
    assert [part.offset_us() for part in parts] == [0, 1000, 2000, 3000]
    assert [processes_for(rate, 4) for rate in (1, 20_000, 20_001, 143_199)] == [1, 1, 2, 4]


def test_what_was_not_pushed_in_time_was_held_up() -> None:
    pushed = Pushed()
    pushed.add(50, 0.1)
    pushed.add(0, 0.1)
    pushed.add(50, 3.0)
    assert pushed.since(0, 150) == Offered(150, 50, 100, 0)
    assert pushed.since(50, 10) == Offered(10, 0, 10, 0)


def test_locusts_statistics() -> None:
    content = ("Type,Name,Request Count,Failure Count,Requests/s,50%,95%,99%,100%\n"
               "GET,trending,10,1,2.5,3,4,5,6\n,Aggregated,10,1,2.5,N/A,4,5,6\n")
    failures = "Method,Name,Error,Occurrences\nGET,trending,Wrong('old'),1\n"
    stats = read_stats(content, failures)
    assert stats["trending"] == {"requests": 10, "failures": 1, "errors": {"Wrong('old')": 1}, "per_s": 2.5,
                                 "latency_ms": {"p50": 3, "p95": 4, "p99": 5, "longest": 6}}
    assert stats["Aggregated"]["latency_ms"]["p50"] is None
    assert stats["Aggregated"]["errors"] == stats["trending"]["errors"]
