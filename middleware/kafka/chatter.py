"""Where librdkafka logs to: it reports every attempt to connect."""

from __future__ import annotations

import logging
import time

client_log = logging.getLogger("middleware.kafka.client")

CHATTER_SECONDS = 10.0


class Seldom(logging.Filter):
    """Lets a kind of message pass once in CHATTER_SECONDS, as information only: what matters of it is raised, too."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = " ".join(record.getMessage().split(None, 2)[:2]), time.monotonic()
        if now - self._last.get(kind, -CHATTER_SECONDS) < CHATTER_SECONDS:
            return False
        self._last[kind] = now
        record.levelno, record.levelname = logging.INFO, logging.getLevelName(logging.INFO)
        return True


client_log.addFilter(Seldom())
