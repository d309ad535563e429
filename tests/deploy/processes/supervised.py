"""What tests ask a process manager of their own."""

from __future__ import annotations

from common.process import manager
from common.settings import Settings
from deploy.local.processes.spec import Process
from deploy.local.processes.wait_ready import Deaths, await_ready


def running(settings: Settings) -> set[str]:
    return {info["name"] for info in manager.ask(settings).getAllProcessInfo() if info["statename"] == "RUNNING"}


def ready(settings: Settings, waited_for: list[Process]) -> list[Process]:
    return list(await_ready(settings, waited_for, Deaths(settings), tell=lambda process: None))
