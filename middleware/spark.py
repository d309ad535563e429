"""How Spark reads and writes the streams of a middleware, and the offsets that it keeps of them in checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from middleware.data import Position


@dataclass(frozen=True)
class SparkBinding:
    """How Spark reads and writes a stream of this middleware.

    The source yields a binary column `event_column`, and where the event stands in `partition_column` and
    `offset_column`, an expression of SQL that gives what a consumer tells by `place`. The sink takes `event_column`,
    `key_column` and `stream_column` (the target stream's name, already qualified by `stream_name`). With
    `repeating_options` on top the sink is at least once, and cheaper: for events that may come again without harm. An
    error of the source with one of `signs_of_loss` in its text means that events which it was to read are gone:
    retention has overtaken the query.
    """

    format: str
    event_column: str
    key_column: str
    stream_column: str
    partition_column: str
    offset_column: str
    read_options: Mapping[str, str] = field(default_factory=dict)
    write_options: Mapping[str, str] = field(default_factory=dict)
    repeating_options: Mapping[str, str] = field(default_factory=dict)
    tuning: frozenset[str] = frozenset()
    """Names of the options above without which it does the same, as its data source does unless told otherwise."""
    exactly_once: bool = False
    batch_events: int | None = None
    """What the source bounds a micro-batch by where no setting does; None if it is not by the number of events."""
    initial_offset: tuple[str, str] = ("0", "")
    """Where the source notes at which offset a query began: a file in `sources/0` of its checkpoint, and what stands
    there before the offset."""
    signs_of_loss: tuple[str, ...] = ()


class SparkStreams(ABC):
    """The streams as Spark knows them."""

    @abstractmethod
    def binding(self, stream: str) -> SparkBinding:
        """How Spark reads `stream`, from its head when there is no checkpoint, and how it writes."""

    def stream_name(self, stream: str) -> str:
        """Name of the stream on the server."""
        return stream

    @abstractmethod
    def position(self, stream: str, source_offset: str) -> Position:
        """Reads the offset that Spark keeps of `stream` in a checkpoint. Raises MiddlewareError if it is none."""

    @abstractmethod
    def offset(self, position: Position) -> str:
        """The offset that Spark keeps in a checkpoint for this position."""
