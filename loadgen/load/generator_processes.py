"""The generator processes of one experiment, and what they leave behind."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from common import modules
from common.process.child import await_end, ends_with_parent, python
from common.settings import Settings
from common.storage import files
from ingest.manifest import manifest_path
from ingest.pacer import Pacer
from ingest.sources.content import Size, Workload
from ingest.sources.realistic.ahead import blocks, make_room
from ingest.sources.realistic.vocabulary import LANGUAGES
from loadgen.errors import GeneratorFailed
from loadgen.load.generator import Part, ahead_dir
from loadgen.load.shared_progress import SharedProgress
from loadgen.observe.samples import Offered

RATE_PER_PROCESS = 20_000.0
"""What one process brings with a core of its own is more; the rest of the stack wants the cores as well. Each further
process costs: its groups are smaller, and all of them wait for the same disk."""

MOST_AHEAD: dict[Workload, int] = {"realistic": 2_400_000, "cached": 1 << 17}
"""Tweets made before the schedule, by all processes together: two minutes at 20,000/s, each of 0.4 KB on disk, or what
memory has room for, where texts repeat anyway."""

MOST_AHEAD_BYTES = 1 << 30
"""Those of earlier experiments included: as many processes, and as many seeds, as they may have had."""

AHEAD_SECONDS = 100e-6
"""How long one may take."""

READY_SECONDS, START_SECONDS, END_SECONDS = 60.0, 0.5, 30.0
INTERRUPTED_SECONDS = 3.0
"""Instead of END_SECONDS once the experiment is given up: what its processes have left is removed anyway."""

STALE_US = 1_000_000


class Load:
    """`rate` tweets/s from `start()` until `end_at`; a context that leaves no process behind."""

    def __init__(self, settings: Settings, run: str, rate: float, payload: Size, seed: int, processes: int,
                 workload: Workload = "realistic", tweets: float = 0) -> None:
        """`tweets`: how many there will be, about; so many are made ahead, as far as MOST_AHEAD allows."""
        self._settings, self.rate = settings, rate
        self._folder = settings.state_dir / "load"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log = settings.log_dir / "load.log"
        path = self._folder / f"{run}.progress"
        self._progress = SharedProgress(path, processes, create=True)
        self._path = path
        ahead = -(-int(min(tweets, MOST_AHEAD[workload])) // processes)
        self._parts = [
            Part(settings.instance, f"{run}-{n}", rate, processes, n, payload, seed + n, str(path), workload, ahead)
            for n in range(processes)
        ]
        self._blocks = {path for part in self._parts for path in _blocks(settings, part)}
        self._processes: list[subprocess.Popen[bytes]] = []
        self._pacers: list[Pacer] = []
        self._end_us: int | None = None
        self._stopped = False

    @property
    def runs(self) -> list[str]:
        return [part.run for part in self._parts]

    def cpu_seconds(self) -> dict[str, float]:
        """What each process used so far, also when it has ended."""
        return {f"generator-{n}": self._progress.told("cpu_us", n) / 1e6 for n in range(len(self._parts))}

    def made_ahead(self) -> dict[str, float]:
        """What the processes have made before the schedule, in how long; 0 s of what was there already."""
        made = sum(path.stat().st_size for path in self._blocks if path.exists())
        seconds = max(self._progress.told("made_us", n) for n in range(len(self._parts))) / 1e6
        return {"tweets": sum(part.ahead for part in self._parts), "seconds": round(seconds, 2), "bytes": made}

    def start(self) -> int:
        """Makes room for what they make ahead, and starts the processes; returns when the schedule begins, on a whole
        second, in seconds since the epoch."""
        make_room(ahead_dir(self._settings), self._blocks, MOST_AHEAD_BYTES)
        with files.log_file(self._log, self._settings.log_max_bytes) as log:
            for part in self._parts:
                command = ends_with_parent(python(modules.Loadgen.GENERATOR, part.as_json()))
                # A session of its own: it gets its share of the cores as any process of the stack does, and Ctrl-C
                # reaches the experiment, which ends its generators in order.
                self._processes.append(subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
        seconds = READY_SECONDS + AHEAD_SECONDS * sum(part.ahead for part in self._parts)
        until = time.monotonic() + seconds
        while not self._progress.all("ready"):
            self.check()
            if time.monotonic() > until:
                raise GeneratorFailed(f"a generator did not start within {seconds:.0f} s: see {self._log}")
            time.sleep(0.02)
        start = int(time.time() + START_SECONDS) + 1
        each = self.rate / len(self._parts)
        self._pacers = [Pacer(each, start * 1_000_000 + part.offset_us()) for part in self._parts]
        self._progress.tell("start_us", start * 1_000_000)
        return start

    def check(self) -> None:
        """Raises GeneratorFailed if a process has ended with an error."""
        for process in [] if self._stopped else self._processes:
            if process.poll():
                raise GeneratorFailed.ended("a generator", self._log)

    def end_at(self, second: float) -> None:
        """Nothing is scheduled from then on; what was scheduled before is still published."""
        self._end_us = int(second * 1_000_000)
        self._progress.tell("end_us", self._end_us)

    def scheduled(self, second: float) -> int:
        """How many tweets are scheduled for times before this, and before the end."""
        us = min(int(second * 1_000_000), self._end_us or sys.maxsize)
        return sum(pacer.scheduled_before(us) for pacer in self._pacers)

    def unpublished(self, now: float) -> int:
        """Tweets scheduled by now that are not acknowledged: the backlog of *published*."""
        if self.has_ended():
            return 0
        return max(0, self.scheduled(now) - self._progress.sum("acknowledged"))

    def acknowledged(self) -> int:
        return self._progress.sum("acknowledged")

    def offered(self, now: float) -> Offered:
        """What became of the schedule up to now. What has not been taken is judged by what the process is doing."""
        on_schedule, blocked, late = (self._progress.sum(name) for name in ("on_schedule", "blocked", "late"))
        due_us = int((now - 0.5) * 1_000_000)  # what is due since is not late yet
        for n, pacer in enumerate(self._pacers):
            untaken = max(0, pacer.scheduled_before(due_us) - self._progress.told("taken", n))
            if self._is_held(n, now):
                blocked += untaken
            else:
                late += untaken
        return Offered(on_schedule + blocked + late, on_schedule, blocked, late)

    def has_ended(self) -> bool:
        return all(process.poll() is not None for process in self._processes)

    def stop(self, seconds: float = END_SECONDS) -> None:
        """Nothing more is taken; returns when the processes have ended, by force if they take longer."""
        self._stopped = True
        self._progress.tell("stop", 1)
        await_end(self._processes, seconds)

    def __enter__(self) -> Load:
        return self

    def __exit__(self, failure: object, *_: object) -> None:
        self.stop(END_SECONDS if failure is None else INTERRUPTED_SECONDS)
        self._path.unlink(missing_ok=True)

    def _is_held(self, n: int, now: float) -> bool:
        """Whether the process is in `send`. One that does not tell anything is, unless somebody stopped it."""
        if self._progress.told("sending", n):
            return True
        if now * 1_000_000 - self._progress.told("beat_us", n) < STALE_US:
            return False
        with suppress(psutil.Error):
            return bool(psutil.Process(self._processes[n].pid).status() != psutil.STATUS_STOPPED)
        return False


def _blocks(settings: Settings, part: Part) -> list[Path]:
    """What of the tweets made ahead a process has on disk."""
    if part.workload != "realistic":
        return []
    return blocks(ahead_dir(settings), part.seed, LANGUAGES, 0, part.ahead)


def remove_runs(settings: Settings, runs: Sequence[str]) -> None:
    """Removes archive and manifest of runs; what they left in streams, database and index is bounded there."""
    for run in runs:
        shutil.rmtree(settings.archive_dir / run, ignore_errors=True)
        manifest_path(settings, run).unlink(missing_ok=True)


def processes_for(rate: float, cores: int) -> int:
    """How many generator processes a rate takes; more than there are cores bring nothing."""
    return min(max(1, -(-int(rate) // int(RATE_PER_PROCESS))), cores)
