"""Real servers for tests, each with a free port and a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import redis

from deploy.local.milvus.lite_server import log_writes_ahead
from tests.stack import PORT_BASE

STARTUP_S = 60.0

POSTGRES_PORTS = range(PORT_BASE + 1300, PORT_BASE + 1320)
"""A PostgreSQL has the first that is free."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def first_free(ports: Iterable[int]) -> int:
    for port in ports:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError(f"somebody listens on each of {[*ports]}")


def await_true(what: str, probe: Callable[[], bool], timeout: float = STARTUP_S) -> None:
    """Waits until `probe` is true; an error counts as false."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            if probe():
                return
            why = ""
        except (OSError, redis.RedisError) as error:
            why = f": {error}"
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {timeout:.0f} s{why}")
        time.sleep(0.02)


def listens(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True


class MilvusServer:
    """Milvus Lite on a file; can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.uri = f"http://127.0.0.1:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        from milvus_lite.server import Server

        database = self._folder / "tweets.db"
        log_writes_ahead(database)
        server = Server(str(database), f"127.0.0.1:{self._port}")
        self._process = subprocess.Popen(
            [str(argument) for argument in server.args],
            env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(server.milvus_bin)},
            cwd=self._folder, stderr=subprocess.DEVNULL,
        )
        await_true("Milvus listening", lambda: listens(self._port))

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def wipe(self) -> None:
        for file in self._folder.iterdir():
            file.unlink()


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """URL of a Redis."""
    port = free_port()
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        await_true("Redis answering", lambda: bool(redis.Redis(port=port).ping()))
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()


def postgres_program(name: str) -> str:
    """Path of one of PostgreSQL's programs, which Debian keeps apart by version."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    if found := shutil.which(name) or (str(kept[-1]) if kept else None):
        return found
    raise FileNotFoundError(f"no {name} here: `deploy/local/setup/run --tests` installs PostgreSQL")


@contextmanager
def postgres_server() -> Iterator[str]:
    """SQLAlchemy URL of a PostgreSQL; as root it runs as nobody, for it refuses root.

    Its folder is none of pytest's, which are closed to other users whenever another run of pytest begins.
    """
    with tempfile.TemporaryDirectory(prefix="murmuration-postgres-") as folder:
        yield from _postgres(Path(folder))


def _postgres(folder: Path) -> Iterator[str]:
    owner = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
    data, port = folder / "data", first_free(POSTGRES_PORTS)
    data.mkdir()
    if owner:
        folder.chmod(0o711)
        shutil.chown(data, "nobody", "nogroup")

    def run(*command: str) -> None:
        subprocess.run([*owner, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")

    initdb, pg_ctl = postgres_program("initdb"), postgres_program("pg_ctl")
    run(initdb, "--pgdata", str(data), "--username", "murmur", "--auth", "trust", "--encoding", "UTF8", "--no-sync")
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    run(pg_ctl, "--pgdata", str(data), "--wait", "--log", str(data / "log"), "--options", options, "start")
    try:
        yield f"postgresql+psycopg://murmur@127.0.0.1:{port}/postgres"
    finally:
        run(pg_ctl, "--pgdata", str(data), "--mode", "fast", "--wait", "stop")
