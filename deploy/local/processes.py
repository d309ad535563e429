"""The processes of an instance, in one list."""

from __future__ import annotations

import sys

from common.settings import Durability, Port, Settings
from deploy.local import class_data, probes
from deploy.local.middlewares import deployment
from deploy.local.process import Process, program, python
from deploy.local.rendering import write

INDEX_DURABILITY: Durability = "fsync"
"""Of Milvus Lite, which cannot be asked: it syncs its file before it acknowledges rows (tests/common/search)."""

RECOVERY_SECONDS = 720
"""In which ingest-http becomes ready: before that it reads back `tweets-raw` after a crash, which it gives 600 s
(ingest/readback.py)."""

INGEST_SERVER = ("--worker-class", "gthread", "--threads", "8", "--graceful-timeout", "3", "--log-level", "warning",
                 "--no-control-socket")


def servers(settings: Settings) -> list[Process]:
    """What is not ours: the stream store, Redis and Milvus, without those that live elsewhere by a setting."""
    found: list[Process] = []
    if not settings.middleware_uri:
        found += deployment(settings.middleware).processes(settings)
    if not settings.redis_url:
        found.append(Process(
            "redis", (program("redis-server"), str(settings.instance_dir / "redis.conf")),
            stage=0, foreground=True, ready=probes.redis_answers(settings.redis_address),
        ))
    if not settings.milvus_uri:
        found.append(Process(
            "milvus", python("deploy.local.milvus_lite_server"),
            stage=0, foreground=True, ready=probes.milvus_answers(settings.milvus_address),
        ))
    return found


def applications(settings: Settings) -> list[Process]:
    """Our own processes, and Nginx in front of them. Each waits for what it needs."""
    client, host = {"MURMUR_JVM_OPTIONS": class_data.of_clients(settings)}, settings.host_names[0]
    replicas = [
        Process(
            f"web-{n}", gunicorn("web:create_app()", settings.port(Port.WEB, n), "--config", "python:web.server"),
            stage=5, foreground=True,
            ready=probes.http_ok(f"http://127.0.0.1:{settings.port(Port.WEB, n)}/readyz", host),
        )
        for n in range(settings.web_replicas)
    ]
    return [
        Process(
            "spark", python("spark_jobs.application"), stage=4, ready_seconds=240, stop_seconds=2.5, early=True,
            ready=probes.written_since_start(settings.state_dir / "spark.ready"),
            environment={"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, **client,
                         "MURMUR_SPARK_JVM_OPTIONS": class_data.of_spark(settings),
                         # Or else RocksDB's threads have up to eight heaps of the C library for each core, each of
                         # which keeps what it once had to hold.
                         "MALLOC_ARENA_MAX": "2"},
        ),
        Process("trending", python("consumers.trending"), stage=4, ready=probes.reports(settings, "ranked"),
                environment={"MURMUR_JVM_OPTIONS": class_data.of_clients(settings, writes=True)}),
        Process("search", python("consumers.search"), stage=4, ready=probes.reports(settings, "searchable"),
                environment=client),
        Process(
            "ingest-http", gunicorn("ingest.http:create_app()", settings.port(Port.INGEST), *INGEST_SERVER),
            stage=5, foreground=True, ready_seconds=RECOVERY_SECONDS, stop_seconds=1, environment=client,
            ready=probes.http_ok(f"http://{settings.address(Port.INGEST)}/readyz", host),
        ),
        *replicas,
        Process(
            "nginx", (program("nginx"), "-c", str(settings.instance_dir / "nginx.conf"),
                      "-p", str(settings.instance_dir / "nginx"), "-e", "stderr"),
            stage=6, foreground=True, ready=probes.http_ok(f"{settings.url}/healthz", host),
        ),
    ]


def gunicorn(app: str, port: int, *options: str) -> tuple[str, ...]:
    return python("gunicorn", *options, "--bind", f"127.0.0.1:{port}", app)


def write_configuration(settings: Settings) -> None:
    """Folders and configuration files of every process of the instance."""
    folder = settings.instance_dir
    for part in (settings.log_dir, settings.state_dir / "tmp", folder / "redis", folder / "nginx" / "temp"):
        part.mkdir(parents=True, exist_ok=True)
    if not settings.middleware_uri:
        deployment(settings.middleware).write_configuration(settings)
    write("redis.conf", folder / "redis.conf", settings)
    write("nginx.conf", folder / "nginx.conf", settings)
