"""Who reads the streams of an instance, and how far: consumers by groups, queries of Spark by their checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from common.tweets import ENRICHED, HASHTAG_COUNTS, RAW, Reader
from middleware.checkpoint import Checkpoint
from middleware.data import Position
from middleware.driver import Middleware


@dataclass(frozen=True)
class StreamReader:
    """`place` names the group, or the query's folder of checkpoints."""

    name: Reader
    stream: str
    kind: Literal["group", "query"]
    place: str

    def position(self, middleware: Middleware) -> Position | None:
        """Before the first event that is not done; None if the reader has not begun. Raises MiddlewareError."""
        if self.kind == "group":
            return middleware.admin.committed(self.stream, self.place)
        offset = self._checkpoint(middleware).committed()
        return None if offset is None else middleware.spark.position(self.stream, offset)

    def move(self, middleware: Middleware, head: Position) -> None:
        """Has the reader, which does not run, go on at the head where retention overtook it. Raises MiddlewareError."""
        if self.kind == "group":
            stands = middleware.admin.committed(self.stream, self.place)
            middleware.admin.move_group(self.stream, self.place, stands.moved_to(head) if stands else head)
        else:
            self._checkpoint(middleware).move(
                lambda offset: middleware.spark.offset(
                    middleware.spark.position(self.stream, offset).moved_to(head)
                )
            )

    def _checkpoint(self, middleware: Middleware) -> Checkpoint:
        binding = middleware.spark.binding(self.stream)
        return Checkpoint(middleware.settings.checkpoint_dir / self.place, binding.initial_offset)


READERS = (
    StreamReader("enrich", RAW, "query", "enrich"),
    StreamReader("trending", ENRICHED, "query", "trending"),
    StreamReader("search-consumer", ENRICHED, "group", "search"),
    StreamReader("trending-consumer", HASHTAG_COUNTS, "group", "trending"),
)
"""Each reads the streams of those before it."""
