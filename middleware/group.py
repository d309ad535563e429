"""How the members of a consumer group share the partitions of a stream: pure functions over the group's record.

For stores whose own groups would lose events of a member that makes whole batches durable, or have none. A group is a
record that is replaced by compare and set: the committed offset of every partition, and who reads which. A member holds
its partitions as long as it renews its lease; it gives one away only where everything of it is committed. Leases
compare the clocks of the members, which must agree to a second or so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

LEASE_S = 10.0
"""Who has not renewed for so long is dead: others read its partitions from the committed offsets."""


class Superseded(Exception):
    """Another process took the place of this member."""


@dataclass
class Member:
    """`life` tells a process from its successor of the same name; `until` is in seconds since the epoch."""

    life: str
    until: float
    partitions: list[int] = field(default_factory=list)


@dataclass
class Group:
    """`offsets`: partition → offset after the last committed event."""

    offsets: dict[int, int]
    members: dict[str, Member] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, record: bytes) -> Group:
        fields = json.loads(record)
        return cls(
            {int(partition): offset for partition, offset in fields["offsets"].items()},
            {name: Member(**member) for name, member in fields["members"].items()},
        )

    def join(self, name: str, life: str, now: float) -> None:
        """Takes the place of a predecessor of the same name, with its partitions, whether or not it is dead."""
        held = self.members[name].partitions if name in self.members else []
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
        """Stores the offsets of those partitions that the member holds, and gives away what is not of its share.

        Whether it held all of them. Raises Superseded.
        """
        own = self._own(name, life)
        held = set(own.partitions)
        self.offsets.update({partition: offset for partition, offset in offsets.items() if partition in held})
        self._bury(now, name)
        own.partitions = sorted(held & self.share(name))
        own.until = now + LEASE_S
        return held.issuperset(offsets)

    def extend(self, partitions: Iterable[int]) -> None:
        """Adds partitions of which nothing is committed; nobody holds them yet."""
        for partition in partitions:
            self.offsets.setdefault(partition, 0)

    def leave(self, name: str, life: str) -> None:
        if name in self.members and self.members[name].life == life:
            del self.members[name]

    def share(self, name: str) -> set[int]:
        """Partitions that the member should read, given who is there: every n-th."""
        names, partitions = sorted(self.members), sorted(self.offsets)
        return set(partitions[names.index(name) :: len(names)])

    def free_for(self, name: str, now: float) -> set[int]:
        """Partitions of the member's share that nobody alive holds, now that the dead have lost theirs."""
        living = Group(self.offsets, dict(self.members))
        living._bury(now, name)
        return living.share(name) - set(_partitions(living.members.values()))

    def living(self, now: float) -> list[str]:
        """Members that have not left and whose leases are not over."""
        return sorted(name for name, member in self.members.items() if member.until >= now)

    def held(self, name: str) -> list[int]:
        return self.members[name].partitions

    def _own(self, name: str, life: str) -> Member:
        """The member's entry; made anew, without partitions, if others took it for dead."""
        if name not in self.members:
            self.members[name] = Member(life, 0.0)
        elif self.members[name].life != life:
            raise Superseded(f"another process reads as member {name!r} of the group")
        return self.members[name]

    def _take(self, name: str, now: float) -> None:
        self._bury(now, name)
        free = set(self.offsets) - set(_partitions(self.members.values()))
        own = self.members[name]
        own.partitions = sorted({*own.partitions, *(free & self.share(name))})

    def _bury(self, now: float, survivor: str) -> None:
        self.members = {
            name: member for name, member in self.members.items() if name == survivor or member.until >= now
        }


def _partitions(members: Iterable[Member]) -> Iterable[int]:
    return (partition for member in members for partition in member.partitions)
