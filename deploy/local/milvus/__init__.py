"""Milvus Lite on one machine."""

from __future__ import annotations

from common import modules
from common.process.child import python
from common.settings import Durability, Port, Settings
from deploy.local.processes import health_checks
from deploy.local.processes.spec import Process

DURABILITY: Durability = "fsync"
"""It cannot be asked: it syncs its file before it acknowledges rows (tests/search)."""


def process(settings: Settings) -> Process:
    return Process(
        "milvus", python(modules.Deploy.MILVUS),
        stage=0, foreground=True, listens=((Port.MILVUS, 0),), memory_mib=640, data=settings.state_dir / "milvus",
        ready=health_checks.milvus_answers(settings.milvus_address),
    )
