"""The consumer groups of an audit go with it; those of one that was killed go with the next."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from audit import consumer_groups
from common.tweets import STREAMS
from middleware.errors import MiddlewareError, UnknownStream
from tests.audit.chain import Chain

KILLED = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from audit.bounded_reader import reading
from common.settings import Settings
from common.tweets import RAW, STREAMS
from tests.memory import Memory

memory = Memory(Settings(home=Path(sys.argv[1]), instance="chain"))
for stream in STREAMS:
    memory.admin.create_stream(stream, 1)
with ExitStack() as stack:
    reading(stack, memory, "head")
    print(*memory.logs[RAW].groups, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other(chain: Chain) -> Iterator[subprocess.Popen[str]]:
    """An audit in a process of its own, whose groups are in the chain's streams, too."""
    command = [sys.executable, "-c", KILLED, str(chain.settings.home)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout
    name = child.stdout.readline().strip()
    for stream in STREAMS:
        chain.memory.data.consumer(stream, name).close()
    yield child
    child.kill()
    child.communicate()


def held(chain: Chain) -> int:
    return sum(len(log.groups) for log in chain.memory.logs.values())


def test_groups_of_an_audit_that_was_killed_go_with_the_next(chain: Chain, other: subprocess.Popen[str]) -> None:
    with chain.audit():
        assert held(chain) == 2 * len(STREAMS)
    assert held(chain) == len(STREAMS), "it is alive"
    other.kill()
    other.wait()
    with chain.audit():
        pass
    assert held(chain) == 0
    assert list(consumer_groups.folder(chain.settings).iterdir()) == []


def test_groups_that_cannot_be_removed_now_are_removed_later(chain: Chain) -> None:
    with chain.audit():
        chain.memory.down = True
    chain.memory.down = False
    assert held(chain) == len(STREAMS)
    with chain.audit():
        pass
    assert held(chain) == 0


def test_an_audit_that_fails_while_it_begins_leaves_no_group(chain: Chain) -> None:
    chain.memory.delete_stream(STREAMS[-1])
    with pytest.raises(UnknownStream), chain.audit():
        pytest.fail("a stream is missing")
    assert held(chain) == 0


@pytest.mark.parametrize("left", [["audit-1", "audit-2"], []])
def test_a_group_that_one_stream_keeps_is_removed_from_the_others(
    chain: Chain, monkeypatch: pytest.MonkeyPatch, left: list[str]
) -> None:
    """Be it the audit's own or one of those that others left, which does not hold up the next of those either."""
    forget, noted = chain.memory.admin.forget_group, consumer_groups.folder(chain.settings)
    noted.mkdir()
    for name in left:
        (noted / name).touch()
        for stream in STREAMS:
            chain.memory.data.consumer(stream, name).close()

    def refusing(stream: str, group: str) -> None:
        if stream == STREAMS[0] and (group == "audit-1" or not left):
            raise MiddlewareError(f"{stream} keeps {group}")
        forget(stream, group)

    with monkeypatch.context() as patch:
        patch.setattr(chain.memory.admin, "forget_group", refusing)
        with chain.audit():
            pass
    assert held(chain) == len(list(noted.iterdir())) == 1
    with chain.audit():
        pass
    assert held(chain) == len(list(noted.iterdir())) == 0


def test_no_audit_removes_more_than_some(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_groups, "MOST_REMOVED", 2)
    left = consumer_groups.folder(chain.settings)
    left.mkdir()
    for number in range(3):
        (left / f"audit-{number}").touch()
    with chain.audit():
        pass
    assert len(list(left.iterdir())) == 1


def test_others_go_though_the_own_one_is_kept(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_groups, "MOST_REMOVED", 2)
    forget, noted = chain.memory.admin.forget_group, consumer_groups.folder(chain.settings)
    noted.mkdir()
    left = ["audit-1", "audit-2"]
    for name in left:
        (noted / name).touch()

    def refusing(stream: str, group: str) -> None:
        if group not in left:
            raise MiddlewareError(f"{stream} keeps {group}")
        forget(stream, group)

    monkeypatch.setattr(chain.memory.admin, "forget_group", refusing)
    with chain.audit():
        (own,) = {path.name for path in noted.iterdir()} - set(left)
    assert [path.name for path in noted.iterdir()] == [own]
