"""One process of synthetic load: `python -m loadgen.load.generator JSON`, started by an experiment.

Open loop: tweet n of process k is scheduled for `start + (n + k / processes) * processes / rate` and stamped with that
time, whatever happens to the process. Everything else is as in `murmur ingest`: the same archive, publisher, manifest.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from common.process.garbage_collection import collect_seldom
from common.settings import Settings
from common.slowdown import delay_us, slow_down
from common.tweets import RAW
from ingest.ingester import Ingester, Progress
from ingest.manifest import ManifestWriter
from ingest.publisher import Publisher
from ingest.sources.base import Payload, Source
from ingest.sources.content import Size, Workload
from ingest.sources.synthetic import Synthetic
from loadgen.load.shared_progress import SharedProgress
from middleware.registry import connect

LOOK_SECONDS, BEAT_SECONDS = 0.002, 0.05


@dataclass(frozen=True)
class Part:
    """What one process is to do: `rate` in tweets/s is that of all processes together."""

    instance: str
    run: str
    rate: float
    processes: int
    process: int
    payload: Size
    seed: int
    progress: str
    workload: Workload = "realistic"
    ahead: int = 0
    """Tweets made before the schedule begins, which then come in turn with ids and dates of their own: what it takes
    to invent one is not what an experiment is about."""

    def as_json(self) -> str:
        return json.dumps(asdict(self))

    def offset_us(self) -> int:
        """By how much this process's schedule begins later than the first one's."""
        return int(self.process * 1_000_000 / self.rate)


def ahead_dir(settings: Settings) -> Path:
    return settings.state_dir / "load" / "ahead"


class Slowed(Source):
    """A source that takes its time, for tests."""

    def __init__(self, source: Source, delay_us: int) -> None:
        self.name, self._source, self._delay_us = source.name, source, delay_us

    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        slow_down(self._delay_us, len(sent_at_us))
        return self._source.take(sent_at_us)

    def options(self) -> dict[str, Any]:
        return self._source.options()


class Generation:
    """The run of one process, told about in the shared file."""

    def __init__(self, part: Part, progress: SharedProgress) -> None:
        self._part, self._progress = part, progress
        self._stop = threading.Event()

    def run(self) -> None:
        """Returns when everything scheduled is published, or when told to stop. Raises what the ingester raises."""
        part = self._part
        settings = Settings.load(instance=part.instance)
        tweets = Synthetic(part.run, part.seed, part.payload, part.workload)
        began = time.monotonic()
        tweets.make_ahead(part.ahead, ahead_dir(settings))
        self._tell(made_us=(time.monotonic() - began) * 1e6)
        source = Slowed(tweets, delay_us(settings, "generator"))
        with connect(settings) as middleware:
            producer = middleware.data.producer(RAW)
            manifest = ManifestWriter.create(settings, part.run, source.name, {**source.options(), "rate": part.rate})
            publisher = Publisher(settings, middleware, manifest, producer)
            collect_seldom()
            start_us = self._await_start() + part.offset_us()
            self._ingester = Ingester(settings, source, publisher, part.rate / part.processes, start_us)
            threading.Thread(target=self._beat, name="beat", daemon=True).start()
            try:
                self._ingester.run(None, self._stop, self._look)
                publisher.finish()
            finally:
                publisher.close()
            self._tell_progress()

    def _await_start(self) -> int:
        self._tell(ready=1, beat_us=time.time_ns() // 1000)
        while not (start_us := self._progress.told("start_us", self._part.process)):
            if self._progress.told("stop", self._part.process):
                self._stop.set()
                return time.time_ns() // 1000
            time.sleep(LOOK_SECONDS)
        return start_us

    def _beat(self) -> None:
        """Tells how far it is while the ingester may be waiting."""
        while True:
            self._tell_progress()
            if self._progress.told("stop", self._part.process):
                self._stop.set()
            time.sleep(BEAT_SECONDS)

    def _look(self, progress: Progress) -> None:
        """Takes note of the end of the schedule once it is known."""
        if self._ingester.limit is None and (end_us := self._progress.told("end_us", self._part.process)):
            self._ingester.limit = max(progress.taken, self._ingester.pacer.scheduled_before(end_us))

    def _tell_progress(self) -> None:
        progress, punctuality = self._ingester.progress(), self._ingester.punctuality
        self._tell(
            beat_us=time.time_ns() // 1000, taken=progress.taken, acknowledged=progress.acknowledged,
            on_schedule=punctuality.on_schedule, blocked=punctuality.blocked, late=punctuality.late,
            sending=int(progress.sending), cpu_us=time.process_time_ns() // 1000,
        )

    def _tell(self, **numbers: float) -> None:
        for field, number in numbers.items():
            self._progress.tell(field, number, self._part.process)


def main() -> None:
    part = Part(**json.loads(sys.argv[1]))
    Generation(part, SharedProgress(Path(part.progress), part.processes)).run()


if __name__ == "__main__":
    main()
