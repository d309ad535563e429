"""`murmur load compare`: middlewares side by side, on instances of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli import options as common_options
from cli.load import options
from cli.load.display import Display, capacity_as_text, unquiet_as_text
from common import modules
from common.process.child import python
from deploy.local import checkout
from loadgen.comparison import MixedDurability, Run, Variant, as_results, keep, variants
from loadgen.comparison import compare as alternate
from loadgen.find_max import search
from loadgen.report.result import Spec
from loadgen.stack import Instance, running
from middleware.registry import registry

CLASSES = ("page-cache", "fsync")


def names(known: tuple[str, ...]) -> Any:
    """Callback for an option that takes names separated by commas."""
    def split(context: click.Context, option: click.Parameter, value: str) -> list[str]:
        found = [name.strip() for name in value.split(",") if name.strip()]
        unknown = [name for name in found if name not in known]
        if unknown or not found:
            raise click.BadParameter(f"{', '.join(unknown) or 'nothing'}: choose of {', '.join(known)}")
        return found

    return split


@click.command()
@click.option("--middleware", "middlewares", default=",".join(registry()), show_default=True,
              callback=names(registry()),
              help="Names, separated by commas.")
@click.option("--durability", "durabilities", default="fsync", show_default=True, callback=names(CLASSES),
              help="What an acknowledgement means, the same for all.")
@click.option("--across-durabilities", "across", is_flag=True, help="Rank unlike durability classes all the same.")
@click.option("--repeat", default=1, show_default=True, type=click.IntRange(min=1), help="Searches of each.")
@click.option("--budget", default=25.0, show_default=True, type=click.FloatRange(min=0),
              help="Minutes for each search.")
@click.option("--first", default=1000.0, show_default=True, type=click.FloatRange(min=1), help="Rate to begin with.")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for results.json and report.html.")
@options.slo_ms
@options.users
@common_options.payload
@common_options.workload
@options.settle
@options.warm_up
@options.processes
@click.option("--instance", "prefix", metavar="NAME", default="compare", show_default=True,
              help="Begins the names of the instances that are started.")
@common_options.as_json
def compare(middlewares: list[str], durabilities: list[str], across: bool, repeat: int, budget: float, first: float,
            out: Path, slo_ms: float, users: int, payload: str, workload: str, settle_s: float,
            warm_up_s: float, processes: int | None, prefix: str, as_json: bool) -> None:
    """Find the capacity on each middleware, with the same application, in alternation.

    Starts an instance for each search and removes it afterwards. Middlewares are ranked within one durability class.

    Ends with 0 if each search found a rate that passed, with 3 if one found nothing because its experiments were
    broken, and with 1 otherwise.
    """
    try:
        compared = variants(middlewares, durabilities, across)
    except MixedDurability as error:
        raise click.UsageError(str(error)) from error
    checkout.require("`murmur load compare`")
    spec = Spec(first, 60.0, float(int(settle_s)), slo_ms, payload, workload,  # type: ignore[arg-type]
                users=users, processes=processes)

    def once(variant: Variant, number: int) -> Run:
        folder = out / f"{variant.middleware}-{variant.durability}-{number}"
        with started(variant, prefix, as_json) as instance:
            return search(instance, spec, budget * 60, warm_up_s, folder, Display(quiet=as_json))

    content = alternate(compared, repeat, once, lambda runs: keep(out, runs, across))
    if as_json:
        click.echo(json.dumps(as_results(content, across), allow_nan=False))
    else:
        click.echo(as_text(content, out))
    sys.exit(status(content))


def as_text(runs: list[Run], out: Path) -> str:
    lines = [f"{run['middleware']} ({run['durability']}), round {run['round']}: {capacity_as_text(run['capacity'])}"
             for run in runs]
    unquiet = unquiet_as_text([experiment for run in runs for experiment in run["experiments"]])
    return "\n".join([*lines, f"{unquiet}{out / 'report.html'}"])


def status(runs: list[Run]) -> int:
    """The worst of all searches."""
    return max(options.status(run["capacity"]) for run in runs)


@contextmanager
def started(variant: Variant, prefix: str, quiet: bool) -> Iterator[Instance]:
    """An instance that exists only as long as it is measured."""
    name = f"{prefix}-{variant.middleware}-{variant.durability}"
    murmur("down", "--wipe", "--yes", "--instance", name, quiet=quiet)
    try:
        murmur("up", "--middleware", variant.middleware, "--durability", variant.durability, "--instance", name,
               quiet=quiet)
        with running(common_options.known(name)) as instance:
            yield instance
    finally:
        murmur("down", "--wipe", "--yes", "--instance", name, quiet=quiet)


def murmur(*words: str, quiet: bool) -> None:
    """Another command; what it prints goes to standard error. Raises ClickException if it fails."""
    output = subprocess.DEVNULL if quiet else sys.stderr
    result = subprocess.run(python(modules.Cli.MURMUR, *words), stdout=output, stdin=subprocess.DEVNULL,
                            env=os.environ, check=False)
    if result.returncode:
        raise click.ClickException(f"`murmur {' '.join(words)}` failed")
