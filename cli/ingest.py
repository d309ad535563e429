"""`murmur ingest`."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click

from cli import options
from common.process.ending import end_in_time
from common.settings import Settings
from common.storage.disk import DiskFull, make_folder
from common.storage.files import locked
from common.tweets import RAW
from ingest.ingester import Ingester, Progress
from ingest.manifest import ManifestWriter, RunExists, read_manifests
from ingest.publisher import RESUMABLE, Publisher, Stranded
from ingest.sources.base import KEYLESS, LIVE, Payload, Source
from middleware.driver import Middleware
from middleware.registry import connect

log = logging.getLogger(__name__)

SYNTHETIC_RATE = 100.0
REPORT_SECONDS = 1.0
GRACE_SECONDS, END_SECONDS = 4.0, 8.0
"""After Ctrl-C: how long it waits for acknowledgements, and when it ends whatever is still going on."""


@click.command()
@click.option("--source", "name", type=click.Choice(["synthetic", "replay", *KEYLESS, "x"]),
              help="Where tweets come from. Those of bluesky and wikimedia are live and need no key; they go on where "
                   "their last run ended, as far back as the servers have it.")
@click.option("--rate", type=click.FloatRange(min=0, min_open=True), help="Tweets per second, on a fixed schedule.  "
              "[default: 100 for synthetic; as fast as possible for the others]")
@click.option("--speed", type=click.FloatRange(min=0, min_open=True),
              help="Of a replay: as far apart as the tweets were written, so many times faster; 1 is as it was.")
@click.option("--limit", type=click.IntRange(min=1), help="End after so many tweets.")
@click.option("--path", "paths", type=click.Path(path_type=Path), multiple=True,
              help="File to replay: JSON lines, plain, gzip or zstd. May be given several times.")
@click.option("--timestamps", type=click.Choice(["recorded", "now"]), default="recorded", show_default=True,
              help="Of a replay: keep each tweet's date, or date it to the moment at which it is sent.")
@click.option("--seed", type=click.IntRange(min=0), help="Fixes the content of synthetic tweets.  "
              "[default: of the run's name]")
@options.payload
@options.workload
@options.languages
@options.odd
@click.option("--run", help="Name of the run.  [default: source and time]")
@click.option("--resume", is_flag=True, help="Finish the runs whose ingester died, instead of starting one.")
@click.argument("more_paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@options.instance
@options.as_json
def ingest(name: str | None, rate: float | None, speed: float | None, limit: int | None, paths: tuple[Path, ...],
           timestamps: str, run: str | None, resume: bool, more_paths: tuple[Path, ...], instance: str | None,
           as_json: bool, **invented: Any) -> None:
    """Send tweets through the pipeline, from a source or as the rest of an interrupted run."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    settings = options.known(instance)
    if bool(name) == resume:
        raise click.UsageError("give either --source or --resume")
    if speed and (rate or name != "replay"):
        raise click.UsageError("--speed is for a replay without --rate")
    stop = threading.Event()
    stop_on_signal(stop)
    with _alone(settings, name), connect(settings) as middleware:
        if resume:
            _print_resumed(_resume(settings, middleware, stop, as_json), as_json)
            return
        if name in KEYLESS:
            _end_former(settings, middleware, stop, as_json, str(name))
        run = run or f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
        files = [*paths, *more_paths]
        source = _source(settings, str(name), run, files, {"timestamps": timestamps, "speed": speed}, invented)
        rate = rate or (SYNTHETIC_RATE if name == "synthetic" else None)
        told = {**source.options(), "rate": rate, "limit": limit}
        producer = middleware.data.producer(RAW)  # fails before there is a run, if it fails
        try:
            manifest = ManifestWriter.create(settings, run, source.name, told)
        except (DiskFull, RunExists) as error:
            raise click.ClickException(str(error)) from error
        publisher = Publisher(settings, middleware, manifest, producer, stop)
        result = _drive(settings, source, publisher, manifest, stop, as_json)
    _print([result], as_json)


@contextmanager
def _alone(settings: Settings, name: str | None) -> Iterator[None]:
    """While this process takes in a live source no other one of the instance does, also where both begin at once."""
    if name not in LIVE:
        yield
        return
    make_folder(settings.state_dir)
    refusal = click.ClickException(f"another process of instance {settings.instance} takes in {name} already: a second "
                                   "one would bring all of it once more")
    with locked(settings.state_dir / f".{name}.lock", os.O_CREAT, refusal=refusal):
        yield


def _source(settings: Settings, name: str, run: str, files: list[Path], played: Mapping[str, Any],
            invented: Mapping[str, Any]) -> Source:
    """Each source is imported only when it is asked for."""
    if name == "replay":
        from ingest.sources.replay import Replay
        if not files:
            raise click.UsageError("a replay needs --path FILE")
        return Replay(files, **played)
    if files:
        raise click.UsageError("only a replay takes files")
    if name == "x":
        from ingest.sources.x import SampledStream
        return SampledStream(settings)
    if name in KEYLESS:
        from ingest.sources.live import WINDOW
        from ingest.tail import last_run_us, tail
        return live(settings, name, tail(settings, name, WINDOW), last_run_us(settings, name))
    from ingest.sources.synthetic import synthetic
    return synthetic(run, invented)


def live(settings: Settings, name: str, archived: Sequence[Payload] = (), since_us: int | None = None) -> Source:
    """One of KEYLESS, which goes on behind what was archived, or where that is gone at a time."""
    if name == "wikimedia":
        from ingest.sources.wikimedia import Wikimedia
        return Wikimedia(settings, archived, since_us)
    from ingest.sources.bluesky import Bluesky
    return Bluesky(settings, archived, since_us)


def _drive(settings: Settings, source: Source | None, publisher: Publisher, manifest: ManifestWriter,
           stop: threading.Event, quiet: bool) -> dict[str, Any]:
    """Runs the source to its end and finishes the run; a run that failed stays unfinished, to be resumed."""
    began = time.monotonic()
    run, before = manifest.manifest, publisher.acknowledged
    try:
        if source:
            ingester = Ingester(settings, source, publisher, run.options["rate"], grace_s=GRACE_SECONDS)
            ingester.run(run.options["limit"], stop, Reporter(quiet))
        publisher.finish()
    except (Stranded, DiskFull) as error:
        left = publisher.total - publisher.acknowledged
        log.error("run %s: %d tweets are acknowledged, %d archived and not acknowledged: %s",
                  run.run, publisher.acknowledged, left, error)
        raise click.exceptions.Exit(1) from error
    finally:
        if source:
            source.close()
        publisher.close()
    return {"run": run.run, "source": run.source, "total": publisher.total, "acknowledged": publisher.acknowledged,
            "refused": publisher.refused, "seconds": round(time.monotonic() - began, 3),
            "published": publisher.acknowledged - before}


def _end_former(settings: Settings, middleware: Middleware, stop: threading.Event, as_json: bool, name: str) -> None:
    """Before a source goes on behind its last archived event, everything up to there is published."""
    _resume(settings, middleware, stop, as_json, name)
    if stop.is_set():
        raise click.Abort
    for run in read_manifests(settings).values():
        if run.source == name and not run.finished:
            raise click.ClickException(f"another process takes in or finishes the run {run.run} of {name}: end it, or "
                                       "begin once it has ended")


def _resume(settings: Settings, middleware: Middleware, stop: threading.Event, as_json: bool,
            of: str | None = None) -> list[dict[str, Any]]:
    from ingest.resume import dead_runs, recover, rest

    results = []
    for manifest in dead_runs(settings, of):
        if stop.is_set():
            manifest.close()
            break
        try:
            publisher = recover(settings, middleware, manifest, stop)
        except Stranded as error:
            raise click.ClickException(f"run {manifest.manifest.run}: {error}") from error
        source = None if stop.is_set() else rest(manifest.manifest)
        results.append(_drive(settings, source, publisher, manifest, stop, as_json))
    return results


def _print_resumed(results: list[dict[str, Any]], as_json: bool) -> None:
    if not results and not as_json:
        click.echo("no run was interrupted")
        return
    _print(results, as_json)


def _print(results: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        sums = {key: sum(r[key] for r in results) for key in ("total", "acknowledged", "refused", "seconds")}
        names = {key: ",".join(r[key] for r in results) for key in ("run", "source")}
        click.echo(json.dumps({**names, **sums}))
        return
    for result in results:
        seconds = max(result["seconds"], 0.001)
        click.echo(
            f"run {result['run']}: {result['acknowledged']:,} tweets published, {result['refused']:,} refused, "
            f"{result['published'] / seconds:,.0f}/s over {seconds:,.1f} s"
        )


class Reporter:
    """Shows progress once a second; on a terminal, in one line that is written over."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._at, self._count = time.monotonic(), 0
        self._terminal = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._quiet or now - self._at < REPORT_SECONDS:
            return
        rate = (progress.acknowledged - self._count) / (now - self._at)
        self._at, self._count = now, progress.acknowledged
        line = f"{rate:>9,.0f}/s  {progress.acknowledged:>12,} published  {progress.refused:,} refused"
        if progress.behind_s >= REPORT_SECONDS:
            line += f"  {progress.behind_s:,.1f} s behind schedule"
        if left_out := [f"{count:,} {reason}" for reason, count in progress.left_out.items() if count]:
            line += f"  left out: {', '.join(left_out)}"
        click.echo(f"\r\033[K{line}" if self._terminal else line, err=True, nl=not self._terminal)


def stop_on_signal(stop: threading.Event) -> None:
    """The first signal ends the run cleanly, if that can be done in time; a second one ends at once.

    Either way the run can be resumed.
    """
    def handle(number: int, _: FrameType | None) -> None:
        if stop.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stop.set()
        end_in_time(END_SECONDS, RESUMABLE)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)
