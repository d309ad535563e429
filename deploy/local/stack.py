"""The processes of an instance, in one list."""

from __future__ import annotations

from collections.abc import Mapping

from common import control, modules
from common.addresses import numbered
from common.process.child import python
from common.settings import Port, Settings
from deploy.local import milvus, nginx, redis, spark
from deploy.local.middlewares import deployment
from deploy.local.processes import class_data_sharing, health_checks
from deploy.local.processes.spec import READERS, Process

RECOVERY_SECONDS = 720
"""In which ingest-http becomes ready: before that it reads back `tweets-raw` after a crash, which it gives 600 s
(ingest/readback.py)."""

INGEST_SERVER = ("--worker-class", "gthread", "--threads", "8", "--graceful-timeout", "3", "--log-level", "warning",
                 "--no-control-socket")


class NoProcess(Exception):
    """An instance has none of that name; the message holds those that it has."""


def servers(settings: Settings) -> list[Process]:
    """What is not ours: the stream store, Redis and Milvus, without those that live elsewhere by a setting."""
    found = of_middleware(settings)
    if not settings.redis_url:
        found.append(redis.process(settings))
    if not settings.milvus_uri:
        found.append(milvus.process(settings))
    return found


def of_middleware(settings: Settings) -> list[Process]:
    """Those of the stream store, unless it lives elsewhere by a setting."""
    return [] if settings.middleware_uri else deployment(settings.middleware).processes(settings)


def processes(settings: Settings) -> list[Process]:
    """All of an instance."""
    return [*servers(settings), *applications(settings)]


def applications(settings: Settings) -> list[Process]:
    """Our own processes, and Nginx in front of them. Each waits for what it needs."""
    client, host = {"MURMUR_JVM_OPTIONS": class_data_sharing.of_clients(settings)}, settings.host_names[0]
    replicas = [
        Process(
            f"web-{n}",
            gunicorn(modules.Deploy.WEB, settings.listener(Port.WEB, n), "--config",
                     f"python:{modules.Deploy.WEB_SERVER}"),
            stage=5, foreground=True, listens=((Port.WEB, n),), memory_mib=384,
            ready=health_checks.http_ok(f"http://127.0.0.1:{settings.port(Port.WEB, n)}/readyz", host),
        )
        for n in range(settings.web_replicas)
    ]
    return [
        spark.process(settings),
        *(consumer(settings, "trending", member, modules.Deploy.TRENDING, "ranked")
          for member in range(settings.trending_consumers)),
        *(consumer(settings, "search", member, modules.Deploy.SEARCH, "searchable")
          for member in range(settings.search_consumers)),
        Process(
            "ingest-http", gunicorn(modules.Deploy.INGEST, settings.listener(Port.INGEST), *INGEST_SERVER),
            stage=5, foreground=True, ready_seconds=RECOVERY_SECONDS, stop_seconds=1, environment=client,
            listens=((Port.INGEST, 0),), memory_mib=512, data=settings.archive_dir,
            ready=health_checks.http_ok(f"http://127.0.0.1:{settings.port(Port.INGEST)}/readyz", host),
        ),
        *replicas,
        ledger(settings, client),
        *([] if settings.service_hosts else [controls(settings)]),  # which know the processes of this machine alone
        nginx.process(settings),
    ]


def consumer(settings: Settings, group: str, member: int, program: str, stage: str) -> Process:
    """One member of a consumer group. The first of *trending* writes the archive of classes for all clients."""
    archive = class_data_sharing.of_clients(settings, writes=group == "trending" and member == 0)
    return Process(
        numbered(group, member), python(program, "--member", str(member)), stage=READERS, memory_mib=576,
        ready=health_checks.reports(settings, stage, f"{group}-{member}"),
        environment={"MURMUR_JVM_OPTIONS": archive},
    )


def ledger(settings: Settings, environment: Mapping[str, str]) -> Process:
    """It watches, and nobody waits for it."""
    return Process("ledger", python(modules.Deploy.LEDGER), stage=5, environment=environment, memory_mib=384,
                   ready=health_checks.keeps_ledger(settings))


def controls(settings: Settings) -> Process:
    """What the page's buttons reach, by a Unix socket alone."""
    listener = control.socket_path(settings)
    return Process(
        "control", gunicorn(modules.Deploy.CONTROL, f"unix:{listener}", "--config",
                            f"python:{modules.Deploy.CONTROL_SERVER}"),
        stage=5, foreground=True, memory_mib=256,
        ready=health_checks.unix_http_ok(listener, control.SESSION, settings.host_names[0]),
    )


def gunicorn(app: str, listener: str, *options: str) -> tuple[str, ...]:
    return python("gunicorn", *options, "--bind", listener, app)


def process(settings: Settings, name: str) -> Process:
    """The process of that name. Raises NoProcess.

    A machine that has the stream store's programs alone knows its processes, without asking for those of others.
    """
    found = {one.name: one for one in of_middleware(settings)}
    if name not in found:
        found = {one.name: one for one in processes(settings)}
    if name not in found:
        raise NoProcess(f"an instance on {settings.middleware} has no process {name!r}; there are {', '.join(found)}")
    return found[name]


def write_configuration(settings: Settings, name: str | None = None) -> None:
    """Folders and configuration files of the process of that name, or of every one of the instance."""
    for folder in (settings.log_dir, settings.state_dir / "tmp"):
        folder.mkdir(parents=True, exist_ok=True)
    middleware = of_middleware(settings)
    if middleware and name in (None, *(one.name for one in middleware)):
        deployment(settings.middleware).write_configuration(settings)
    if name in (None, "redis"):
        redis.write_configuration(settings)
    if name in (None, "nginx"):
        nginx.write_configuration(settings)


