"""An instance of servers only, started once and shared by all tests that need no more."""

from __future__ import annotations

import atexit
from functools import lru_cache

from common.process import manager
from common.settings import Durability, Settings
from middleware.admin import Operator
from middleware.driver import Middleware
from middleware.registry import connect, driver
from tests.memory import Log, Memory, MemoryOperator
from tests.stack import PORT_BASE, Stack


class Servers(Stack):
    """The stream store, Redis and Milvus; `kill` leaves it to the process manager to start a server again."""

    def up(self) -> None:
        self.down()
        self.again()

    def again(self, durability: Durability = "fsync") -> None:
        """Starts it, or starts it anew with its data and that durability class."""
        self.murmur("down", check=False)
        self.murmur("up", "--servers-only", "--durability", durability, timeout=240)

    def connect(self) -> Middleware:
        return connect(self.settings())

    def operator(self) -> Operator:
        return driver(self.settings().middleware).operator(self.settings())

    def restart(self, name: str) -> None:
        """Ends a server in an orderly way and starts it again, without waiting until it works."""
        asked = manager.ask(self.settings(), manager.ENDED_SECONDS)
        asked.stopProcess(name)
        asked.startProcess(name, False)


class InMemory:
    """Stands for the servers where a test needs no more than that they keep what they are given."""

    def __init__(self) -> None:
        self._logs: dict[str, Log] = {}

    def settings(self) -> Settings:
        return Settings()

    def connect(self) -> Memory:
        return Memory(self.settings(), self._logs)

    def operator(self) -> Operator:
        return MemoryOperator(self.connect())


def operator(middleware: Middleware) -> Operator:
    """Of the servers to which this is a connection."""
    return driver(middleware.settings.middleware).operator(middleware.settings)


@lru_cache
def running(middleware: str) -> Servers:
    instance = Servers(f"test-{middleware}", MURMUR_PORT_BASE=str(PORT_BASE + 1100), MURMUR_MIDDLEWARE=middleware)
    atexit.register(instance.down)
    instance.up()
    return instance
