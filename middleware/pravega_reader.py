"""Reads Pravega: a member of a reader group, and what its client raises."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from middleware.base import Consumer, MiddlewareError, Unreachable

IDLE_SECONDS = 2.0
"""The client answers a request for a slice after a second when nothing comes."""

REJOIN_SECONDS = 15.0
"""The client gives up reading a segment, without saying so, when a read of it fails in a way that it does not know, as
while the segment store recovers from the loss of its bookie. Whoever joins the group reads all segments again."""


@contextmanager
def raising(error: type[MiddlewareError], what: str) -> Iterator[None]:
    """Turns what the client raises into one of ours; its panics derive from BaseException and have no public name."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MiddlewareError):
        raise
    except BaseException as cause:
        raise error(f"{what}: {cause}") from cause


class PravegaConsumer(Consumer):
    """Reader of a reader group.

    A slice is what one read of a segment brought, up to 2 MiB. Its position counts as read when it is released, so it
    is held until `commit`, and then released at the last event handed out. While a slice is held the client may wait
    for it before it gives the next one: polling on without a commit lets go of it in a way that stores no position.
    """

    def __init__(self, group: Any, member: str, stream: str) -> None:
        self._group = group
        self._member = member
        self._stream = stream
        self._loop = asyncio.new_event_loop()
        self._reader: Any = None
        self._slice: Any = None
        self._next: asyncio.Future[Any] | None = None
        self._uncommitted = False  # events of the held slice were handed out
        self._let_go = False  # so were events of an earlier slice, which is not held any more
        with raising(Unreachable, f"cannot read {stream}"):
            group.reader_offline(member)  # a predecessor that was killed
        self._join()

    def _join(self) -> None:
        with raising(Unreachable, f"cannot read {self._stream}"):
            self._reader = self._group.create_reader(self._member)
        self._rejoin_at = time.monotonic() + REJOIN_SECONDS

    def _rejoin_if_due(self) -> None:
        """Only where no slice is held or asked for. What was polled and not committed comes again."""
        if time.monotonic() < self._rejoin_at or self._next or self._slice is not None:
            return
        self._leave()
        self._join()

    def _leave(self) -> None:
        """The reader is gone before a successor comes: it takes whoever bears its name offline once more."""
        with raising(MiddlewareError, f"leaving the group of {self._stream} failed"):
            if self._let_go:
                self._group.reader_offline(self._member)  # at the positions stored so far
            else:
                self._reader.reader_offline()  # at the start of the held slice, and the end of all others
        self._reader, self._let_go = None, False

    def poll(self, max_events: int, timeout: float) -> list[bytes]:
        deadline = time.monotonic() + timeout
        while True:
            if self._slice is not None:
                if events := [event.data() for event in islice(self._slice, max_events)]:
                    self._uncommitted = True
                    if self._let_go:
                        self._rejoin_at = time.monotonic() + REJOIN_SECONDS  # while they come there is no need to
                    return events
                self._let_go, self._uncommitted = self._let_go or self._uncommitted, False
                self._slice = None
            self._rejoin_if_due()
            left = deadline - time.monotonic()
            if left <= 0:
                return []
            self._slice = self._acquire(left)

    def _acquire(self, timeout: float) -> Any:
        """Next slice, or None. A request that outlives the timeout is kept: cancelling it would lose its slice."""
        if self._next is None:
            self._next = self._loop.create_task(self._request())
        self._loop.run_until_complete(asyncio.wait([self._next], timeout=timeout))
        if not self._next.done():
            return None
        finished, self._next = self._next, None
        with raising(MiddlewareError, f"reading {self._stream} failed"):
            return finished.result()

    async def _request(self) -> Any:
        return await self._reader.get_segment_slice_async()

    def commit(self) -> None:
        if self._slice is not None:
            held, self._slice = self._slice, None
            with raising(MiddlewareError, f"committing {self._stream} failed"):
                self._reader.release_segment(held)
        self._uncommitted = self._let_go = False

    def close(self) -> None:
        """Leaves the group at the last commit, so that another member may go on there."""
        if self._loop.is_closed():
            return
        if self._next is not None:
            self._loop.run_until_complete(asyncio.wait([self._next], timeout=IDLE_SECONDS))
        self._leave()
        self._slice = self._next = None
        self._loop.close()
