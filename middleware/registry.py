"""Finds the middlewares: every package beside this file, or in a folder `middleware` on Python's path, is one."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import middleware
from common.settings import Settings
from middleware.driver import Driver, Middleware


def registry() -> tuple[str, ...]:
    """Names of the middlewares, by which `--middleware` chooses: the default one, then the others by name."""
    default = Settings.model_fields["middleware"].default
    found = {module.name for module in pkgutil.iter_modules(middleware.__path__) if module.ispkg}
    return tuple(sorted(found, key=lambda name: (name != default, name)))


def driver(name: str) -> Driver:
    """What the middleware says of itself. Raises ValueError for one that is not there."""
    if name not in registry():
        raise ValueError(f"unknown middleware {name!r}: choose one of {', '.join(registry())}")
    found: Driver = import_module(f"middleware.{name}").DRIVER
    return found


def require(settings: Settings) -> None:
    """Raises ValueError where the middleware of the settings is not there, or has not what they ask of it."""
    found = driver(settings.middleware)
    if settings.replicas > 1 and not found.replicated:
        raise ValueError(f"{settings.middleware} has no replicas: leave MURMUR_REPLICAS at 1")


def connect(settings: Settings) -> Middleware:
    """Connection to the middleware of the settings."""
    return driver(settings.middleware).connect(settings)
