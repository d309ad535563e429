"""The servers of a middleware on this machine: the DEPLOYMENT of its folder, `deploy/local/NAME`, here or elsewhere on
Python's path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from common.process.child import MissingProgram
from common.settings import MiddlewarePort, Settings
from deploy.local.processes.spec import Process


class NotInstalled(MissingProgram):
    """Set-up has not installed a middleware's servers, which it does when that is chosen for the first time."""

    def __init__(self, servers: str) -> None:
        super().__init__(f"{servers} is not installed: run `make setup` with MURMUR_MIDDLEWARE set to it")


class FolderLost(SystemExit):
    """What the only server of a store held is gone: beginning with nothing is not for the server to decide."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        super().__init__(f"{folder} is gone, and with it what the only server held: put it back from a backup, or give "
                         f"up what is stored (`murmur down --wipe --instance {settings.instance}`)")


@dataclass(frozen=True)
class Deployment:
    """What there is to run, and what the tests do to it."""

    write_configuration: Callable[[Settings], None]
    """Renders what the servers read. Raises NotInstalled."""

    processes: Callable[[Settings], list[Process]]
    syncing: str
    """The process that writes an event to disk before it is acknowledged."""

    killed: tuple[str, ...]
    """Processes that are killed one after the other while events flow: each has to be survived."""

    http_ports: frozenset[MiddlewarePort] = frozenset()
    """Those that answer HTTP, where that cannot be turned off."""


def deployment(name: str) -> Deployment:
    """Raises ModuleNotFoundError for a middleware without servers of its own."""
    found: Deployment = import_module(f"deploy.local.{name}").DEPLOYMENT
    return found
