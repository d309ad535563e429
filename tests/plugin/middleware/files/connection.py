"""A conversation with the server: one request, one answer."""

from __future__ import annotations

import threading
from multiprocessing.connection import Client
from multiprocessing.connection import Connection as Link
from typing import Any

from common.settings import Settings
from middleware.errors import Unreachable
from middleware.files.ports import Port

ANSWER_SECONDS = 20.0


def address_of(settings: Settings) -> str:
    return settings.middleware_uri or settings.address(Port.SERVER)


class Connection:
    """Opened anew by the next request after one that failed; for any thread."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._link: Link | None = None
        self._lock = threading.Lock()

    def ask(self, request: str, *arguments: Any, within: float = ANSWER_SECONDS) -> Any:
        """The answer of the server's method of this name. Raises Unreachable, and the MiddlewareError that it is."""
        with self._lock:
            try:
                if self._link is None:
                    host, _, port = self.address.rpartition(":")
                    self._link = Client((host, int(port)))
                self._link.send((request, arguments))
                if not self._link.poll(within):
                    raise TimeoutError(f"no answer within {within:.0f} s")
                answer = self._link.recv()
            except (OSError, EOFError) as error:
                self._drop()
                raise Unreachable(f"no answer from {self.address}: {error!r}; is the instance up?") from error
            except BaseException:
                self._drop()  # interrupted: the answer would be taken for that of the next request
                raise
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None
