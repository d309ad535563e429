"""The queries as applications of their own, the way they run on a cluster: from the wheel, by spark-submit."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.tweets import ENRICHED, HASHTAG_COUNTS
from middleware.registry import connect
from tests.stack import ROOT, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def servers() -> Iterator[Stack]:
    instance = Stack("test-submit")
    try:
        instance.up("--servers-only")
        yield instance
    finally:
        instance.down()


def submit(servers: Stack, query: str, wheel: Path) -> subprocess.Popen[bytes]:
    settings = servers.settings()
    jars = [*settings.jar_dir.glob("spark/*.jar"), *settings.jar_dir.glob(f"spark/{settings.middleware}/*.jar")]
    binding = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    return subprocess.Popen(
        [Path(sys.executable).with_name("spark-submit"), "--master", "local[1]",
         *(word for key, value in binding.items() for word in ("--conf", f"{key}={value}")),
         "--py-files", wheel, "--jars", ",".join(map(str, jars)), ROOT / "spark_jobs" / f"{query}.py"],
        env={**os.environ, "MURMUR_HOME": str(settings.home.resolve()), "PYSPARK_PYTHON": sys.executable,
             "MURMUR_SETTINGS": str(settings.settings_file)},
        cwd=wheel.parent, stdout=subprocess.DEVNULL, stderr=(wheel.parent / f"{query}.log").open("wb"),
    )


def numbers(servers: Stack, stream: str) -> int:
    """Events in a stream."""
    with connect(servers.settings()) as middleware:
        with middleware.data.consumer(stream, "test-submit", start="head") as consumer:
            found = 0
            while events := consumer.poll(10_000, timeout=3):
                found += len(events)
        middleware.admin.forget_group(stream, "test-submit")
    return found


def test_each_query_runs_by_itself(servers: Stack, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
                    "--no-build-isolation", "--wheel-dir", tmp_path, ROOT], check=True)
    shutil.rmtree(ROOT / "build")
    (wheel,) = tmp_path.glob("*.whl")
    queries = [submit(servers, name, wheel) for name in ("enrich", "trending")]
    try:
        servers.ingest("--source", "synthetic", "--rate", "100", "--limit", "500")
        eventually("all are enriched", lambda: numbers(servers, ENRICHED) == 500, 120)
        eventually("hashtags are counted", lambda: numbers(servers, HASHTAG_COUNTS) > 0, 60)
    finally:
        for query in queries:
            query.send_signal(signal.SIGTERM)
        ended = [query.wait(60) for query in queries]
    logs = [log.read_text() for log in tmp_path.glob("*.log")]
    assert ended == [128 + signal.SIGTERM] * 2, logs  # of spark-submit's JVM, which takes Python with it
    assert not any("Traceback" in log for log in logs), logs
