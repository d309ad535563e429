"""Spark's standalone master with workers, as processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from deploy.local.processes.start_after import listens
from tests.stack import PORT_BASE, eventually

MASTER, WORKERS = PORT_BASE + 1900, 2
ADDRESS = f"127.0.0.1:{MASTER}"
URL = f"spark://{ADDRESS}"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@contextmanager
def standalone(folder: Path, **environment: str) -> Iterator[list[psutil.Process]]:
    """A master and two workers of one core each, all on loopback, with more in their environment; the workers."""
    spark_class = Path(sys.executable).with_name("spark-class")
    deploy = "org.apache.spark.deploy"

    def started(name: str, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [spark_class, *words], stdout=subprocess.DEVNULL, stderr=(folder / f"{name}.log").open("wb"),
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", **environment},
            start_new_session=True,
        )
        running.callback(end, process)
        return process

    with ExitStack() as running:
        started("master", f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(MASTER),
                "--webui-port", str(MASTER + 1))
        eventually("the master listens", lambda: listens(ADDRESS), 60)
        processes = [
            started(f"worker-{n}", f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--port", str(MASTER + 2 + 2 * n),
                    "--webui-port", str(MASTER + 3 + 2 * n), "--cores", "1", "--memory", "1g",
                    "--work-dir", str(folder / f"work-{n}"), URL)
            for n in range(WORKERS)
        ]  # fmt: skip
        yield [psutil.Process(process.pid) for process in processes]


def executors(workers: list[psutil.Process]) -> list[psutil.Process]:
    found = []
    for worker in workers:
        for child in worker.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if EXECUTOR in child.cmdline() and child.name() == "java":
                    found.append(child)
    return found


def end(process: subprocess.Popen[bytes]) -> None:
    """The whole session, executors among it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
