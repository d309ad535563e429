"""A single experiment on the running instance, kept in a folder of its own whatever becomes of it."""

from __future__ import annotations

from pathlib import Path

from common.experiments import new_folder
from loadgen.experiment import Experiment, Watch
from loadgen.judge.verdict import LEAST_SECONDS
from loadgen.observe.environment import check_disk
from loadgen.observe.samples import Sample
from loadgen.report.kept import Kept
from loadgen.report.result import Result, Spec
from loadgen.stack import Instance, ensure_warm

SETTLE_SECONDS, WARM_UP_SECONDS = 20.0, 60.0
"""At the rate before the interval that is judged; of load on a stack that was just started."""


def settled(settle_s: float, seconds: float) -> float:
    """A burst is judged from its first tweet on."""
    return 0.0 if seconds < LEAST_SECONDS else float(int(settle_s))


def measure(instance: Instance, spec: Spec, warm_up_s: float, called: str, folder: Path | None = None,
            watch: Watch = lambda phase, sample: None) -> tuple[Result, Kept]:
    """`called`: the command that does the same. Raises DiskShort, and one of BREAKING (errors.py), which is kept."""
    settings = instance.settings
    check_disk(settings, spec.rate * (spec.settle_s + 2 * spec.seconds))
    with Kept.of(settings, spec, folder or new_folder(settings), called) as kept:

        def told(phase: str, sample: Sample | None) -> None:
            kept.watch(phase, sample)
            watch(phase, sample)

        ensure_warm(instance, spec.rate, warm_up_s, told)
        result = Experiment(instance, spec, told).run()
        kept.finish(result)
    return result, kept
