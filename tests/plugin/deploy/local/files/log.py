"""A partition: a file to which events are appended, each behind its length. An offset counts bytes from the first."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

LENGTH = struct.Struct(">I")
READ_BYTES = 4 << 20
"""What is handed out in one piece, or one event if that is larger."""

PUNCH_HOLE = 0x01 | 0x02  # FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE


class Log:
    def __init__(self, path: Path, head: int, synced: bool) -> None:
        """`synced`: whether what was appended is on disk before `append` returns."""
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self.head, self._synced = head, synced
        self.end = self._whole(head)
        os.ftruncate(self._descriptor, self.end)

    def append(self, events: Iterable[bytes]) -> None:
        """All of them, or an OSError and none."""
        block = b"".join(LENGTH.pack(len(event)) + event for event in events)
        try:
            written = 0
            while written < len(block):
                written += os.pwrite(self._descriptor, memoryview(block)[written:], self.end + written)
            if self._synced:
                os.fdatasync(self._descriptor)
        except OSError:
            os.ftruncate(self._descriptor, self.end)
            raise
        self.end += len(block)

    def read(self, offset: int, most: int) -> list[tuple[int, bytes]]:
        """The next events from an offset on, with that of each."""
        if offset >= self.end:
            return []
        block = os.pread(self._descriptor, max(READ_BYTES, self._behind(offset) - offset), offset)
        events: list[tuple[int, bytes]] = []
        at = 0
        while len(events) < most and offset + at < self.end and at + LENGTH.size <= len(block):
            (length,) = LENGTH.unpack_from(block, at)
            event = block[at + LENGTH.size : at + LENGTH.size + length]
            if len(event) < length:
                break
            events.append((offset + at, event))
            at += LENGTH.size + length
        return events

    def surplus(self, bound: int) -> int:
        """The offset from which on it holds `bound` bytes, or the whole event that this cuts into."""
        offset = self.head
        while offset < self.end and self.end - self._behind(offset) >= bound:
            offset = self._behind(offset)
        return offset

    def truncate(self, offset: int) -> None:
        """Gives the disk back what lies before an offset."""
        self.head = max(self.head, offset)
        ctypes.CDLL(None).fallocate(self._descriptor, PUNCH_HOLE, ctypes.c_long(0), ctypes.c_long(self.head))

    def close(self) -> None:
        os.close(self._descriptor)

    def _behind(self, offset: int) -> int:
        (length,) = LENGTH.unpack(os.pread(self._descriptor, LENGTH.size, offset))
        return offset + LENGTH.size + length

    def _whole(self, offset: int) -> int:
        """Where the last event ends that was written whole: a server that was killed may have left a part of one."""
        size = os.fstat(self._descriptor).st_size
        while offset + LENGTH.size < size and offset + LENGTH.size < (behind := self._behind(offset)) <= size:
            offset = behind
        return offset
