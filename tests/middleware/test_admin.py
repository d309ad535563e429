"""A change that a server cannot make now is asked for again, for as long as whoever wants it waits."""

from __future__ import annotations

import socket

import pytest

from middleware.admin import change
from middleware.errors import MiddlewareError, Unreachable


class Server:
    """Makes a change once its clock has come so far; each call takes it a second."""

    def __init__(self, until: float, error: MiddlewareError) -> None:
        self.now, self.asked, self._until, self._error = 0.0, 0, until, error

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def make(self) -> None:
        self.asked += 1
        self.now += 1
        if self.now < self._until:
            raise self._error


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server(*request.param)
    monkeypatch.setattr("middleware.admin.time", server)
    return server


def caused(cause: OSError) -> Unreachable:
    error = Unreachable("no answer")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("server", [(8, Unreachable("no bookie")), (8, caused(TimeoutError())),
                                    (8, caused(ConnectionResetError()))], indirect=True)
def test_it_is_made_once_the_server_can(server: Server) -> None:
    change(server.make, 10)
    assert server.now >= 8


@pytest.mark.parametrize("server", [(20, Unreachable("no bookie"))], indirect=True)
def test_whoever_wants_it_waits_no_longer(server: Server) -> None:
    with pytest.raises(Unreachable, match="no bookie"):
        change(server.make, 10)
    assert 8 <= server.now <= 11, "a last call may take a second"


@pytest.mark.parametrize("server", [(20, MiddlewareError("refused")), (20, caused(ConnectionRefusedError())),
                                    (20, caused(socket.gaierror()))], indirect=True)
def test_what_is_refused_or_where_nobody_listens_is_asked_once(server: Server) -> None:
    with pytest.raises(MiddlewareError):
        change(server.make, 10)
    assert server.asked == 1
