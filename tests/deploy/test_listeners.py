"""With everything up, nothing of an instance can be reached from another machine."""

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from common.settings import Port
from deploy.local import instances
from deploy.local.middlewares import deployment
from tests.stack import Stack

pytestmark = pytest.mark.server


def listeners(stack: Stack) -> Iterator[tuple[str, str, int]]:
    """(program, address, port) of every socket that a process of the instance listens on or receives datagrams at."""
    for process in instances.leftovers(stack.settings()):
        for connection in process.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN or (connection.status == psutil.CONN_NONE and connection.laddr):
                yield process.name(), connection.laddr.ip, connection.laddr.port


def is_loopback(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


@pytest.mark.every_middleware(short=True)
def test_every_socket_is_on_loopback(stack: Stack):
    found = list(listeners(stack))
    first = stack.settings().port_base + 50 * stack.settings().port_block
    assert {first, first + 1, first + 2} <= {port for _, _, port in found}, "the test does not see the instance"
    assert [one for one in found if not is_loopback(one[1])] == []


def speaks_http(port: int) -> bool:
    """Whether a request of HTTP/1 is answered, however."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        return connection.recv(5) == b"HTTP/"
    return False


@pytest.mark.every_middleware(short=True)
def test_only_our_ports_and_those_that_are_named_speak_http(stack: Stack):
    """A server's own pages and interfaces are off, but for what has no switch (SECURITY.md)."""
    settings = stack.settings()
    ours = {settings.port(Port.PAGE), settings.port(Port.INGEST)}
    ours |= {settings.port(Port.WEB, replica) for replica in range(settings.web_replicas)}
    speaking = {port for port in {port for _, _, port in listeners(stack)} if speaks_http(port)}
    assert ours <= speaking
    assert speaking - ours - {settings.port(port) for port in deployment(settings.middleware).http_ports} == set()


@pytest.mark.parametrize(("address", "loopback"), [
    ("127.0.0.1", True), ("::1", True), ("::ffff:127.0.0.1", True),
    ("0.0.0.0", False), ("::", False), ("192.168.1.5", False), ("::ffff:10.0.0.1", False),
])
def test_which_addresses_count_as_loopback(address: str, loopback: bool):
    assert is_loopback(address) is loopback
