"""Ways to tell that a process does its work: each makes a real round trip. See `process.Probe`."""

from __future__ import annotations

import json
import os
import socket
import urllib.request
from contextlib import closing
from pathlib import Path

import redis

from common.process import unix_socket
from common.settings import Settings
from common.telemetry import ledger
from deploy.local.processes.spec import Probe

TIMEOUT = 2.0


def accepts(port: int) -> Probe:
    """A TCP connection is accepted; for servers that can only be asked through another one."""

    def probe(started: float) -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT):
            return True

    return probe


def zookeeper(port: int) -> Probe:
    """ZooKeeper says that it is well."""

    def probe(started: float) -> bool:
        with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as connection:
            connection.sendall(b"ruok")
            return connection.recv(16) == b"imok"

    return probe


def redis_answers(address: str) -> Probe:
    """Redis answers PING, which it refuses while it loads its data."""

    def probe(started: float) -> bool:
        with redis.Redis.from_url(address, socket_timeout=TIMEOUT) as client:
            return bool(client.ping())

    return probe


def milvus_answers(address: str) -> Probe:
    """Milvus lists its collections."""

    def probe(started: float) -> bool:
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # a refused connection is no news here
        from common.milvus import check  # a second's import, which most commands do without

        check(address, TIMEOUT)
        return True

    return probe


def http_ok(url: str, host: str) -> Probe:
    """The URL, asked under this Host name, answers 200."""

    def probe(started: float) -> bool:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": host}), timeout=TIMEOUT) as response:
            return bool(response.status == 200)

    return probe


def unix_http_ok(path: Path, url: str, host: str) -> Probe:
    """The same through a Unix socket, for the URL without its host."""

    def probe(started: float) -> bool:
        with closing(unix_socket.Connection(path, TIMEOUT)) as connection:
            connection.request("GET", url, headers={"Host": host})
            return connection.getresponse().status == 200

    return probe


def written_since_start(path: Path) -> Probe:
    """The process has written its readiness file since it was started."""

    def probe(started: float) -> bool:
        return path.stat().st_mtime >= started

    return probe


def reports(settings: Settings, stage: str, process: str) -> Probe:
    """The process, one of those that complete `stage`, has published its telemetry since it was started."""

    def probe(started: float) -> bool:
        with redis.Redis.from_url(settings.redis_address, socket_timeout=TIMEOUT) as client:
            content = client.get(f"{settings.redis_prefix}telemetry:{stage}:{process}")
        return content is not None and json.loads(content)["at"] >= started

    return probe


def keeps_ledger(settings: Settings) -> Probe:
    """The ledger has been written since the process was started."""

    def probe(started: float) -> bool:
        with redis.Redis.from_url(settings.redis_address, socket_timeout=TIMEOUT) as client:
            return (ledger.read(client, settings.redis_prefix)["as_of_us"] or 0) / 1e6 >= started

    return probe
