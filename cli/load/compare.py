"""`murmur load compare`: middlewares side by side, on instances of their own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from cli import options as common_options
from cli.load import options
from cli.load.display import Display, capacity_as_text, unquiet_as_text
from cli.load.instances import remove_leftovers, started
from common.experiments import HELD, RESULTS
from common.settings import Settings
from common.storage import files
from deploy.local import checkout
from loadgen.comparison import results
from loadgen.comparison.ranking import Run
from loadgen.comparison.remaining import Remaining, duration
from loadgen.comparison.rounds import Comparison, Ended, SearchFailed
from loadgen.comparison.searches import MixedDurability, Search, Side, Variant, order, variants
from loadgen.errors import BREAKING, DiskShort
from loadgen.find_max import search
from loadgen.observe.environment import chosen, commit, host
from loadgen.report.result import Spec
from loadgen.report.results import command
from middleware.errors import MiddlewareError
from middleware.registry import registry

CLASSES = ("page-cache", "fsync")

UNFINISHED = 4
"""Status of a comparison that --hours ended before all of its searches were made."""

BREAKING_OFF = (DiskShort, MiddlewareError, *BREAKING)
"""What ends a search, and not the comparison."""


def names(known: tuple[str, ...]) -> Any:
    """Callback for an option that takes names separated by commas."""
    def split(context: click.Context, option: click.Parameter, value: str) -> list[str]:
        found = [name.strip() for name in value.split(",") if name.strip()]
        unknown = [name for name in found if name not in known]
        if unknown or not found:
            raise click.BadParameter(f"{', '.join(unknown) or 'nothing'}: choose of {', '.join(known)}")
        return found

    return split


def sides_of(context: click.Context, option: click.Parameter, value: tuple[str, ...]) -> list[Side]:
    """Callback of --side."""
    try:
        return [Side.of(text) for text in dict.fromkeys(value)]
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command()
@click.option("--middleware", "middlewares", default=",".join(registry()), show_default=True,
              callback=names(registry()),
              help="Names, separated by commas.")
@click.option("--durability", "durabilities", default="fsync", show_default=True, callback=names(CLASSES),
              help="What an acknowledgement means, the same for all.")
@click.option("--across-durabilities", "across", is_flag=True, help="Rank unlike durability classes all the same.")
@click.option("--repeat", default=1, show_default=True, type=click.IntRange(min=1), help="Searches of each.")
@click.option("--side", "sides", multiple=True, metavar="WHAT=VALUE", callback=sides_of,
              help="One round more with another durability, payload or workload, such as durability=page-cache or "
              "payload=full, which is ranked by itself. May be given several times.")
@click.option("--budget", default=25.0, show_default=True, type=click.FloatRange(min=0),
              help="Minutes for each search.")
@click.option("--hours", type=click.FloatRange(min=0, min_open=True),
              help="End before a search that would not end within so many hours of all.")
@click.option("--first", default=1000.0, show_default=True, type=click.FloatRange(min=1), help="Rate to begin with.")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False),
              help="Folder for results.json and report.html; what it holds is not made again.")
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
def compare(middlewares: list[str], durabilities: list[str], across: bool, repeat: int, sides: list[Side],
            budget: float, hours: float | None, first: float, out: Path, slo_ms: float, users: int, payload: str,
            workload: str, settle_s: float, warm_up_s: float, processes: int | None, prefix: str, as_json: bool
            ) -> None:
    """Find the capacity on each middleware, with the same application, in alternation.

    Starts an instance for each search and removes it afterwards. Middlewares are ranked within one durability class.

    The result of each search is kept in --out as it ends. However the comparison was ended, the same command goes on
    with what is missing; a search that was broken off begins anew. --repeat may be raised, and middlewares and sides
    added later; whatever else is asked for otherwise needs another --out.

    Ends with 0 if each search found a rate that passed, with 3 if one could not be made or found nothing because its
    experiments were broken, with 4 if --hours ended it before all were made, and with 1 otherwise.
    """
    main = main_variants(middlewares, durabilities, across)
    check_sides(sides, durabilities, payload, workload)
    checkout.require("`murmur load compare`")
    spec = Spec(first, 60.0, float(int(settle_s)), slo_ms, payload, workload,  # type: ignore[arg-type]
                users=users, processes=processes)
    asked = {"first": first, "seconds": spec.seconds, "settle_s": spec.settle_s, "slo_ms": slo_ms, "payload": payload,
             "workload": workload, "users": users, "processes": processes, "budget_min": budget, "warm_up_s": warm_up_s,
             "durability": list(dict.fromkeys(durabilities)), "settings": common_settings()}

    wanted = list(order(main, repeat, sides))
    with held(out, prefix):
        kept, joined = goes_on(out, asked, across)
        made = Comparison(wanted, kept, budget * 60, None if hours is None else hours * 3600)
        said = say(as_json)
        say_what_is_there(made, wanted, said)
        remove_leftovers(prefix, [Variant(name, durability) for name in registry() for durability in CLASSES], as_json)
        once = searching(spec, budget * 60, warm_up_s, out, prefix, as_json)
        ended = make(made, once, out, joined, across, said)
        content = results.as_results(ended.runs, joined, across, [*ended.failed, *ended.left])
    click.echo(json.dumps(content, allow_nan=False) if as_json else as_text(ended, made, out))
    sys.exit(status(ended))


def main_variants(middlewares: list[str], durabilities: list[str], across: bool) -> list[Variant]:
    try:
        return variants(middlewares, durabilities, across)
    except MixedDurability as error:
        raise click.UsageError(str(error)) from error


def check_sides(sides: list[Side], durabilities: list[str], payload: str, workload: str) -> None:
    """Raises UsageError for a side comparison that is the main one."""
    usual = {"durability": durabilities, "payload": [payload], "workload": [workload]}
    for side in sides:
        if side.value in usual[side.what]:
            raise click.UsageError(f"--side {side} is what the main comparison has: leave it out")


def common_settings() -> dict[str, Any]:
    """Those that all instances will have, whatever is compared."""
    found = chosen(Settings.chosen())
    return {name: value for name, value in found.items() if name not in ("middleware", "durability")}


@contextmanager
def held(out: Path, prefix: str) -> Iterator[None]:
    """The folder and the names of the instances, against another comparison. Raises ClickException."""
    out.mkdir(parents=True, exist_ok=True)
    instances = Settings.chosen().home.resolve() / f"{prefix}.comparison"
    writes = click.ClickException(f"another comparison writes to {out}: wait, or choose another --out")
    runs = click.ClickException(f"another comparison runs on instances {prefix}-…: wait, or choose another --instance")
    with files.locked(out / HELD, os.O_CREAT, refusal=writes), files.locked(instances, os.O_CREAT, refusal=runs):
        try:
            yield
        finally:
            (out / HELD).unlink()
            instances.unlink()


def searching(spec: Spec, budget_s: float, warm_up_s: float, out: Path, prefix: str, quiet: bool
              ) -> Callable[[Search], Run]:
    """What makes a search, on an instance of its own, or raises SearchFailed."""
    def once(each: Search) -> Run:
        of = spec
        if each.side and (side := Side.of(each.side)).what != "durability":  # which the variant has
            of = replace(spec, **{side.what: side.value})  # type: ignore[arg-type]
        folder = out / each.folder
        for file in (RESULTS, "report.html"):  # of a search that was broken off
            (folder / file).unlink(missing_ok=True)
        try:
            with started(each.variant, prefix, quiet) as instance:
                return search(instance, of, budget_s, warm_up_s, folder, Display(quiet))
        except click.ClickException as error:
            raise SearchFailed(error.format_message()) from error
        except BREAKING_OFF as error:
            raise SearchFailed(str(error)) from error

    return once


def goes_on(out: Path, asked: results.Spec, across: bool) -> tuple[list[Run], results.Spec]:
    """What is kept, and the spec of all. Raises ClickException."""
    try:
        kept = results.read(out)
        return kept.runs, results.joined(kept.spec, asked, across)
    except (results.KeptUnreadable, results.OtherSpec) as error:
        raise click.ClickException(str(error)) from error


def say(quiet: bool) -> Callable[[str], None]:
    """To standard error, so that the output stays the result."""
    return lambda text: None if quiet else click.echo(text, err=True)


def say_what_is_there(made: Comparison, wanted: list[Search], said: Callable[[str], None]) -> None:
    there = [str(search) for search in wanted if search not in made.missing]
    if there:
        said(f"{len(there)} of {len(wanted)} searches are there already: {'; '.join(there)}")
    if made.runs and made.missing:
        present = {"commit": commit(), "host": host(Settings.chosen())}
        for warning in results.mixed([*made.runs, present]):
            said(f"warning: {warning}")


def make(made: Comparison, once: Callable[[Search], Run], out: Path, spec: results.Spec, across: bool,
         said: Callable[[str], None]) -> Ended:
    """Makes what is missing, and writes after each search."""
    def keep(runs: list[Run]) -> None:
        results.keep(out, runs, spec, across, [each for each in made.missing if each not in map(Search.made, runs)])

    def told(each: Search, remaining: Remaining) -> None:
        said(f"\n{remaining.text(datetime.now())}\n{each}")

    try:
        ended = made.run(once, keep, told, lambda each, why: said(f"{each} failed: {why}"))
    except KeyboardInterrupt:
        said(f"ended; what was searched is kept in {out}, and the same command goes on")
        raise
    if ended.runs:
        keep(ended.runs)
    return ended


def as_text(ended: Ended, made: Comparison, out: Path) -> str:
    lines = [f"{Search.made(run)}: {capacity_as_text(run['capacity'])}" for run in ended.runs]
    lines += [f"{search}: failed: {why}" for search, why in ended.failed.items()]
    if ended.left:
        lines.append(f"{len(ended.left)} searches are left, of which one takes about "
                     f"{duration(made.search_seconds())}: what is kept goes on with\n  {command()}")
    elif ended.failed:
        lines.append(f"what failed is made once more by\n  {command()}")
    unquiet = unquiet_as_text([experiment for run in ended.runs for experiment in run["experiments"]])
    return "\n".join([*lines, f"{unquiet}{out / 'report.html'}"] if ended.runs else lines)


def status(ended: Ended) -> int:
    """The worst of all searches."""
    if ended.left:
        return UNFINISHED
    if ended.failed:
        return options.BROKEN
    return max((options.status(run["capacity"]) for run in ended.runs), default=0)
