"""Unix sockets of an instance: where they are, and HTTP through them."""

from __future__ import annotations

import hashlib
import http.client
import os
import socket
import tempfile
from pathlib import Path

from common.settings import Settings

PATH_BYTES = 90
"""A Unix socket's path holds 108 bytes, and supervisord first binds a longer name beside it."""


def path(settings: Settings, name: str) -> Path:
    """In the instance's folder, or in a short one of this user's if that is too long."""
    found = settings.instance_dir / f"{name}.sock"
    if len(os.fsencode(found)) <= PATH_BYTES:
        return found
    digest = hashlib.sha256(os.fsencode(found)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"murmur-{os.getuid()}" / f"{digest}.sock"


class Connection(http.client.HTTPConnection):
    """To a Unix socket; neither to connect nor to read takes longer than the time-out."""

    def __init__(self, to: Path, seconds: float) -> None:
        super().__init__("127.0.0.1", timeout=seconds)
        self._to = to

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._to))
