"""How Spark reads and writes the streams of one store, by what that says of itself: no store is named here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from middleware.driver import Middleware
from middleware.spark import SparkBinding

PARTITIONS = 4
EVENT, KEY = "event", "key"
"""Columns of what is read, and of what may be written."""

EXACTLY, AT_LEAST = "exactly once", "at least once"


@dataclass
class Source:
    """A data source as the queries of this repository use it, or without the options that only make it faster."""

    name: str
    middleware: Middleware
    tuned: bool
    numbers: count[int] = field(default_factory=count)
    """Shared by all sources of one store, whose streams have one name each."""

    @property
    def guarantees(self) -> tuple[str, ...]:
        """What its sink gives a streaming query."""
        return (EXACTLY, AT_LEAST) if self._binding("any").exactly_once else (AT_LEAST,)

    def create(self, partitions: int = PARTITIONS) -> str:
        """A new stream, by its name."""
        stream = f"bench-{next(self.numbers)}"
        self.middleware.admin.create_stream(stream, partitions)
        return stream

    def read(self, reader: Any, stream: str) -> DataFrame:
        binding = self._binding(stream)
        rows: DataFrame = reader.format(binding.format).options(**self._chosen(binding, binding.read_options)).load()
        return rows.select(F.col(binding.event_column).alias(EVENT))

    def into(self, rows: DataFrame, stream: str) -> DataFrame:
        """The rows, as the sink takes them for that stream: EVENT, and KEY if they have it."""
        binding = self._binding(stream)
        names = {EVENT: binding.event_column, KEY: binding.key_column}
        target = F.lit(self.middleware.spark.stream_name(stream)).alias(binding.stream_column)
        return rows.select(*(F.col(name).alias(names[name]) for name in rows.columns), target)

    def writer(self, writer: Any, guarantee: str) -> Any:
        binding = self._binding("any")
        cheaper = binding.repeating_options if guarantee == AT_LEAST else {}
        return writer.format(binding.format).options(**self._chosen(binding, {**binding.write_options, **cheaper}))

    def _binding(self, stream: str) -> SparkBinding:
        return self.middleware.spark.binding(stream)

    def _chosen(self, binding: SparkBinding, options: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in options.items() if self.tuned or name not in binding.tuning}


def sources(name: str, middleware: Middleware) -> list[Source]:
    """Of a store: as tuned here, and with its own defaults where that is something else."""
    numbers: count[int] = count()
    if not middleware.spark.binding("any").tuning:
        return [Source(name, middleware, True, numbers)]
    both = {"tuned": True, "defaults": False}
    return [Source(f"{name}, {how}", middleware, tuned, numbers) for how, tuned in both.items()]
