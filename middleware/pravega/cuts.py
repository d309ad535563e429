"""Stream cuts: offsets by segment, in bytes, and the text in which the data source for Spark keeps them.

What reads or writes that text needs the JVM.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import jpype

from middleware.errors import MiddlewareError


def bytes_between(first: Mapping[int, int], end: Mapping[int, int]) -> int:
    """From one cut to a later one, with the eight bytes by which Pravega precedes an event.

    Of a scaled stream: in the segments that are there at the end.
    """
    return sum(max(0, offset - first.get(segment, 0)) for segment, offset in end.items())


def from_spark(source_offset: str) -> dict[int, int]:
    """Spark's text is a JSON string with Pravega's text form of a cut."""
    try:
        cut = jpype.JClass("io.pravega.client.stream.StreamCut").from_(json.loads(source_offset))
        return {int(at.getKey().getSegmentId()): int(at.getValue()) for at in cut.asImpl().getPositions().entrySet()}
    except (ValueError, TypeError, jpype.JException) as error:
        raise MiddlewareError(f"not an offset of a stream in a checkpoint: {source_offset[:200]}") from error


def to_spark(scope: str, stream: str, offsets: Mapping[int, int]) -> str:
    """In the order of the segments: equal cuts give equal texts, by which the data source compares them."""
    segment = jpype.JClass("io.pravega.client.segment.impl.Segment")
    positions = jpype.JClass("java.util.TreeMap")()
    for number, offset in offsets.items():
        positions.put(segment(scope, stream, number), jpype.JLong(offset))
    of = jpype.JClass("io.pravega.client.stream.Stream").of(scope, stream)
    return json.dumps(str(jpype.JClass("io.pravega.client.stream.impl.StreamCutImpl")(of, positions).asText()))
