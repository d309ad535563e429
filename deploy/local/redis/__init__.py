"""Redis on one machine."""

from __future__ import annotations

from common.process.child import program
from common.settings import Port, Settings
from deploy.local.processes import health_checks
from deploy.local.processes.spec import Process
from deploy.local.rendering import write


def write_configuration(settings: Settings) -> None:
    (settings.instance_dir / "redis").mkdir(parents=True, exist_ok=True)
    write("redis/redis.conf", settings.instance_dir / "redis.conf", settings)


def process(settings: Settings) -> Process:
    return Process(
        "redis", (program("redis-server"), str(settings.instance_dir / "redis.conf")),
        stage=0, foreground=True, listens=((Port.REDIS, 0),), memory_mib=640, data=settings.instance_dir / "redis",
        ready=health_checks.redis_answers(settings.redis_address),
    )
