"""What `murmur status` says of every store: in time, whether it answers or not."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from common.settings import Settings
from common.storage.held import Held
from common.telemetry import retention
from common.tweets import STREAMS
from deploy.local import stack
from deploy.local.processes.supervisor import DAEMON_LOG_BYTES
from status import stores
from status.servers import ask
from status.stores import Source, collected
from tests.stack import PORT_BASE


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Of a server that accepts connections and never answers, as one that is held does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def never() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_store_that_fails_or_does_not_answer_is_unknown_and_holds_up_nobody(
    tmp_path: Path, never: threading.Event
) -> None:
    def silent(settings: Settings) -> Iterable[Held]:
        yield Held("first", 1, 2, "rows")
        never.wait()

    def fails(settings: Settings) -> Iterable[Held]:
        raise ConnectionError("refused")

    def answers(settings: Settings) -> Iterable[Held]:
        return [Held("good", 3, 4, "rows", 5.0)]

    sources = (
        Source(("first", "second"), "rows", silent),
        Source(("bad",), "bytes", fails),
        Source(("good",), "rows", answers),
    )
    found = collected(sources, Settings(home=tmp_path), seconds=0.2)
    assert not never.is_set()
    assert found == [
        Held("first", 1, 2, "rows"), Held("second", None, None, "rows"), Held("bad", None, None, "bytes"),
        Held("good", 3, 4, "rows", 5.0),
    ]


def test_logs_are_bounded_by_a_setting_and_dated(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, log_max_bytes=1 << 20)
    settings.log_dir.mkdir(parents=True)
    (settings.log_dir / "spark.log").write_text("x" * 100)
    (settings.log_dir / "spark.log.1").write_text("y" * 1000)
    (one,) = stores.logs(settings)
    assert (one.store, one.holds, one.unit) == ("logs", 1100, "bytes")
    assert one.bound is not None
    supervised = stack.processes(settings)
    aside = ("load", "users", "class-data", "chaos")
    assert one.bound == DAEMON_LOG_BYTES + (len(supervised) + len(aside)) * (1 << 20)
    assert one.oldest_at == pytest.approx(time.time(), abs=60)


def test_a_store_that_holds_nothing_has_no_oldest_entry(tmp_path: Path) -> None:
    assert list(stores.of_spark(Settings(home=tmp_path))) == [
        Held("checkpoints", 0, None, "bytes"), Held("spark-scratch", 0, None, "bytes"),
    ]


def test_what_spark_keeps_is_told_in_bytes_with_the_age_of_the_oldest(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    scratch = settings.state_dir / "spark" / "spark"
    for path, size, at in ((settings.checkpoint_dir / "trending/state/0/1.changelog", 7, 100),
                           (settings.checkpoint_dir / "trending/offsets/3", 5, 50), (scratch / "a.jar", 3, 70)):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * size)
        os.utime(path, (at, at))
    assert list(stores.of_spark(settings)) == [
        Held("checkpoints", 12, None, "bytes", 50), Held("spark-scratch", 3, None, "bytes", 70),
    ]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Of an instance of which no server runs."""
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    monkeypatch.setattr("status.servers.IMPORT_SECONDS", 45.0)  # no test of how busy the machine is
    settings = Settings(home=tmp_path, instance="one", port_base=PORT_BASE, port_block=9)
    settings.save()
    return settings


def test_every_store_is_there_when_no_server_answers(settings: Settings) -> None:
    answers = ask(settings)
    found = {one.store: one for one in answers.stores}
    assert (answers.middleware, answers.database) == (None, "fsync")  # SQLite needs no server
    assert answers.retention == retention.unknown()
    assert list(found) == [store for source in stores.SOURCES for store in source.stores]
    assert {*STREAMS, "archive", "manifests", "database", "index", "redis", "checkpoints", "logs"} <= found.keys()
    assert found["archive"].holds == 0
    assert {found[store].holds for store in (*STREAMS, "redis", "index")} == {None}


def test_what_a_client_writes_is_no_answer(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('{\\\"stray\\\": 1}', flush=True)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert ask(settings).stores[0].holds == 0


def test_a_database_that_accepts_and_does_not_answer_is_unknown_in_time(
    settings: Settings, silent_port: int
) -> None:
    url = f"postgresql+psycopg://u@127.0.0.1:{silent_port}/tweets"
    settings.model_copy(update={"database_url": url, "redis_url": f"redis://127.0.0.1:{silent_port}/0"}).save()
    answers = ask(settings)  # one that waited for them would be ended before it has told anything
    assert (answers.middleware, answers.database) == (None, None)
    assert answers.retention == retention.unknown()
    assert answers.stores[0].holds == 0
