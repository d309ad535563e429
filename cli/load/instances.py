"""Instances that exist only as long as they are measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from cli import options
from common import modules
from common.process.child import python
from common.settings import Settings
from loadgen.comparison.searches import Variant
from loadgen.stack import Instance, running


@contextmanager
def started(variant: Variant, prefix: str, quiet: bool) -> Iterator[Instance]:
    """One on which that variant is measured, during the block. Raises ClickException; StackBroken."""
    instance = name(prefix, variant)
    remove(instance, quiet)
    try:
        murmur("up", "--middleware", variant.middleware, "--durability", variant.durability, "--instance", instance,
               quiet=quiet)
        with running(options.known(instance)) as found:
            yield found
    finally:
        remove(instance, quiet)


def name(prefix: str, variant: Variant) -> str:
    return f"{prefix}-{variant.middleware}-{variant.durability}"


def remove_leftovers(prefix: str, of: Sequence[Variant], quiet: bool) -> None:
    """What a killed comparison left behind would be measured with whatever comes next. Raises ClickException."""
    for variant in of:
        if Settings.chosen(instance=name(prefix, variant)).instance_dir.exists():
            remove(name(prefix, variant), quiet)


def remove(instance: str, quiet: bool) -> None:
    murmur("down", "--wipe", "--yes", "--instance", instance, quiet=quiet)


def murmur(*words: str, quiet: bool) -> None:
    """Another command; what it prints goes to standard error. Raises ClickException if it fails."""
    output = subprocess.DEVNULL if quiet else sys.stderr
    result = subprocess.run(python(modules.Cli.MURMUR, *words), stdout=output, stdin=subprocess.DEVNULL,
                            env=os.environ, check=False)
    if result.returncode:
        raise click.ClickException(f"`murmur {' '.join(words)}` failed")
