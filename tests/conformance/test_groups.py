"""What every middleware must do for a group of several consumers, one of which is killed or stands still."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from middleware.driver import Middleware
from middleware.errors import MiddlewareError
from tests.conformance.reading import group, numbered, publish, read, skip_on_that_of_the_tests
from tests.conformance.servers import Servers
from tests.stack import ROOT, eventually

pytestmark = pytest.mark.timeout(240)


class Member:
    """A consumer process; `events` is what it made durable."""

    def __init__(self, servers: Servers, stream: str, name: str, member: str, file: Path) -> None:
        self.file = file
        self.file.touch()
        command = [sys.executable, "-m", "tests.conformance.member", str(servers.settings().settings_file),
                   stream, name, member, str(file)]
        self.process = subprocess.Popen(command, cwd=ROOT)

    def events(self) -> list[bytes]:
        return self.file.read_bytes().splitlines()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def test_a_killed_consumer_loses_nothing(
    middleware: Middleware, stream: str, servers: Servers, tmp_path: Path
) -> None:
    name = group()
    publish(middleware, stream, numbered(0, 2000))
    for life in range(2):
        member = Member(servers, stream, name, "0", tmp_path / "events")
        try:
            eventually("it reads on", lambda m=member, n=(life + 1) * 1000: len(set(m.events())) >= n)
        finally:
            member.kill()
    member = Member(servers, stream, name, "0", tmp_path / "events")
    try:
        eventually("everything was read", lambda: set(member.events()) == set(numbered(0, 2000)))
    finally:
        member.kill()


@pytest.mark.only("kafka")
def test_a_member_whose_name_another_has_taken_ends(middleware: Middleware, stream: str) -> None:
    """As after a standstill, when it may come back as another of itself: its client would only be silent for ever."""
    name = group()
    with middleware.data.consumer(stream, name, "0") as first:
        publish(middleware, stream, numbered(0, 10))
        assert first.poll(1, timeout=30)
        with middleware.data.consumer(stream, name, "0"), pytest.raises(MiddlewareError, match="fenced"):
            read(first, 100, commit=False)


@pytest.mark.only("nats", "pulsar")
def test_partitions_that_are_added_are_shared_by_members_that_read_already(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    """Where the application keeps the group: whichever member sees them first."""
    name, seen = group(), set[bytes]()
    with middleware.data.consumer(stream, name, "0") as one, middleware.data.consumer(stream, name, "1") as two:

        def shares() -> list[list[int]]:
            for consumer in (one, two):
                seen.update(consumer.poll(100, timeout=0.2))
                consumer.commit()
            return [sorted(consumer._membership.held()) for consumer in (one, two)]  # type: ignore[attr-defined]

        eventually("each member has a partition", lambda: sorted(shares()) == [[0], [1]])
        servers.operator().scale(stream, 4)
        with middleware.data.producer(stream) as producer:
            for number in range(200):
                producer.send(str(number), b"%d" % number)
            producer.flush()
        eventually("each has two of four", lambda: sorted(map(len, shares())) == [2, 2])
        eventually("all events were read", lambda: shares() and seen == set(numbered(0, 200)))


def test_two_consumers_share_a_stream(middleware: Middleware, stream: str, servers: Servers, tmp_path: Path) -> None:
    """The second one gets its share after a while; when it is gone, its share is read by its successor."""
    name = group()
    stop = threading.Event()
    sent: list[bytes] = []

    def keep_sending() -> None:
        with middleware.data.producer(stream) as producer:
            while not stop.wait(0.01):
                event = b"%d" % len(sent)
                producer.send(event.decode(), event)
                sent.append(event)
            producer.flush()

    first = Member(servers, stream, name, "first", tmp_path / "first")
    second = None
    sender = threading.Thread(target=keep_sending)
    sender.start()
    try:
        eventually("the first reads", lambda: len(first.events()) > 100)
        second = Member(servers, stream, name, "second", tmp_path / "second")
        eventually("the second has a share", lambda: len(second.events()) > 100, 90)
        second.kill()
        second = Member(servers, stream, name, "second", tmp_path / "second")
        stop.set()
        sender.join()
        eventually("both together read all", lambda: set(first.events()) | set(second.events()) == set(sent), 90)
    finally:
        stop.set()
        sender.join()
        first.kill()
        if second:
            second.kill()


@contextmanager
def waiting(servers: Servers, stream: str, name: str) -> Iterator[subprocess.Popen[str]]:
    """A member that has polled, and commits when it is told to."""
    command = [sys.executable, "-m", "tests.conformance.waiting", str(servers.settings().settings_file), stream, name]
    process = subprocess.Popen([*command, "first"], cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "polled\n"
        yield process
    finally:
        process.kill()
        process.wait()


def commit(member: subprocess.Popen[str]) -> str:
    print(file=member.stdin, flush=True)
    return member.stdout.readline().strip()


def spread(middleware: Middleware, stream: str) -> list[bytes]:
    """Events in each partition."""
    for number in range(20):
        publish(middleware, stream, numbered(number, 1), key=str(number))
    return numbered(0, 20)


@pytest.mark.slow
def test_who_stood_still_is_told_that_others_have_its_share(
    middleware: Middleware, stream: str, servers: Servers
) -> None:
    """As when a laptop is closed between a poll and its commit."""
    name = group()
    spread(middleware, stream)
    with waiting(servers, stream, name) as member:
        member.send_signal(signal.SIGSTOP)
        with middleware.data.consumer(stream, name, "second") as second:
            read(second, 5, commit=False)
            member.send_signal(signal.SIGCONT)
            assert commit(member) == "refused"
            eventually("all comes to the second", lambda: second.poll(100, 1) or second.commit(), 60)


STANDSTILL_S = 15


@pytest.mark.slow
def test_who_takes_its_time_keeps_its_share(middleware: Middleware, stream: str, servers: Servers) -> None:
    """Longer than a member may be silent: otherwise members that wait for the same server would never commit."""
    skip_on_that_of_the_tests(middleware, "gives a new member its share at once")
    name = group()
    publish(middleware, stream, numbered(0, 20))
    with waiting(servers, stream, name) as member, middleware.data.consumer(stream, name, "second") as second:
        until = time.monotonic() + STANDSTILL_S
        while time.monotonic() < until:
            assert second.poll(100, timeout=0.5) == []
        assert commit(member) == "committed"
