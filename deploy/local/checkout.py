"""The checkout of the sources, where set-up puts servers, jars and the page; what is installed alone has none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from common.process.child import MissingProgram

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


def is_set_up(middleware: str) -> bool:
    """Whether set-up has come to the end of what the middleware needs, or has nothing to do for it."""
    done = ROOT / ".murmur" / "stamps" / f"middleware-{middleware}"
    return done.exists() or not (ROOT / "deploy/local" / middleware / "setup.sh").exists()


def set_up(middleware: str) -> None:
    """Installs what that middleware needs, and shows how far it is. Raises MissingProgram where that fails."""
    command, environment = [str(ROOT / "deploy/local/setup/run")], {**os.environ, "MURMUR_MIDDLEWARE": middleware}
    if subprocess.run(command, env=environment, stdin=subprocess.DEVNULL).returncode:
        raise MissingProgram(f"{middleware} could not be installed: what set-up says is above")
