"""The consumer groups of an audit go with it; those of one that was killed go with the next."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from cli.audit import groups
from common.tweets import STREAMS
from tests.cli.audit.chain import Chain

KILLED = """
import sys, time
from contextlib import ExitStack
from pathlib import Path
from cli.audit.reader import reading
from common.settings import Settings
from common.tweets import RAW, STREAMS
from tests.memory import Memory

memory = Memory(Settings(home=Path(sys.argv[1]), instance="chain"))
for stream in STREAMS:
    memory.create_stream(stream, 1)
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
        chain.memory.consumer(stream, name).close()
    yield child
    child.kill()
    child.communicate()


def held(chain: Chain) -> int:
    return sum(len(chain.memory.logs[stream].groups) for stream in STREAMS)


def test_groups_of_an_audit_that_was_killed_go_with_the_next(chain: Chain, other: subprocess.Popen[str]) -> None:
    with chain.audit():
        assert held(chain) == 2 * len(STREAMS)
    assert held(chain) == len(STREAMS), "it is alive"
    other.kill()
    other.wait()
    with chain.audit():
        pass
    assert held(chain) == 0
    assert list(groups.folder(chain.settings).iterdir()) == []


def test_groups_that_cannot_be_removed_now_are_removed_later(chain: Chain) -> None:
    with suppress(groups.MiddlewareError), chain.audit():
        chain.memory.down = True
    chain.memory.down = False
    assert held(chain) == len(STREAMS)
    with chain.audit():
        pass
    assert held(chain) == 0


def test_no_audit_removes_more_than_some(chain: Chain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_REMOVED", 2)
    left = groups.folder(chain.settings)
    left.mkdir()
    for number in range(3):
        (left / f"audit-{number}").touch()
    with chain.audit():
        pass
    assert len(list(left.iterdir())) == 1
