"""`murmur logs`: what a process of an instance has written."""

from __future__ import annotations

import os

import click

from cli import options
from common.process.child import program
from common.storage.files import last_lines


@click.command()
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is written.")
@click.option("-n", "--lines", default=50, show_default=True, type=click.IntRange(0), help="How many lines to show.")
@options.instance
def logs(name: str, follow: bool, lines: int, instance: str | None) -> None:
    """Show the end of the log of process NAME, such as `spark` or `web-0`."""
    settings = options.known(instance)
    log = settings.log_dir / f"{name}.log"
    if not log.exists():
        names = ", ".join(sorted(path.stem for path in settings.log_dir.glob("*.log")))
        raise click.BadParameter(f"no process {name!r} has a log; there are: {names or 'none yet'}")
    if follow:
        os.execv(program("tail"), ["tail", "-n", str(lines), "-F", str(log)])
    for line in last_lines(log, lines):
        click.echo(line)
