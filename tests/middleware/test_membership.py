"""A member changes the group's record as it was read last, and not as it was before that."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from middleware.errors import Unreachable
from middleware.group import Group
from middleware.membership import RENEW_S, Membership


@dataclass
class Store:
    """A record that knows its revision."""

    content: bytes
    revision: int = 0
    fails: bool = False
    """Whether it cannot be changed."""


class OneRecord:
    """As a client of the store sees it."""

    def __init__(self, store: Store) -> None:
        self._store, self._read = store, -1

    def read(self) -> bytes:
        self._read = self._store.revision
        return self._store.content

    def replace(self, content: bytes) -> bool:
        if self._store.fails:
            raise Unreachable("the store does not answer")
        if self._read != self._store.revision:
            return False
        self._read = self._store.revision = self._store.revision + 1
        self._store.content = content
        return True


def test_what_others_committed_stays_where_a_look_came_to_nothing() -> None:
    """It had read the record and could not renew its lease: what it knew before is older than what it read."""
    store = Store(Group({0: 0, 1: 0}).to_bytes())
    first = Membership(lambda: OneRecord(store), "stream", "first")
    second = Membership(lambda: OneRecord(store), "stream", "second")
    try:
        first.commit({0: 5, 1: 5})  # and gives partition 1 away
        assert second.look()
        assert second.held() == {1}
        second.commit({1: 9})
        first._renewed = time.monotonic() - RENEW_S
        store.fails = True
        with pytest.raises(Unreachable):
            first.look()
        store.fails = False
        first.commit({0: 6})
        group = Group.from_bytes(store.content)
        assert group.offsets == {0: 6, 1: 9}
        assert group.held("second") == [1]
    finally:
        first.leave()
        second.leave()
