"""What the administration makes of a controller that cannot do it now: Java's exceptions are the client's own."""

from typing import Any

import jpype
import pytest

from common.settings import Settings
from middleware import admin
from middleware.errors import MiddlewareError, Unreachable
from middleware.pravega import jvm
from middleware.pravega.admin import PravegaAdmin

pytestmark = [pytest.mark.server]  # for the client, which comes with them

FAILURE = "io.pravega.client.control.impl.ControllerFailureException"
REFUSED = "java.lang.IllegalArgumentException"


class Connection:
    """Its client raises `error` at the first `failures` calls."""

    def __init__(self, error: Any, failures: int) -> None:
        self._error, self._failures = error, failures
        self.created: list[str] = []
        self.calls = 0

    def client(self) -> Any:
        return self

    def createStream(self, stream: str, partitions: int, retention_bytes: int) -> None:
        self.calls += 1
        if self.calls <= self._failures:
            raise self._error
        self.created.append(stream)


def failing(name: str, failures: int) -> Connection:
    """A JVM with the client's classes is all that this needs: nobody is connected to."""
    jvm.connection(Settings().jar_dir / "pravega-client", "tcp://127.0.0.1:1", "scope", 1.0, "").close()
    return Connection(jpype.JClass(name)("Failed to create scope: murmur"), failures)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "CHANGE_PAUSE_SECONDS", 0.0)


def create(connection: Connection) -> None:
    PravegaAdmin(Settings(), connection, None).create_stream("tweets", 4)  # type: ignore[arg-type]


def test_a_stream_is_created_once_the_controller_can() -> None:
    connection = failing(FAILURE, 3)
    create(connection)
    assert connection.created == ["tweets"]


def test_a_controller_that_cannot_in_time_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("middleware.pravega.admin.CREATE_SECONDS", 0.0)
    with pytest.raises(Unreachable, match=r"cannot create the stream tweets: .*Failed"):
        create(failing(FAILURE, 3))


def test_what_the_controller_refuses_is_not_asked_again() -> None:
    connection = failing(REFUSED, 1)
    with pytest.raises(MiddlewareError) as refused:
        create(connection)
    assert not isinstance(refused.value, Unreachable)
    assert connection.calls == 1
