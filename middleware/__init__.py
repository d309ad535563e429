"""The stream stores that the application can run on."""

from __future__ import annotations

from importlib import import_module

from common.settings import Settings
from middleware.base import Middleware

_MODULES = {"pravega": "middleware.pravega:Pravega", "kafka": "middleware.kafka:Kafka"}


def registry() -> tuple[str, ...]:
    """Names of the middlewares, for `--middleware`."""
    return tuple(_MODULES)


def implementation(name: str) -> type[Middleware]:
    """Class of a middleware; its client is imported only here."""
    if name not in _MODULES:
        raise ValueError(f"unknown middleware {name!r}: choose one of {', '.join(_MODULES)}")
    module, attribute = _MODULES[name].split(":")
    return getattr(import_module(module), attribute)


def connect(settings: Settings) -> Middleware:
    """Connection to the middleware of the settings."""
    return implementation(settings.middleware)(settings)
