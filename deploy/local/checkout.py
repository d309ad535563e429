"""The checkout of the sources, where set-up puts servers, jars and the page; what is installed alone has none."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class NoCheckout(Exception):
    """There is none; the message says how to get one."""


def is_there() -> bool:
    return (ROOT / "pyproject.toml").exists()


def require(command: str) -> None:
    """Raises NoCheckout where there is none for the command."""
    if not is_there():
        raise NoCheckout(
            f"{command} needs a checkout of Murmuration, where servers and page are: clone its repository, run `make "
            "setup` in there, and use the `./murmur` that is in it"
        )
