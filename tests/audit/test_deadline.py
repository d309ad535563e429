"""The audit ends in time, whatever its servers do, and says what it could not judge."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from audit import follow, process
from audit.bounded_reader import TooLate
from audit.follow import answer, asked, complete
from audit.ledgers.run import Finding
from audit.process import AuditProcess, NotJudged
from cli.audit import CLEAN, NOT_CLEAN, NOT_JUDGED, ONLY_LOST, as_text, audit, status
from common.settings import Settings
from ingest.manifest import ManifestWriter, manifest_path
from middleware.errors import Unreachable
from tests.audit.chain import ALL, Chain


def stages(**changes: Any) -> dict:
    return {name: Finding(5, 5, **(changes if name == "stored" else {})).as_json() for name in ALL}


@pytest.mark.parametrize(("found", "expected"), [
    (stages(), CLEAN), (stages(missing=1), NOT_CLEAN), (stages(duplicated=1), NOT_CLEAN), (stages(aged_out=3), CLEAN),
    (stages(parked=1), CLEAN), (stages(lost_to_retention=1), ONLY_LOST),
    (stages(lost_to_retention=1, missing=1), NOT_CLEAN), (stages(lost_buckets=[(45, 50)]), ONLY_LOST),
])
def test_each_outcome_has_its_status(found: dict, expected: int) -> None:
    assert status(found) == expected


def test_given_up_buckets_are_shown() -> None:
    assert "ranked: given up" in as_text({"ranked": Finding(lost_buckets=[(45, 50)]).as_json()})


def test_no_round_begins_that_would_end_too_late() -> None:
    rounds = []

    def once(until: float) -> dict[str, Finding]:
        rounds.append(time.monotonic())
        return {"published": Finding(1, 0, 1)}

    until = time.monotonic() + 0.5
    assert complete(once, until)["published"].missing == 1
    assert len(rounds) == 1


@pytest.mark.parametrize("missing", [0, 1])
def test_a_round_that_is_cut_short_leaves_what_was_clean_before_it(missing: int) -> None:
    rounds = iter((Finding(2, 2 - missing, missing), None))

    def once(until: float) -> dict[str, Finding]:
        if found := next(rounds):
            return {"published": found}
        raise TooLate("tweets-raw")

    if missing:
        with pytest.raises(TooLate):
            complete(once, time.monotonic() + 600)
    else:
        assert complete(once, time.monotonic() + 600)["published"].clean


def test_a_stage_that_becomes_complete_is_waited_for() -> None:
    left = iter((2, 1, 0, 0, 0))
    found = complete(lambda until: {"published": Finding(2, 0, next(left))}, time.monotonic() + 600)
    assert found["published"].clean
    assert list(left) in ([], [0])


@pytest.mark.parametrize("error", [TooLate("tweets-raw"), Unreachable("nobody answers"), OSError("x")])
def test_what_cannot_be_read_is_not_judged_and_says_why(
    chain: Chain, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    class Broken:
        def follow(self, manifests: dict) -> None: ...

        def round(self, until: float) -> dict[str, Finding]:
            raise error

    monkeypatch.setattr(follow, "PAUSE_SECONDS", 0.05)
    said = answer(chain.settings, Broken(), {}, time.monotonic() + 0.2)
    assert str(error) in said["not_judged"]


HUNG = """
import sys, time
print('{"following": "x"}', flush=True)
sys.stdin.readline()
time.sleep(600)
"""


@pytest.fixture
def hung() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", HUNG], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    yield child
    child.kill()
    with suppress(BrokenPipeError):  # what was written to one that was dead
        child.communicate()


def test_an_audit_whose_server_never_answers_is_not_waited_for(hung: subprocess.Popen[bytes]) -> None:
    audited = AuditProcess(hung)
    audited.follows(60)
    with pytest.raises(NotJudged, match="held up"):
        audited.stages(None, timeout=0.2, grace=0.1)


def test_an_audit_that_was_killed_is_not_judged(hung: subprocess.Popen[bytes]) -> None:
    audited = AuditProcess(hung)
    audited.follows(60)
    hung.kill()
    with pytest.raises(NotJudged, match="ended"):
        audited.stages(["r"], timeout=60, grace=60)


def test_the_command_ends_although_its_process_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path, instance="hung")
    settings.save()
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.setattr(process, "ends_with_parent", lambda command: [sys.executable, "-c", HUNG])
    result = CliRunner().invoke(audit, ["--instance", "hung", "--timeout", "1"])
    assert result.exit_code == NOT_JUDGED
    assert "not judged" in result.output
    assert not [line for line in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
                if HUNG in Path(f"/proc/{line}/cmdline").read_text()], "it has left its process"


def test_a_run_of_which_nobody_knows_what_it_published_is_named(chain: Chain) -> None:
    chain.settings.state_dir.mkdir(parents=True, exist_ok=True)
    ManifestWriter.create(chain.settings, "whole", "test", {}).close()
    path = manifest_path(chain.settings, "torn")
    path.write_bytes(manifest_path(chain.settings, "whole").read_bytes().replace(b"#", b"?"))
    with chain.audit() as collector:
        said = [asked(chain.settings, collector, names, time.monotonic() + 600) for names in (None, ["whole"])]
    assert "torn.jsonl" in said[0]["not_judged"]
    assert tuple(said[1]["stages"]) == ALL


def test_a_failure_that_passes_is_waited_for(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    chain.flow("r", 10)
    failures = iter([Unreachable("a"), OSError("b")])

    def fail() -> None:
        if error := next(failures, None):
            raise error

    with chain.audit() as collector:
        chain.memory.on_poll = fail
        stages = answer(chain.settings, collector, chain.manifests, time.monotonic() + 600)["stages"]
    assert all(stage["found"] == 10 for stage in stages.values())
    assert next(failures, None) is None


def test_an_audit_that_reaches_nobody_says_why(tmp_path: Path) -> None:
    Settings(home=tmp_path, instance="nobody", port_base=1100).save()
    environment = {**os.environ, "MURMUR_HOME": str(tmp_path)}
    environment.pop("MURMUR_PORT_BASE", None)
    ended = subprocess.run([sys.executable, "-m", "audit.follow", "nobody", "head", "1e9"], env=environment,
                           capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert json.loads(ended.stdout)["not_judged"]
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(("is_up", "told"), [
    (True, {"following": "chain"}), (False, {"not_judged": "Unreachable: no"}),
])
def test_servers_that_are_just_started_again_are_waited_for(
    is_up: bool, told: dict, chain: Chain, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    away = iter([Unreachable("no"), Unreachable("no")])

    @contextmanager
    def collecting(*_: object) -> Iterator[None]:
        for error in away:
            raise error
        yield

    chain.settings.save()
    monkeypatch.setenv("MURMUR_HOME", str(chain.settings.home))
    monkeypatch.setattr(follow, "collecting", collecting)
    monkeypatch.setattr(follow, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(follow.manager, "is_running", lambda _: is_up)
    monkeypatch.setattr("sys.argv", ["", "chain", "head", str(time.monotonic() + 60)])
    monkeypatch.setattr("sys.stdin", io.StringIO())
    follow.main()
    assert json.loads(capsys.readouterr().out) == told


def child(program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_one_that_does_not_reach_the_servers_is_not_judged_with_its_reason() -> None:
    with child("""print('{"not_judged": "nobody"}')""") as one, pytest.raises(NotJudged, match="nobody"):
        AuditProcess(one).follows(60)


SLOW_TO_LEAVE = """
import pathlib, sys, time
print('{"following": "x"}', flush=True)
sys.stdin.read()
time.sleep(2)
pathlib.Path(sys.argv[1]).touch()
"""


def test_an_audit_that_answers_has_time_to_remove_its_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "left"
    monkeypatch.setattr(process, "ends_with_parent", lambda _: [sys.executable, "-c", SLOW_TO_LEAVE, str(left)])
    with process.auditing(Settings(home=tmp_path, instance="slow"), "head", 60) as audited:
        audited.follows(60)
    assert left.exists()
