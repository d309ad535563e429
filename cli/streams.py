"""The streams of an instance, made as soon as its stream store serves."""

from __future__ import annotations

import time
from collections.abc import Callable

from common.tweets import STREAMS
from middleware.driver import Middleware
from middleware.errors import MiddlewareError

Meanwhile = Callable[[MiddlewareError], None]
"""Called with each answer that it does not serve yet; what it raises ends the wait."""


def create(middleware: Middleware, seconds: float, look_seconds: float, meanwhile: Meanwhile) -> None:
    """Creates those that are missing. Raises MiddlewareError if the stream store does not serve within `seconds`."""
    await_serving(middleware, seconds, look_seconds, meanwhile)
    for stream in STREAMS:
        middleware.admin.create_stream(stream, middleware.settings.partitions)


def await_serving(middleware: Middleware, seconds: float, look_seconds: float, meanwhile: Meanwhile) -> None:
    """Returns when the stream store serves; the rest is as above."""
    until = time.monotonic() + seconds
    while True:
        try:
            return middleware.admin.wait_until_ready(look_seconds)
        except MiddlewareError as error:
            if time.monotonic() > until:
                raise
            meanwhile(error)
