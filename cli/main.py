"""The command `murmur`. Each command is a module of this package with a click command of the same name."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click
from pydantic import ValidationError

from chaos.failure import Refused
from common.process.child import MissingProgram
from common.process.manager import NotAnswering, NotRunning
from common.settings import Settings, SettingsUnreadable
from deploy.local import checkout
from deploy.local.instances import OtherMiddleware, PortTaken
from deploy.local.processes.wait_ready import NotReady
from deploy.local.stack import NoProcess
from deploy.local.state import StateRefused
from loadgen.errors import DiskShort, GeneratorFailed, StackBroken
from middleware.errors import MiddlewareError

EXPECTED = (
    checkout.NoCheckout, MissingProgram, NoProcess, OtherMiddleware, PortTaken, NotRunning, NotAnswering, NotReady,
    StateRefused, SettingsUnreadable, MiddlewareError, DiskShort, GeneratorFailed, StackBroken,
    Refused,
)
"""Errors whose message says everything, the way out included."""

COMMANDS = (
    "up", "down", "status", "logs", "ingest", "record", "audit", "accept-loss", "forget", "load", "chaos", "run",
    "ready",
)

MANAGED = ("up", "down", "status", "logs", "accept-loss", "chaos")
"""Those that ask the process manager, or read what it keeps."""


class Commands(click.Group):
    """Imports a command when it is asked for, and turns errors into one message without a traceback."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        module = name.replace("-", "_")
        return getattr(import_module(f"cli.{module}"), module) if name in COMMANDS else None

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except ValidationError as error:
            raise click.ClickException(described(error)) from error
        except EXPECTED as error:
            raise click.ClickException(str(error)) from error
        except Exception as error:
            if os.environ.get("MURMUR_TRACEBACK"):
                raise
            text = str(error) or type(error).__name__
            raise click.ClickException(f"{text}\n(MURMUR_TRACEBACK=1 shows where it came from)") from error


def described(error: ValidationError) -> str:
    """Every setting that is not valid, and why."""
    wrong = (f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors())
    return "settings that are not valid:\n  " + "\n  ".join(wrong)


def in_container() -> bool:
    """False where settings are not valid: the command says which, or does without them."""
    try:
        return Settings.chosen().service_hosts
    except ValidationError:
        return False


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="murmuration", prog_name="murmur")
@click.pass_context
def murmur(context: click.Context) -> None:
    """Tweets through a stream store, Spark and a search index to a live page, on one machine."""
    name = context.invoked_subcommand
    if name in MANAGED and in_container():
        raise click.ClickException(
            f"`murmur {name}` asks the process manager, and here each process is a container: `docker compose ps`, "
            "`logs`, `up` and `down` are for those"
        )


def main() -> None:
    """The program `murmur`, from any folder: that of a checkout keeps what it has in there."""
    os.umask(0o077)  # whatever an instance stores is for its owner only, whoever of its processes makes the file
    if checkout.is_there():
        os.environ.setdefault("MURMUR_HOME", str(checkout.ROOT / ".murmur"))
    murmur(prog_name="murmur")
