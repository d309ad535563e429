"""What tests ask a process manager of their own."""

from __future__ import annotations

from collections.abc import Callable

from common.process import manager
from common.settings import Settings
from deploy.local.processes.spec import Process
from deploy.local.processes.wait_ready import Deaths, await_ready


def never(name: str, why: str) -> None:
    raise AssertionError(f"{name} was taken for one that others can stand in for: {why}")


def running(settings: Settings) -> set[str]:
    return {info["name"] for info in manager.ask(settings).getAllProcessInfo() if info["statename"] == "RUNNING"}


def ready(settings: Settings, waited_for: list[Process], warn: Callable[[str, str], None] = never) -> list[Process]:
    deaths = Deaths(settings, waited_for, warn)
    return list(await_ready(settings, waited_for, deaths, tell=lambda process: None))
