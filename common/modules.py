"""Every module of ours that is started by its name instead of being imported: one table, by who starts it.

A part starts what it may import (`importlinter` in pyproject.toml), but for `deploy`, which has every part run and
imports none. tests/test_arrows.py holds this, and that outside its own folder a module is named nowhere else.
"""

from __future__ import annotations

from enum import StrEnum


class Audit(StrEnum):
    FOLLOW = "audit.follow"


class Chaos(StrEnum):
    GUARD = "chaos.guard"


class Cli(StrEnum):
    MURMUR = "cli"


class Control(StrEnum):
    EXPERIMENT = "loadgen.process"


class Deploy(StrEnum):
    CLASS_DATA_SHARING = "deploy.local.processes.class_data_sharing"
    CONTROL = "control:create_app()"
    CONTROL_SERVER = "control.server"
    INGEST = "ingest.endpoint.http:create_app()"
    LEDGER = "audit.live.process"
    MILVUS = "deploy.local.milvus.lite_server"
    SEARCH = "consumers.search"
    SPARK = "spark_jobs.application"
    START_AFTER = "deploy.local.processes.start_after"
    SUPERVISORD = "deploy.local.processes.supervisord"
    TRENDING = "consumers.trending"
    WATCH = "deploy.local.processes.watch"
    WEB = "web:create_app()"
    WEB_SERVER = "web.server"


class Loadgen(StrEnum):
    GENERATOR = "loadgen.load.generator"
    HOST_MEMORY = "loadgen.observe.host_memory"


class SparkJobs(StrEnum):
    WORKERS = "spark_jobs.workers"


class Status(StrEnum):
    SERVERS = "status.servers"


STARTED_BY: dict[str, type[StrEnum]] = {
    "audit": Audit, "chaos": Chaos, "cli": Cli, "control": Control, "deploy": Deploy, "loadgen": Loadgen,
    "spark_jobs": SparkJobs, "status": Status,
}  # fmt: skip
