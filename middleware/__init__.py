"""The stream stores that the application can run on."""

from __future__ import annotations

from importlib import import_module

from common.settings import Settings
from middleware.base import Middleware

_MODULES = {"pravega": "middleware.pravega:Pravega", "kafka": "middleware.kafka:Kafka"}


def registry() -> tuple[str, ...]:
    """Names of the middlewares, for `--middleware`."""
    return tuple(_MODULES)


def connect(settings: Settings) -> Middleware:
    """Connection to the middleware of the settings; its client is imported only here."""
    if settings.middleware not in _MODULES:
        raise ValueError(f"unknown middleware {settings.middleware!r}: choose one of {', '.join(_MODULES)}")
    module, name = _MODULES[settings.middleware].split(":")
    return getattr(import_module(module), name)(settings)
