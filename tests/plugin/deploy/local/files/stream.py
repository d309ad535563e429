"""A stream: its partitions, and the groups that share them. Nothing here waits, or is for more than one thread."""

from __future__ import annotations

import json
import shutil
import uuid
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from common.storage import files
from deploy.local.files.log import LENGTH, Log
from middleware.errors import MiddlewareError, Overtaken

MOST = 1 << 30
"""More events than one answer holds: it is bound by its bytes."""

Read = list[tuple[int, int, bytes]]
"""Partition, offset and event of each that is handed out."""

Gone = list[tuple[int, int, int]]
"""Partition, position and head of each whose next events retention has taken."""


@dataclass(eq=False)
class Member:
    """A live member of a group: `positions`, by partition of its share, are behind what it was handed out. `shared`:
    since it last committed, members came or went, who may have been handed out the same."""

    group: str
    from_head: bool
    shared: bool = False
    positions: dict[int, int] = field(default_factory=dict)


class Stream:
    """`<folder>/stream.json` tells what the files beside it are, `groups/` what each group has committed."""

    def __init__(self, folder: Path, synced: bool) -> None:
        known = json.loads((folder / "stream.json").read_text())
        self.life, self._bound = known["life"], known["bound"]
        self._folder, self._synced = folder, synced
        self._logs = [Log(folder / f"{at}.log", head, synced) for at, head in enumerate(known["heads"])]
        self._members: list[Member] = []
        self._due: dict[int, int] = {}

    @classmethod
    def create(cls, folder: Path, partitions: int, bound: int, synced: bool) -> Stream:
        shutil.rmtree(folder, ignore_errors=True)  # what is left of one that a killed server deleted
        (folder / "groups").mkdir(parents=True)
        known = {"life": uuid.uuid4().hex, "bound": bound, "heads": [0] * partitions}
        files.replace(folder / "stream.json", json.dumps(known))
        return cls(folder, synced)

    @property
    def heads(self) -> dict[int, int]:
        return {at: log.head for at, log in enumerate(self._logs)}

    @property
    def ends(self) -> dict[int, int]:
        return {at: log.end for at, log in enumerate(self._logs)}

    def append(self, events: Iterable[tuple[bytes, bytes]]) -> None:
        """Pairs of key and event; those of one key go to one partition."""
        shares: dict[int, list[bytes]] = {}
        for key, event in events:
            shares.setdefault(zlib.crc32(key) % len(self._logs), []).append(event)
        for at, share in shares.items():
            self._logs[at].append(share)

    def read(self, partition: int, offset: int, end: int) -> list[tuple[int, bytes]]:
        """Some of the events between two offsets, with that of each; none at the end. Raises Overtaken."""
        log = self._logs[partition]
        if offset < log.head:
            raise Overtaken.at(self._folder.name, partition, offset, log.head, "bytes")
        found = log.read(offset, MOST)
        return [(at, event) for at, event in found if at < end]

    def first(self) -> list[bytes]:
        """Of each partition that has one."""
        return [event for log in self._logs for _, event in log.read(log.head, 1)]

    def committed(self, group: str) -> dict[int, int] | None:
        """None if there is no such group; the head of a partition that is newer than what it committed."""
        try:
            known = json.loads(self._group(group).read_text())
        except FileNotFoundError:
            return None
        return {at: known.get(str(at), log.head) for at, log in enumerate(self._logs)}

    def move(self, group: str, offsets: Mapping[int, int]) -> bool:
        """Whether the group, which is made if there is none, stands there now: not while it has members."""
        if any(member.group == group for member in self._members):
            return False
        self._store(group, offsets)
        return True

    def forget(self, group: str) -> None:
        self._group(group).unlink(missing_ok=True)

    def join(self, member: Member, start: str) -> None:
        if start != "committed" or self.committed(member.group) is None:
            self._store(member.group, self.ends if start == "tail" else self.heads)
        self._members.append(member)
        self._share_anew(member)

    def leave(self, member: Member) -> None:
        if member in self._members:
            self._members.remove(member)
            self._share_anew(member)

    def _share_anew(self, of: Member) -> None:
        for other in self._members:
            other.shared |= other.group == of.group and other is not of

    def poll(self, member: Member, most: int) -> tuple[Read, Gone]:
        """The next events of the member's share, whose partitions take turns to be the first that is read.

        What is gone of a partition is told each time, or passed over once.
        """
        read: Read = []
        gone: Gone = []
        positions = list(self._positions(member).items())
        member.positions = dict(positions[1:] + positions[:1])
        for at, position in positions:
            log = self._logs[at]
            if position < log.head:
                gone.append((at, position, log.head))
                if not member.from_head:
                    continue
                member.positions[at] = position = log.head
            for offset, event in log.read(position, most - len(read)):
                read.append((at, offset, event))
                member.positions[at] = offset + LENGTH.size + len(event)
        return read, gone

    def offsets(self, member: Member) -> dict[int, int]:
        """By partition of the member's share, the offset before which nothing is left to hand out."""
        return {at: max(position, self._logs[at].head) for at, position in self._positions(member).items()}

    def commit(self, member: Member) -> bool:
        """Whether nobody else can have had what the member was handed out. Raises MiddlewareError where the group is
        gone."""
        alone, member.shared = not member.shared, False
        committed = self._require(member.group)
        if committed != (moved := committed | self._positions(member)):
            self._store(member.group, moved)
        return alone

    def truncate(self, offsets: Mapping[int, int]) -> None:
        heads = {at: max(log.head, offsets.get(at, 0)) for at, log in enumerate(self._logs)}
        self._describe(list(heads.values()))
        for at, head in heads.items():
            self._logs[at].truncate(head)

    def scale(self, partitions: int) -> None:
        """Adds partitions up to so many; which keys come to which depends on their number."""
        self._describe([*self.heads.values(), *[0] * (partitions - len(self._logs))])
        self._logs += [Log(self._folder / f"{at}.log", 0, self._synced) for at in range(len(self._logs), partitions)]

    def retain(self) -> None:
        """Lets go of what was beyond the bound when this was called last: so nobody is overtaken by a burst at once."""
        if any(offset > self._logs[at].head for at, offset in self._due.items()):
            self.truncate(self._due)
        self._due = {at: log.surplus(self._bound // len(self._logs)) for at, log in enumerate(self._logs)}

    def delete(self) -> None:
        (self._folder / "stream.json").unlink()
        for log in self._logs:
            log.close()
        shutil.rmtree(self._folder)

    def _positions(self, member: Member) -> dict[int, int]:
        """Of every n-th partition, for one of n members; where a share is new, it begins at what is committed."""
        others = [other for other in self._members if other.group == member.group]
        share = range(len(self._logs))[others.index(member) :: len(others)]
        if member.positions.keys() != set(share):
            committed = self._require(member.group)
            member.positions = {at: member.positions.get(at, committed[at]) for at in share}
        return member.positions

    def _require(self, group: str) -> dict[int, int]:
        committed = self.committed(group)
        if committed is None:
            raise MiddlewareError(f"the group {group} was removed while a member reads")
        return committed

    def _describe(self, heads: list[int]) -> None:
        known = {"life": self.life, "bound": self._bound, "heads": heads}
        files.replace(self._folder / "stream.json", json.dumps(known))

    def _store(self, group: str, offsets: Mapping[int, int]) -> None:
        files.replace(self._group(group), json.dumps({str(at): offset for at, offset in offsets.items()}))

    def _group(self, group: str) -> Path:
        return self._folder / "groups" / f"{group}.json"
