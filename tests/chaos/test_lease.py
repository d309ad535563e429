"""Leases over real processes: they end by themselves, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from chaos import disk
from chaos import guarded as guarding
from chaos.failure import Refused
from chaos.guarded import guarded
from chaos.lease import Lease, lease_file, read, registered, undo_abandoned
from common.process.identity import Identity, groups_of_session
from common.settings import Settings
from tests.stack import ROOT, eventually

BUSY = "while True: pass"
PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])"
OWN_GROUP = PARENT.replace(")", ", process_group=0)")
"""As Spark starts its workers in Python."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = Settings(home=tmp_path, instance="one")
    found.log_dir.mkdir(parents=True)
    return found


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes as a process manager does, each in a session of its own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*command: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(command or ("sleep", "300"), start_new_session=True))
        return started[-1]

    yield start
    for process in started:
        for group in groups_of_session(process.pid):
            os.killpg(group, signal.SIGKILL)
        process.wait()


def pause(process: subprocess.Popen[bytes], seconds: float = 30.0) -> Lease:
    found = Identity.of(process.pid)
    assert found
    return Lease("pause", "sleeper", found, seconds)


def is_stopped(pid: int) -> bool:
    return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)


def goes_on(pid: int) -> bool:
    return not is_stopped(pid)


def await_stopped(pid: int) -> None:
    eventually("it is stopped", lambda: is_stopped(pid), 10)


def test_a_pause_ends_by_itself(settings: Settings, start: Start) -> None:
    process = start()
    with guarded(settings, pause(process, 1.0)) as guard:
        await_stopped(process.pid)
        guard.wait(10)
        assert goes_on(process.pid)
    assert read(lease_file(settings.instance_dir, "sleeper")) is None


def test_a_pause_ends_at_once_with_the_block(settings: Settings, start: Start) -> None:
    process, lease_s = start(), 60.0
    began = time.monotonic()
    with guarded(settings, pause(process, lease_s)):
        await_stopped(process.pid)
    assert goes_on(process.pid)
    assert time.monotonic() - began < lease_s / 2


@pytest.mark.parametrize("script", [PARENT, OWN_GROUP])
def test_what_a_process_has_started_pauses_with_it(settings: Settings, start: Start, script: str) -> None:
    process = start(sys.executable, "-c", script)
    (child,) = eventually("it has a child", lambda: psutil.Process(process.pid).children(), 10)
    with guarded(settings, pause(process)):
        await_stopped(child.pid)
    assert goes_on(child.pid)


def test_a_slowed_process_has_its_share_of_the_time(settings: Settings, start: Start) -> None:
    """Counted by the process itself: on a busy machine its CPU time says little."""
    counts = "import time\nn = 0\nwhile True:\n time.sleep(0.002)\n n += 1\n print(n, flush=True)"
    process = subprocess.Popen([sys.executable, "-c", counts], start_new_session=True, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        process.stdout.readline()
        lease = replace(pause(process, 3.0), what="slow", share=0.2)
        stopped = looked = 0
        with guarded(settings, lease) as guard:
            while guard.poll() is None:
                stopped, looked = stopped + is_stopped(process.pid), looked + 1
                time.sleep(0.007)
        assert 0.5 < stopped / looked < 0.95
        assert goes_on(process.pid)
    finally:
        process.kill()
        process.communicate()


COMMAND = """
import sys, time
from chaos.guarded import guarded
from chaos.lease import Lease
from common.settings import Settings
with guarded(Settings(home=sys.argv[1], instance="one"), Lease.parsed(sys.argv[2])):
    print("begun", flush=True)
    time.sleep(300)
"""


@contextmanager
def command(settings: Settings, lease: Lease) -> Iterator[subprocess.Popen[bytes]]:
    """A command that holds the lease, in a process of its own."""
    process = subprocess.Popen([sys.executable, "-c", COMMAND, str(settings.home), str(lease)], cwd=ROOT,
                               env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def guard_of(command: subprocess.Popen[bytes]) -> psutil.Process:
    (guard,) = psutil.Process(command.pid).children()
    return guard


def test_a_command_that_is_killed_takes_its_lease_with_it(settings: Settings, start: Start) -> None:
    process = start()
    with command(settings, pause(process)) as holder:
        await_stopped(process.pid)
        holder.kill()
        eventually("it goes on", lambda: goes_on(process.pid), 10)


def test_what_a_killed_guard_has_left_is_undone_by_the_next_to_look(settings: Settings, start: Start) -> None:
    process = start()
    lease = pause(process)
    with command(settings, lease) as holder:
        await_stopped(process.pid)
        assert undo_abandoned(settings.instance_dir) == []  # somebody holds it
        guard = guard_of(holder)
        holder.send_signal(signal.SIGSTOP)  # else it would see to it itself
        guard.kill()
        eventually("nobody holds it", lambda: guard.status() == psutil.STATUS_ZOMBIE, 10)
        assert is_stopped(process.pid)
        assert undo_abandoned(settings.instance_dir) == [lease]
        assert goes_on(process.pid)
        assert undo_abandoned(settings.instance_dir) == []


def test_a_command_undoes_what_its_killed_guard_has_left(settings: Settings, start: Start) -> None:
    process = start()
    with guarded(settings, pause(process)) as guard:
        await_stopped(process.pid)
        guard.kill()
    assert goes_on(process.pid)


def test_a_command_that_is_interrupted_once_more_undoes_what_it_holds(
    settings: Settings, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = start()

    def interrupted(guards: list[subprocess.Popen[bytes]], seconds: float) -> None:
        for guard in guards:
            guard.kill()
            guard.wait()
        raise KeyboardInterrupt

    monkeypatch.setattr(guarding, "await_end", interrupted)

    def hold() -> None:
        with guarded(settings, pause(process)) as guard:
            await_stopped(process.pid)
            guard.send_signal(signal.SIGSTOP)  # else it might be faster

    with pytest.raises(KeyboardInterrupt):
        hold()
    assert goes_on(process.pid)


def test_another_process_of_the_same_id_is_not_touched(settings: Settings, start: Start) -> None:
    """It was stopped by somebody else, and was started later than the one that the lease is of."""
    process = start()
    os.kill(process.pid, signal.SIGSTOP)
    await_stopped(process.pid)
    lease = pause(process)
    other = replace(lease, process=lease.process._replace(started=lease.process.started - 1))
    path = lease_file(settings.instance_dir, "sleeper")
    path.parent.mkdir()
    path.write_text(str(other))
    assert undo_abandoned(settings.instance_dir) == [other]
    assert is_stopped(process.pid)


@pytest.mark.parametrize("script", [PARENT, OWN_GROUP])
def test_what_a_dead_process_has_started_goes_on(start: Start, script: str) -> None:
    process = start(sys.executable, "-c", script)
    (child,) = eventually("it has a child", lambda: psutil.Process(process.pid).children(), 10)
    lease = pause(process)
    for pid in (process.pid, child.pid):
        os.kill(pid, signal.SIGSTOP)
    process.kill()
    process.wait()
    lease.undo()
    eventually("it goes on", lambda: goes_on(child.pid), 10)


def test_a_process_has_one_lease_at_a_time(settings: Settings, start: Start) -> None:
    process = start()
    with (guarded(settings, pause(process)), pytest.raises(Refused, match="sleeper"),
          guarded(settings, pause(process))):
        pytest.fail("there are two")
    assert goes_on(process.pid)


def test_a_file_that_was_not_written_whole_tells_of_none(settings: Settings, start: Start) -> None:
    path = lease_file(settings.instance_dir, "sleeper")
    path.parent.mkdir()
    path.write_text('{"what": "pau')
    assert undo_abandoned(settings.instance_dir) == []
    lease = pause(start())
    with registered(path, lease):
        assert read(path) == lease
        assert {"pid": lease.process.pid, "started": lease.process.started} == dict(
            zip(("pid", "started"), json.loads(path.read_text())["process"], strict=True))


@pytest.mark.parametrize("text", ["null", "{}", "[1]", '{"process": 7}', '{"process": [7, 7], "who": "else"}'])
def test_a_file_that_tells_of_something_else_tells_of_none(settings: Settings, text: str) -> None:
    path = lease_file(settings.instance_dir, "sleeper")
    path.parent.mkdir()
    path.write_text(text)
    assert undo_abandoned(settings.instance_dir) == []


FILLED = """
import os, sys
from pathlib import Path
from chaos import disk
from chaos.guarded import guarded
from chaos.lease import Lease
from common.settings import Settings
from tests.stack import eventually
settings, lease = Settings(home=sys.argv[1], instance="one"), Lease.parsed(sys.argv[2])
folder = Path(lease.folder)
assert disk.shares_with(folder, [settings.instance_dir.parent]) is None
with guarded(settings, lease):
    eventually("there is no room", lambda: os.statvfs(folder).f_bavail == 0, 10)
assert os.statvfs(folder).f_bavail > 0
assert list(folder.iterdir()) == []
"""


def test_a_disk_is_full_for_a_while(settings: Settings, start: Start, tmp_path: Path) -> None:
    """One of 3 MiB and a bit, which nobody but this test's process sees."""
    folder = tmp_path / "small"
    folder.mkdir()
    lease = replace(pause(start()), what="fill-disk", folder=str(folder))
    script = 'mount -t tmpfs -o size=3080k none "$1" && shift && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(folder), sys.executable, "-c", FILLED, str(settings.home),
         str(lease)], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_end_of_a_lease_leaves_what_that_of_another_process_fills(start: Start, tmp_path: Path) -> None:
    first = replace(pause(start()), what="fill-disk", name="segment-store", folder=str(tmp_path))
    other = disk.filling(tmp_path, "segment-store-2")
    other.touch()
    first.undo()
    assert other.exists()
    replace(first, name="segment-store-2").undo()
    assert not other.exists()


def test_a_folder_on_the_disk_of_all_instances_shares_it(settings: Settings) -> None:
    there_is_none = settings.home / "none"
    assert disk.shares_with(settings.log_dir, [there_is_none, settings.home]) == settings.home
