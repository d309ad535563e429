"""How the members of a consumer group share the segments of a stream: pure functions over the group's record.

Pravega's own reader groups count an event as read when the next one is asked for, and give segments away then; a member
that makes whole batches durable would lose events in between. So a group is a record in a key-value table, replaced by
compare and set: the committed offset of every segment, and who reads which. A member holds its segments as long as it
renews its lease; it gives one away only where everything of it is committed. Leases compare the clocks of the members,
which must agree to a second or so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

LEASE_S = 10.0
"""Who has not renewed for so long is dead: others read its segments from the committed offsets."""


class Superseded(Exception):
    """Another process took the place of this member."""


@dataclass
class Member:
    """`life` tells a process from its successor of the same name; `until` is in seconds since the epoch."""

    life: str
    until: float
    segments: list[int] = field(default_factory=list)


@dataclass
class Group:
    """`offsets`: segment → offset after the last committed event."""

    offsets: dict[int, int]
    members: dict[str, Member] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, record: bytes) -> Group:
        fields = json.loads(record)
        return cls(
            {int(segment): offset for segment, offset in fields["offsets"].items()},
            {name: Member(**member) for name, member in fields["members"].items()},
        )

    def join(self, name: str, life: str, now: float) -> None:
        """Takes the place of a predecessor of the same name, with its segments, whether or not it is dead."""
        held = self.members[name].segments if name in self.members else []
        self.members[name] = Member(life, now + LEASE_S, held)
        self._take(name, now)

    def renew(self, name: str, life: str, now: float) -> None:
        """Prolongs the lease, and takes what of the member's share nobody holds. Raises Superseded."""
        self._own(name, life).until = now + LEASE_S
        self._take(name, now)

    def prolong(self, name: str, life: str, now: float) -> bool:
        """Prolongs the lease and takes nothing; False if the member is not there any more."""
        if name not in self.members or self.members[name].life != life:
            return False
        self.members[name].until = now + LEASE_S
        return True

    def commit(self, name: str, life: str, offsets: Mapping[int, int], now: float) -> bool:
        """Stores the offsets of those segments that the member holds, and gives away what is not of its share.

        Whether it held all of them. Raises Superseded.
        """
        own = self._own(name, life)
        held = set(own.segments)
        self.offsets.update({segment: offset for segment, offset in offsets.items() if segment in held})
        self._bury(now, name)
        own.segments = sorted(held & self.share(name))
        own.until = now + LEASE_S
        return held.issuperset(offsets)

    def leave(self, name: str, life: str) -> None:
        if name in self.members and self.members[name].life == life:
            del self.members[name]

    def share(self, name: str) -> set[int]:
        """Segments that the member should read, given who is there: every n-th."""
        names, segments = sorted(self.members), sorted(self.offsets)
        return set(segments[names.index(name) :: len(names)])

    def free_for(self, name: str, now: float) -> set[int]:
        """Segments of the member's share that nobody alive holds, now that the dead have lost theirs."""
        living = Group(self.offsets, dict(self.members))
        living._bury(now, name)
        return living.share(name) - set(_segments(living.members.values()))

    def living(self, now: float) -> list[str]:
        """Members that have not left and whose leases are not over."""
        return sorted(name for name, member in self.members.items() if member.until >= now)

    def held(self, name: str) -> list[int]:
        return self.members[name].segments

    def _own(self, name: str, life: str) -> Member:
        """The member's entry; made anew, without segments, if others took it for dead."""
        if name not in self.members:
            self.members[name] = Member(life, 0.0)
        elif self.members[name].life != life:
            raise Superseded(f"another process reads as member {name!r} of the group")
        return self.members[name]

    def _take(self, name: str, now: float) -> None:
        self._bury(now, name)
        free = set(self.offsets) - set(_segments(self.members.values()))
        own = self.members[name]
        own.segments = sorted({*own.segments, *(free & self.share(name))})

    def _bury(self, now: float, survivor: str) -> None:
        self.members = {
            name: member for name, member in self.members.items() if name == survivor or member.until >= now
        }


def _segments(members: Iterable[Member]) -> Iterable[int]:
    return (segment for member in members for segment in member.segments)
