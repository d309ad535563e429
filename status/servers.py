"""What the servers of an instance say of themselves, within seconds in whatever state they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

import redis

from common import modules
from common.process.child import ends_with_parent, python
from common.settings import Durability, Settings
from common.storage.held import Held
from common.telemetry import ledger, retention
from common.telemetry.ledger import Ledger
from common.tweets import Reader
from middleware.registry import connect
from search.store import Store
from status import stores
from status.stores import answered

ANSWER_SECONDS = 3.0
"""In which all are asked, at once: what has not answered by then is unknown."""

IMPORT_SECONDS = 7.0
"""In which whoever asks is there, on a machine that has much else to do."""


@dataclass
class Answers:
    """None, or no bytes and rows, where nobody answered in time."""

    middleware: Durability | None = None
    database: Durability | None = None
    retention: dict[Reader, float | None] = field(default_factory=retention.unknown)
    ledger: Ledger = field(default_factory=ledger.unknown)
    stores: list[Held] = field(default_factory=stores.unknown)


def ask(settings: Settings) -> Answers:
    """Durability in force, use of the retention, the ledger and every store.

    Asked by a process of its own, which ends without further ado: the client of a server that accepts and does not
    answer can keep its process for a minute. It answers through a pipe of its own too, since clients write elsewhere.
    """
    ours, its = os.pipe()
    command = ends_with_parent(python(modules.Status.SERVERS, settings.instance, str(its)))
    with open(ours) as answer:
        try:
            subprocess.run(command, pass_fds=[its], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                           timeout=ANSWER_SECONDS + IMPORT_SECONDS)
        except subprocess.SubprocessError:
            return Answers()
        finally:
            os.close(its)
        found = json.load(answer)
    return Answers(**{**found, "stores": [Held(**one) for one in found["stores"]]})


def of_middleware(settings: Settings) -> Durability | None:
    with connect(settings) as middleware:
        return middleware.admin.durability_in_force()


def of_database(settings: Settings) -> Durability:
    return Store.open(settings).durability()


def of_readers(settings: Settings) -> dict[Reader, float | None]:
    """Share of the retention that each has used; None where nobody has looked within a minute."""
    client = redis.Redis.from_url(settings.redis_address, decode_responses=True, socket_timeout=ANSWER_SECONDS)
    return retention.read(client, settings.redis_prefix)


def of_ledger(settings: Settings) -> Ledger:
    client = redis.Redis.from_url(settings.redis_address, socket_timeout=ANSWER_SECONDS)
    return ledger.read(client, settings.redis_prefix)


def answers(settings: Settings) -> Answers:
    def of_stores() -> list[Held]:
        return stores.collected(stores.SOURCES, settings, ANSWER_SECONDS)

    found: dict[str, Any] = answered({
        "middleware": lambda: of_middleware(settings),
        "database": lambda: of_database(settings),
        "retention": lambda: of_readers(settings),
        "ledger": lambda: of_ledger(settings),
        "stores": of_stores,
    }, ANSWER_SECONDS + 0.5)  # the stores that answered are told though others did not
    return Answers(**found)


def main() -> None:
    found = answers(Settings.load(instance=sys.argv[1]))
    with open(int(sys.argv[2]), "w") as pipe:
        json.dump(asdict(found), pipe)
    os._exit(0)


if __name__ == "__main__":
    main()
