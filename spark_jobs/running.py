"""The life of a Spark application: wait for what it needs, start its queries, end with the first that fails.

The process that runs this and Spark's JVM live and die together. If Python dies, the JVM sees its standard input end
and exits; since that takes a moment, a successor first ends what is left of it, so that no two drivers ever work on one
checkpoint. If the JVM dies, the next look at a query fails.
"""

from __future__ import annotations

import json
import logging
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from common.settings import Settings
from common.tweets import RAW, STREAMS
from middleware.driver import Middleware
from middleware.errors import MiddlewareError, Overtaken
from middleware.registry import connect
from spark_jobs.session import scratch_dir, spark_session

StartQuery = Callable[[SparkSession, Middleware], StreamingQuery]

WAIT_SECONDS = 180
"""How long to wait for the middleware and the streams."""

READY_SECONDS = 10.0
"""How much of that in one piece, between looks whether to stop."""

JVM_STOP_SECONDS = 30

LOOK_SECONDS = 0.5
"""How often to look whether all queries run."""

PREDECESSOR_SECONDS = 30.0
"""How long a JVM that was killed may take to be gone."""

OVERTAKEN_SECONDS = 60.0
"""How long to wait before the end if only a person can help: what restarts the application would do so on and on."""

log = logging.getLogger(__name__)


def run(name: str, starts: Sequence[StartQuery]) -> None:
    """Runs the queries until SIGTERM; exits with status 1 when one fails or what they need does not come.

    `<state_dir>/<name>.ready` exists from the moment at which every query has completed a trigger.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    settings = Settings.load()
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    ready, jvm = (settings.state_dir / f"{name}.{kind}" for kind in ("ready", "jvm"))
    ready.unlink(missing_ok=True)
    end_predecessor(jvm)
    shutil.rmtree(scratch_dir(settings, name), ignore_errors=True)  # what a killed predecessor could not remove
    spark = spark_session(settings, name)
    remember_jvm(spark, jvm)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    try:
        with connect(settings) as middleware:
            if wait_for_streams(middleware, stopping):
                queries = [start(spark, middleware) for start in starts]
                watch(queries, middleware, ready, stopping)
                for query in queries:
                    query.stop()
        spark.stop()
    except Exception as error:
        log.exception("%s ends", name)
        ready.unlink(missing_ok=True)
        if isinstance(error, Overtaken):
            stopping.wait(OVERTAKEN_SECONDS)
        sys.exit(1)
    finally:
        ready.unlink(missing_ok=True)
        end_jvm()


def wait_for_streams(middleware: Middleware, stopping: threading.Event) -> bool:
    """True once every stream can be written to; False if asked to stop. Raises MiddlewareError after WAIT_SECONDS."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not stopping.is_set():
        try:
            middleware.admin.wait_until_ready(READY_SECONDS)
            for stream in STREAMS:
                middleware.data.producer(stream).close()
            return True
        except MiddlewareError as error:
            if time.monotonic() > deadline:
                raise
            log.info("waiting for the streams: %s", error)
            stopping.wait(LOOK_SECONDS)
    return False


def watch(queries: Sequence[StreamingQuery], middleware: Middleware, ready: Path, stopping: threading.Event) -> None:
    """Returns when asked to stop; raises what ended a query, which is Overtaken if the retention of its stream was."""
    while not stopping.wait(LOOK_SECONDS):
        for query in queries:
            if not query.isActive:
                raise reason_of_end(query, middleware)
        if not ready.exists() and all(map(has_completed_a_trigger, queries)):
            log.info("ready: %s", ", ".join(str(query.name) for query in queries))
            ready.touch()


def reason_of_end(query: StreamingQuery, middleware: Middleware) -> Exception:
    """Why the query has ended; Overtaken if it was to read events that retention has removed."""
    error = query.exception()
    if error is None:
        return RuntimeError(f"query {query.name} has ended")
    if not any(sign in str(error) for sign in middleware.spark.binding(RAW).signs_of_loss):
        return error
    overtaken = Overtaken(
        f"retention has removed events that the query {query.name} had not read. "
        f"`murmur accept-loss --reader {query.name}` tells which, writes that down, and lets it go on"
    )
    overtaken.__cause__ = error
    return overtaken


def has_completed_a_trigger(query: StreamingQuery) -> bool:
    return query.lastProgress is not None or query.status["message"].startswith("Waiting for")


def remember_jvm(spark: SparkSession, file: Path) -> None:
    """Writes which process Spark's JVM is; the time of its creation tells it from a later one of the same id."""
    pid = spark.sparkContext._jvm.ProcessHandle.current().pid()  # type: ignore[union-attr]
    file.write_text(json.dumps({"pid": pid, "created": psutil.Process(pid).create_time()}))


def end_jvm() -> None:
    """Lets Spark's JVM end and waits for it: a process that is gone before its JVM looks as if it left one behind."""
    gateway = SparkContext._gateway
    if gateway is None or getattr(gateway, "proc", None) is None:
        return  # spark-submit has started the JVM and ends it
    try:
        gateway.proc.stdin.close()
        gateway.proc.wait(JVM_STOP_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.warning("Spark's JVM did not end: %s", error)


def end_predecessor(file: Path) -> None:
    """Kills the JVM of an earlier run that died without it, and waits until it is gone.

    Raises RuntimeError if it is not: two of them may not work on the same checkpoints.
    """
    try:
        known = json.loads(file.read_text())
        process = psutil.Process(known["pid"])
        if process.create_time() == known["created"]:
            log.warning("ending the JVM that an earlier run left, process %d", process.pid)
            process.kill()
            process.wait(PREDECESSOR_SECONDS)
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess):
        pass
    except psutil.TimeoutExpired as error:
        raise RuntimeError(f"the JVM that an earlier run left, process {error.pid}, does not end") from None
