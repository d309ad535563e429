"""What an operator does to Pravega's streams."""

from __future__ import annotations

from typing import Any

import jpype

from common.settings import Settings
from middleware.admin import await_done
from middleware.data import Position
from middleware.pravega.ports import Port


class PravegaOperator:
    """Uses the JVM that the middleware has started."""

    def __init__(self, settings: Settings) -> None:
        self._scope = settings.namespace
        uri = jpype.JClass("java.net.URI").create(f"tcp://{settings.address(Port.CONTROLLER)}")
        self._streams = jpype.JClass("io.pravega.client.admin.StreamManager").create(uri)

    def truncate(self, to: Position) -> None:
        segment, cut, offsets = (jpype.JClass(name) for name in (
            "io.pravega.client.segment.impl.Segment", "io.pravega.client.stream.impl.StreamCutImpl", "java.util.HashMap"
        ))
        positions = offsets()
        for partition, offset in to.offsets.items():
            positions.put(segment(self._scope, to.stream, partition), jpype.JClass("java.lang.Long").valueOf(offset))
        assert self._streams.truncateStream(self._scope, to.stream, cut(self._stream(to.stream), positions))

    def seal(self, stream: str) -> None:
        """Nothing can be added to it any more."""
        assert self._streams.sealStream(self._scope, stream)

    def delete(self, stream: str) -> None:
        self.seal(stream)
        assert self._streams.deleteStream(self._scope, stream)

    def scale(self, stream: str, partitions: int) -> None:
        """Seals the segments that there are, and splits them."""
        policy = jpype.JClass("io.pravega.client.stream.ScalingPolicy").fixed(partitions)
        configuration = jpype.JClass("io.pravega.client.stream.StreamConfiguration").builder().scalingPolicy(policy)
        assert self._streams.updateStream(self._scope, stream, configuration.build())
        await_done(f"scaling {stream}", lambda: self._tail(stream).size() == partitions)

    def _tail(self, stream: str) -> Any:
        """Offset by segment."""
        return self._streams.fetchStreamInfo(self._scope, stream).get().getTailStreamCut().asImpl().getPositions()

    def _stream(self, stream: str) -> Any:
        return jpype.JClass("io.pravega.client.stream.Stream").of(self._scope, stream)
