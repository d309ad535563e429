"""A process as a member of a group that is kept in a record: it joins, renews its lease, commits and leaves.

The lease is renewed while it handles what it has polled, however long that takes: by a thread. Otherwise a database or
an index that is slow for longer than a lease would have the members take each other's partitions, and none of them
would ever commit. A process that stands still renews nothing, thread or not.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeVar

from middleware.data import Position
from middleware.errors import MiddlewareError, Unreachable
from middleware.group import LEASE_S, Group, Superseded

RENEW_S = 3.0
"""How often a lease is renewed while nothing is committed."""

LONGEST_S = 300.0
"""Who handles the same events for longer hangs, and loses its partitions."""

LOOK_S = 1.0
"""How often a member looks who else is there."""

RETRY_S, PAUSE_S = 60.0, 0.3
"""How long a call is tried while the servers are away."""

ANSWER_S = 10.0
"""What moving a group adds to the time that a lease may last."""

log = logging.getLogger(__name__)
T = TypeVar("T")


class Record(Protocol):
    """The record of a group; it remembers which version was read last. Raises Unreachable."""

    def read(self) -> bytes | None:
        """None if there is none."""

    def replace(self, content: bytes) -> bool:
        """False, and nothing is changed, if the record is not as it was read last."""


class Membership:
    """Of one process, for the thread that reads. Raises MiddlewareError where another took its place."""

    def __init__(self, record: Callable[[], Record], stream: str, member: str) -> None:
        """`record`: makes one of the group, which exists; each thread has its own."""
        self._record, self._stream = record(), stream
        self.member, self._life = member, uuid.uuid4().hex
        self._is_current = False  # whether `group` is what the record was read or written as last
        self.group = self._change(lambda group: group.join(self.member, self._life, time.time()))
        self._looked = self._renewed = self._polled = time.monotonic()
        self._closed = threading.Event()
        threading.Thread(target=self._renew, args=(record(),), name=f"lease-{member}", daemon=True).start()

    def held(self) -> set[int]:
        """Partitions that this member reads."""
        return set(self.group.held(self.member))

    def must_give_away(self, partitions: set[int]) -> bool:
        """Whether a commit lets others have some of them."""
        return bool(self.held() and partitions - self.group.share(self.member))

    def polled(self) -> None:
        """The lease ends by itself LONGEST_S after the last call."""
        self._polled = time.monotonic()

    def is_to_look(self) -> bool:
        """Whether it is time to look who else is there."""
        if time.monotonic() - self._looked < LOOK_S:
            return False
        self._looked = time.monotonic()
        return True

    def look(self) -> bool:
        """Takes what of this member's share is free, and prolongs its lease; whether its partitions may have changed.
        Raises Unreachable."""
        self._is_current = False
        group = self._read()
        own = group.members.get(self.member)
        settled = own is not None and own.life == self._life and not group.free_for(self.member, time.time())
        if settled and time.monotonic() - self._renewed < RENEW_S:
            self.group, self._is_current = group, True
            return False
        renewed = self._update(group, lambda seen: seen.renew(self.member, self._life, time.time()))
        if renewed:
            self.group, self._renewed, self._is_current = renewed, time.monotonic(), True
        return renewed is not None

    def commit(self, offsets: Mapping[int, int]) -> bool:
        """Whether the member held all of these partitions; its partitions may have changed."""
        held_all = False

        def change(group: Group) -> None:
            nonlocal held_all
            held_all = group.commit(self.member, self._life, offsets, time.time())

        self.group = self._change(change, self.group if self._is_current else None)
        self._renewed = time.monotonic()
        return held_all

    def extend(self, partitions: Iterable[int]) -> None:
        """Has the group read partitions that were added to the stream, from their beginning."""
        self.group = self._change(lambda group: group.extend(partitions))

    def leave(self) -> None:
        """So that others need not wait for the lease to end; as well as the servers allow."""
        self._closed.set()
        try:
            self._update(self._read(), lambda group: group.leave(self.member, self._life))
        except MiddlewareError as error:
            log.warning("leaving the group of %s: %s", self._stream, error)

    def _change(self, change: Callable[[Group], None], group: Group | None = None) -> Group:
        """Applies a change to the group's record, whoever else changes it; `group`: the record as last seen."""
        self._is_current = False
        while True:
            seen = group or tried(f"reading the group of {self._stream}", self._read)
            group = None
            if changed := tried(f"changing the group of {self._stream}",
                                lambda seen=seen: self._update(seen, change)):  # type: ignore[misc]
                self._is_current = True
                return changed

    def _read(self) -> Group:
        content = self._record.read()
        if content is None:
            raise MiddlewareError(f"the group of {self._stream} was removed while a member reads")
        return Group.from_bytes(content)

    def _update(self, group: Group, change: Callable[[Group], None]) -> Group | None:
        """The changed group, or None if somebody else was faster."""
        try:
            change(group)
        except Superseded as error:
            raise MiddlewareError(f"{self._stream}: {error}") from error
        return group if self._record.replace(group.to_bytes()) else None

    def _renew(self, record: Record) -> None:
        while not self._closed.wait(RENEW_S / 3):
            # Whoever polls renews by itself: this comes to it only where it does not poll.
            silent_s = time.monotonic() - max(self._renewed, self._polled)
            if silent_s >= RENEW_S and time.monotonic() - self._polled < LONGEST_S:
                try:
                    self._prolong(record)
                except MiddlewareError as error:
                    log.info("cannot renew the lease of member %r: %s", self.member, error)

    def _prolong(self, record: Record) -> None:
        content = record.read()
        if content is None:
            return
        group = Group.from_bytes(content)
        if group.prolong(self.member, self._life, time.time()) and record.replace(group.to_bytes()):
            self._renewed = time.monotonic()


def move(record: Record, group: str, to: Position, life: str = "") -> None:
    """Commits `to` for a group, once none of its members may be taken for alive. Raises MiddlewareError when one is."""
    deadline = time.monotonic() + LEASE_S + ANSWER_S
    while True:
        seen = record.read()
        living = Group.from_bytes(seen).living(time.time()) if seen is not None else []
        if not living and record.replace(Group(dict(to.offsets), life=life).to_bytes()):
            return
        if time.monotonic() > deadline:
            raise MiddlewareError(f"cannot move the group {group} of {to.stream}: {', '.join(living)} reads")
        time.sleep(PAUSE_S)


def tried(what: str, call: Callable[[], T]) -> T:
    """Its answer, as soon as the servers give one within RETRY_S. Raises Unreachable."""
    deadline = time.monotonic() + RETRY_S
    while True:
        try:
            return call()
        except Unreachable as error:
            if time.monotonic() > deadline:
                raise
            log.info("%s: %s; trying again", what, error)
            time.sleep(PAUSE_S)
