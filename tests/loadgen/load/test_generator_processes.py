"""What an experiment makes of what its generators tell; generators that run need a stream store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from audit import process as audits
from common.settings import Settings
from ingest.pacer import Pacer
from ingest.sources.content import Workload
from ingest.sources.realistic.ahead import BLOCK_BYTES, blocks
from ingest.sources.realistic.vocabulary import LANGUAGES
from loadgen.errors import GeneratorFailed, StackBroken
from loadgen.load import generator_processes as load_module
from loadgen.load import locust_users as users_module
from loadgen.load.generator import ahead_dir
from loadgen.load.generator_processes import Load, remove_runs
from loadgen.load.locust_users import Users
from loadgen.observe.samples import Offered
from loadgen.stack import Instance

START = 1_700_000_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(home=tmp_path)
    made.log_dir.mkdir(parents=True)
    return made


@pytest.fixture
def load(settings: Settings) -> Iterator[Load]:
    """Two processes, 100 tweets/s each from START, that sleep."""
    with Load(settings, "r", 200.0, "lean", 1, 2) as made:
        made._processes = [subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in "ab"]
        made._pacers = [Pacer(100.0, START * 1_000_000 + n * 5000) for n in range(2)]
        yield made
        for process in made._processes:
            process.communicate(b"\n")


def tell(load: Load, **numbers: float) -> None:
    for field, number in numbers.items():
        load._progress.tell(field, number)


def given_up(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """What a generator, users and an audit became that do not hear when their experiment is interrupted."""
    program = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    deaf = [sys.executable, "-c", program]

    def hung() -> subprocess.Popen[bytes]:
        child = subprocess.Popen(deaf, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        return child

    children = [hung(), hung()]
    monkeypatch.setattr(audits, "ends_with_parent", lambda _: deaf)
    load, users = Load(settings, "given-up", 100.0, "lean", 1, 1), Users(settings, 0)
    with suppress(KeyboardInterrupt), audits.auditing(settings, "tail", 60) as audit, load, users:
        audit.answers = True
        load._processes, users._process = children[:1], children[1]
        users._folder = tempfile.TemporaryDirectory()
        children.append(audit._process)
        raise KeyboardInterrupt
    return children


def test_one_that_is_given_up_waits_for_no_process_that_hangs(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All waits together leave a command that is interrupted its ten seconds."""
    began = time.monotonic()
    children = given_up(settings, monkeypatch)
    assert [child.returncode for child in children] == [-signal.SIGKILL] * 3
    assert time.monotonic() - began < 8


def test_one_that_is_interrupted_again_while_it_ends_leaves_no_process_that_goes_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generator would write anew what is removed of its run."""
    ended = subprocess.Popen.wait

    def impatient(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if timeout is not None:
            raise KeyboardInterrupt
        return ended(process)

    with monkeypatch.context() as patch:
        patch.setattr(subprocess.Popen, "wait", impatient)
        children = given_up(settings, monkeypatch)
    try:
        assert [child.returncode for child in children] == [-signal.SIGKILL] * 3
    finally:
        for child in children:
            child.kill()
            child.wait()


def test_a_log_above_its_bound_is_begun_anew_whoever_writes_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (load_module, users_module, audits):
        monkeypatch.setattr(module, "ends_with_parent", lambda _: ["false"])

    def generate() -> None:
        with Load(settings, "r", 100.0, "lean", 1, 1) as load, suppress(GeneratorFailed):
            load.start()

    def audit() -> None:
        with suppress(StackBroken), Instance(settings).auditing():
            pass

    def watch() -> None:
        with Users(settings, 1):
            pass

    for name, write in (("load", generate), ("load", audit), ("users", watch)):
        log = settings.log_dir / f"{name}.log"
        log.write_bytes(b"x" * (settings.log_max_bytes + 1))
        write()
        assert log.stat().st_size == 0, write.__name__


def test_what_is_scheduled_ends_with_the_schedule(load: Load) -> None:
    assert load.scheduled(START + 10) == 2000
    load.end_at(START + 5)
    assert load.scheduled(START + 10) == 1000
    tell(load, acknowledged=400)
    assert load.unpublished(START + 2) == 0
    assert load.unpublished(START + 10) == 200


def test_on_schedule(load: Load) -> None:
    tell(load, taken=1000, on_schedule=990, late=10, beat_us=(START + 10) * 1e6)
    assert load.offered(START + 10) == Offered(2000, 1980, 0, 20)


@pytest.mark.parametrize(("sending", "beat_s", "blocked", "late"), [
    (1, 10, 90, 0),  # it says that it is in send
    (0, 10, 0, 90),  # it says that it is not
    (0, 5, 90, 0),  # it has not said anything for long: held, and so is its interpreter
])
def test_what_has_not_been_taken_is_judged_by_what_the_process_does(
    load: Load, sending: int, beat_s: int, blocked: int, late: int
) -> None:
    tell(load, taken=860, on_schedule=860, sending=sending, beat_us=(START + beat_s) * 1e6)
    assert load.offered(START + 10) == Offered(1900, 1720, 2 * blocked, 2 * late)


def test_a_process_that_somebody_stopped_is_late_not_held(load: Load) -> None:
    for process in load._processes:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)  # returns when it has stopped, not when it was told to
    try:
        tell(load, taken=860, on_schedule=860, beat_us=(START + 5) * 1e6)
        found = load.offered(START + 10)
    finally:
        for process in load._processes:
            process.send_signal(signal.SIGCONT)
    assert (found.blocked, found.late) == (0, 180)


def test_a_generator_that_fails_is_told(load: Load, settings: Settings) -> None:
    (settings.log_dir / "load.log").write_text("Traceback\nValueError: no tweets\n")
    load._processes[0].kill()
    load._processes[0].wait()
    with pytest.raises(GeneratorFailed, match="no tweets"):
        load.check()


def test_users_that_end_by_themselves_are_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; sys.exit(input('Address in use'))"
    monkeypatch.setattr(users_module, "ends_with_parent", lambda _: [sys.executable, "-c", program])
    with Users(settings, 1) as users:
        assert users._process
        users._process.wait()
        with pytest.raises(GeneratorFailed, match="Address in use"):
            users.check()
        users.stop()
        users.check()


def test_archive_and_manifest_of_a_run_are_removed(settings: Settings) -> None:
    for run in ("one", "two"):
        (settings.archive_dir / run).mkdir(parents=True)
        (settings.archive_dir / run / "0.jsonl").write_text("{}")
        (settings.state_dir / "runs").mkdir(exist_ok=True)
        (settings.state_dir / "runs" / f"{run}.jsonl").write_text("{}")
    remove_runs(settings, ["one", "never"])
    assert [path.name for path in settings.archive_dir.iterdir()] == ["two"]
    assert [path.name for path in (settings.state_dir / "runs").iterdir()] == ["two.jsonl"]


@pytest.mark.parametrize(("workload", "tweets", "each"), [
    ("realistic", 1001, 501), ("realistic", 1e9, 1_200_000), ("cached", 1e9, 1 << 16), ("realistic", 0, 0)])
def test_no_more_is_made_ahead_than_is_needed_or_allowed(
    settings: Settings, workload: Workload, tweets: float, each: int
) -> None:
    with Load(settings, "r", 200.0, "lean", 1, 2, workload, tweets) as load:
        assert [(part.workload, part.ahead) for part in load._parts] == [(workload, each)] * 2


def test_what_was_made_ahead_is_told(settings: Settings) -> None:
    """That of this experiment alone: others had other seeds, or more of them."""
    with Load(settings, "r", 200.0, "lean", 1, 2, "realistic", 1000) as load:
        for seed, size in ((1, 5000), (2, 600), (3, 70)):
            for block in blocks(ahead_dir(settings), seed, LANGUAGES, 0, 5000):
                block.parent.mkdir(parents=True, exist_ok=True)
                block.write_bytes(bytes(size))
        load._progress.tell("made_us", 2_500_000, 1)
        assert load.made_ahead() == {"tweets": 1000, "seconds": 2.5, "bytes": 5600}
    with Load(settings, "r", 200.0, "lean", 1, 2, "cached", 1000) as load:
        assert load.made_ahead()["bytes"] == 0


def test_what_earlier_experiments_made_ahead_goes_once_there_is_no_room_beside_this_one(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_module, "MOST_AHEAD_BYTES", 2 * BLOCK_BYTES + 1000)
    monkeypatch.setattr(load_module, "ends_with_parent", lambda _: [sys.executable, "-c", "exit(1)"])
    made = [blocks(ahead_dir(settings), seed, LANGUAGES, 0, 5000) for seed in (1, 2, 3)]
    for age, block in enumerate(block for each in made for block in each):
        block.parent.mkdir(parents=True, exist_ok=True)
        block.write_bytes(bytes(400))
        os.utime(block, (age, age))
    with Load(settings, "r", 200.0, "lean", 1, 2, "realistic", 1000) as load, pytest.raises(GeneratorFailed):
        load.start()
    mine = [each[0] for each in made[:2]]
    assert {*ahead_dir(settings).glob("*/*")} == {*mine, *made[2]}
