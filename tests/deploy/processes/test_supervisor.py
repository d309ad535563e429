"""A process manager with processes that die, that do not listen, and that are held: real ones, without a server."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from cli.streams import await_serving
from cli.up import LOOK_SECONDS, STREAMS_SECONDS, show_progress
from common.process import manager
from common.settings import Settings
from deploy.local import stack
from deploy.local.processes import supervisor, wait_ready
from deploy.local.processes.log_repeats import KEPT
from deploy.local.processes.spec import Process
from deploy.local.processes.supervisord import LONGEST_PAUSE_S, SOON_S, next_pause
from deploy.local.processes.wait_ready import Deaths, NotReady
from ingest.readback import READ_SECONDS
from middleware.registry import registry
from tests.deploy.conftest import Start
from tests.deploy.processes.supervised import ready, running
from tests.memory import Memory
from tests.stack import eventually


def test_a_server_that_dies_again_and_again_is_named_with_its_last_line(settings: Settings, start: Start) -> None:
    """Well before the other, which is waited for too, is late."""
    found = start(well="exec sleep 300", bookie="echo 'Mount point not found'; exit 1")
    began = time.monotonic()
    with pytest.raises(NotReady, match=r"bookie has died 3 times since it was started.*\n +Mount point not found\n"):
        ready(settings, found)
    assert time.monotonic() - began < found[0].ready_seconds / 2


def test_one_copy_that_dies_again_and_again_is_told_and_the_others_are_enough(settings: Settings, start: Start) -> None:
    two, broken, three = start(two="exec sleep 300", broken="exit 1", three="exec sleep 300")
    copies = [replace(one, copy_of="store", ready=lambda started: True) for one in (two, three)]
    told: list[tuple[str, str]] = []
    began = time.monotonic()
    found = ready(settings, [*copies, replace(broken, copy_of="store")], lambda name, why: told.append((name, why)))
    assert {process.name for process in found} == {"two", "three"}
    assert told == [("broken", "has died 3 times since it was started")]
    assert time.monotonic() - began < broken.ready_seconds / 2


def test_one_copy_that_is_late_is_told_and_the_others_are_enough(settings: Settings, start: Start) -> None:
    two, late = start(two="exec sleep 300", late="exec sleep 300")
    told: list[tuple[str, str]] = []
    copies = [replace(two, copy_of="store", ready=lambda started: True),
              replace(late, copy_of="store", ready_seconds=2)]
    assert ready(settings, copies, lambda name, why: told.append((name, why))) == copies[:1]
    assert told == [("late", "was not ready after 2 s")]


def test_two_copies_that_are_away_are_too_many(settings: Settings, start: Start) -> None:
    found = start(two="exec sleep 300", late="exec sleep 300", slow="exec sleep 300")
    copies = [replace(found[0], copy_of="store", ready=lambda started: True),
              *(replace(one, copy_of="store", ready_seconds=2) for one in found[1:])]
    with pytest.raises(NotReady, match=r"(late|slow) was not ready after 2 s"):
        ready(settings, copies, lambda name, why: None)


def test_a_copy_of_one_kind_does_not_stand_in_for_another_kind(settings: Settings, start: Start) -> None:
    one, other = start(one="exec sleep 300", other="exec sleep 300")
    told: list[str] = []
    away = [replace(one, copy_of="store", ready_seconds=2), replace(other, copy_of="log", ready_seconds=2)]
    assert ready(settings, away, lambda name, why: told.append(name)) == []
    assert sorted(told) == ["one", "other"]


def test_the_stream_store_is_not_waited_for_once_one_of_its_servers_dies_again_and_again(
    settings: Settings, start: Start
) -> None:
    start(bookie="echo 'Mount point not found'; exit 1")
    store = Memory(settings)
    store.down = True
    deaths = Deaths(settings)
    with pytest.raises(NotReady, match=r"bookie has died 3 times since it was started.*\n +Mount point not found\n"):
        await_serving(store, STREAMS_SECONDS, LOOK_SECONDS, meanwhile=lambda _: deaths.look())


def test_who_is_late_is_named_though_another_may_take_longer(settings: Settings, start: Start) -> None:
    late, slow = start(late="exec sleep 300", slow="exec sleep 300")
    began = time.monotonic()
    with pytest.raises(NotReady, match="late was not ready after 2 s") as named:
        ready(settings, [replace(late, ready_seconds=2), slow])
    assert time.monotonic() - began < slow.ready_seconds / 2
    assert "slow was not ready" not in str(named.value)


def test_a_server_that_dies_once_is_waited_for(settings: Settings, start: Start, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = f"[ -e {mark} ] && exec sleep 300; touch {mark}; exit 1"
    (one,) = start(late=command)
    again = Process(one.name, one.command, one.stage, ready=lambda started: mark.exists())
    assert ready(settings, [again]) == [again]


def test_what_does_not_listen_and_what_is_held_are_stopped_in_time(settings: Settings, start: Start) -> None:
    """One ignores SIGTERM, as Pravega's controller does; one is held by SIGSTOP; one has a child of the same kind."""
    deaf = "trap '' TERM; while true; do sleep 1; done"
    found = start(deaf=deaf, held="exec sleep 300", parent=f"({deaf}) & {deaf}", well="exec sleep 300")
    eventually("all run", lambda: len(running(settings)) == len(found), 30)
    pids = {info["name"]: info["pid"] for info in manager.ask(settings).getAllProcessInfo()}
    os.kill(pids["held"], signal.SIGSTOP)
    began = time.monotonic()
    supervisor.stop(settings, found)
    assert time.monotonic() - began < sum(one.stop_seconds for one in found) + supervisor.SHUTDOWN_SECONDS + 2
    # One that was killed last is taken note of by whoever inherits it, which may come a moment later.
    eventually("none is left", lambda: not any(map(psutil.pid_exists, pids.values())), 10)


def test_who_is_still_waited_for_is_told_again_and_again(
    settings: Settings, start: Start, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wait_ready, "TELL_SECONDS", 0.5)
    (late,) = start(late="exec sleep 300")
    with pytest.raises(NotReady, match="late was not ready after 3 s"):
        show_progress(settings, [replace(late, ready_seconds=3)], Deaths(settings), time.monotonic())
    told = capsys.readouterr().out.splitlines()
    assert len(told) > 1
    assert all(line.startswith("  late") and "not ready (see `murmur logs late" in line for line in told)


def test_a_push_is_waited_for_as_long_as_what_an_earlier_process_left_may_take(tmp_path: Path) -> None:
    everything = stack.applications(Settings(home=tmp_path))
    (ingest,) = [one for one in everything if one.name == "ingest-http"]
    assert ingest.ready_seconds >= READ_SECONDS + Process.ready_seconds


@pytest.mark.parametrize("middleware", registry())
def test_the_shares_of_all_stages_leave_time_within_ten_seconds(middleware: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, middleware=middleware)
    everything = stack.processes(settings)
    stages = {one.stage for one in everything}
    shares = [max(one.stop_seconds for one in everything if one.stage == stage) for stage in stages]
    assert sum(shares) + supervisor.SHUTDOWN_SECONDS <= 8.5


def test_pauses_before_a_start_grow_up_to_a_bound_and_begin_anew_after_a_long_life() -> None:
    pauses = [0.0]
    for _ in range(8):
        pauses.append(next_pause(pauses[-1], lived_s=5))
    assert pauses[1:5] == [1, 2, 4, 8]
    assert pauses[-1] == LONGEST_PAUSE_S
    assert next_pause(LONGEST_PAUSE_S, lived_s=SOON_S + 1) == 0


def test_a_process_that_dies_after_it_ran_is_not_started_at_once_for_ever(settings: Settings, start: Start) -> None:
    """It lives longer than the process manager calls a failed start, and so was started anew without a pause."""
    start(brief="echo begun; sleep 2.5; exit 1")
    log = settings.log_dir / "brief.log"
    times: list[float] = []
    until = time.monotonic() + 30
    while len(times) < 4 and time.monotonic() < until:
        if log.exists() and log.read_text().count("begun") > len(times):
            times.append(time.monotonic())
        time.sleep(0.05)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(gaps) == 3
    assert max(gaps[:2]) < gaps[2]  # it looks once a second, which can hide the step from one second to two


def test_a_line_that_a_process_repeats_is_kept_a_few_times_and_counted(settings: Settings, start: Start) -> None:
    (repeating,) = start(repeating="for n in $(seq 1000); do echo failed: $n; done; echo done; exec sleep 300")
    log = settings.log_dir / "repeating.log"
    eventually("all is written", lambda: log.exists() and "done\n" in log.read_text(), 30)
    assert log.read_text().splitlines() == [*(f"failed: {n}" for n in range(1, KEPT + 1)), "done"]
    supervisor.stop(settings, [repeating])
    assert log.read_text().splitlines()[-1].startswith(f"({1000 - KEPT} more lines like this one) failed: ")
