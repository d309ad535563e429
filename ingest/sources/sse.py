"""Server-sent events, as the HTML standard has them, from bytes that come cut anywhere. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

LONGEST_LINE, LONGEST_EVENT = 1 << 20, 4 << 20


class TooLong(ValueError):
    """More came without an end than any event has."""


class Sent(NamedTuple):
    """An event. `id` is that of the last event that had one."""

    id: bytes
    data: bytes


def events(chunks: Iterable[bytes]) -> Iterator[Sent | None]:
    """Every event that is whole, and None for each other line: something came. Raises TooLong, and what `chunks` does.

    Fields other than `id` and `data` say nothing that matters here.
    """
    last_id, size = b"", 0
    data: list[bytes] = []
    for line in _lines(chunks):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line and data:
            yield Sent(last_id, b"\n".join(data))
            data, size = [], 0
            continue
        if name == b"data":
            data.append(value)
            size += len(value) + 1
            if size > LONGEST_EVENT:
                raise TooLong(f"an event of more than {LONGEST_EVENT} bytes")
        elif name == b"id" and b"\0" not in value:
            last_id = value
        yield None


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines end with LF or CR LF; what follows the last end is no line."""
    rest = bytearray()
    for chunk in chunks:
        begins, looked_at = 0, len(rest)
        rest += chunk
        while (ends := rest.find(b"\n", looked_at)) >= 0:
            yield bytes(rest[begins:ends]).removesuffix(b"\r")
            begins = looked_at = ends + 1
        del rest[:begins]
        if len(rest) > LONGEST_LINE:
            raise TooLong(f"a line of more than {LONGEST_LINE} bytes")
