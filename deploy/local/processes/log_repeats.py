"""Lines of a log that repeat: the first of a kind are kept, the others counted.

What fails a thousand times a second says so a thousand times a second, and pushes out of a bounded log what led to it.
"""

from __future__ import annotations

import re
from collections import Counter

KEPT = 20
"""Lines of one kind that are kept of each minute."""

MINUTE_S = 60.0
KINDS = 2000
"""So many are told apart within a minute; what is of no known kind then is kept."""

KIND_BYTES = 160
LINE_BYTES = 1 << 16
"""A longer line is passed on in pieces, as it comes."""

_VARYING = re.compile(rb"[0-9]+(?:[a-f0-9]*)")


class Repeats:
    """The output of one process, in whatever pieces it comes."""

    def __init__(self) -> None:
        self._partial = b""
        self._since = 0.0
        self._seen: Counter[bytes] = Counter()
        self._left_out: dict[bytes, bytes] = {}

    def passed(self, output: bytes, now: float) -> bytes:
        """The whole lines among what has come until now, without those that repeat."""
        *lines, self._partial = (self._partial + output).split(b"\n")
        if len(self._partial) > LINE_BYTES:
            self._partial, piece = b"", self._partial
        else:
            piece = b""
        told = self._turn(now) if lines else []
        return b"".join(line + b"\n" for line in [*told, *filter(self._is_kept, lines)]) + piece

    def rest(self) -> bytes:
        """What has come since the last whole line, at the end of the process; and what was left out."""
        rest, self._partial = self._partial, b""
        return b"".join(line + b"\n" for line in self._told()) + rest

    def _is_kept(self, line: bytes) -> bool:
        kind = _VARYING.sub(b"#", line[:KIND_BYTES])
        if kind not in self._seen and len(self._seen) >= KINDS:
            return True
        self._seen[kind] += 1
        if self._seen[kind] > KEPT:
            self._left_out.setdefault(kind, line)
            return False
        return True

    def _turn(self, now: float) -> list[bytes]:
        """At the end of a minute, what was left out in it."""
        if now - self._since < MINUTE_S:
            return []
        told = self._told()
        self._since = now
        self._seen.clear()
        return told

    def _told(self) -> list[bytes]:
        told = [
            b"(%d more lines like this one) %s" % (self._seen[kind] - KEPT, line[:KIND_BYTES])
            for kind, line in self._left_out.items()
        ]
        self._left_out.clear()
        return told
