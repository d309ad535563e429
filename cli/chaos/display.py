"""What a user sees of failures."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.provoke import Outcome
from chaos.record import Record
from chaos.recovery import PATIENCE_S
from chaos.series import NotProvoked, Row, Spread

BEGUN = {"kill": "is killed", "pause": "is paused", "slow": "is slowed", "flush-cache": "has lost what it held",
         "fill-disk": "has no room on its disk"}


def begun(record: Record) -> str:
    pid = f" (pid {record.pid})" if record.pid else ""
    lasts = f" for {(record.until_us - record.at_us) / 1e6:g} s" if record.until_us else ""
    return f"{record.name}{pid} {BEGUN[record.what]}{lasts}"


def recovered(outcome: Outcome) -> str:
    """Such as "back after 2.1 s, caught up after 6.4 s"."""
    record = outcome.record
    if outcome.problem:
        return outcome.problem
    parts = []
    if record.what == "kill":
        if record.back_after_s is None:
            return "not back in time"
        parts.append(f"back after {record.back_after_s:.1f} s")
    if not outcome.flows:
        parts.append("nothing flows")
    elif record.caught_up_after_s is None:
        parts.append(f"not caught up after {PATIENCE_S:.0f} s")
    else:
        parts.append(f"caught up after {record.caught_up_after_s:.1f} s")
    return ", ".join(parts)


def not_provoked(found: NotProvoked) -> str:
    return f"{found.failure.what} of {found.failure.name} is left out: {found.why}"


def as_table(rows: Sequence[Row]) -> str:
    lines = [f"{'process':<16}{'failure':<12}{'times':>6}{'back after, s':>18}{'caught up after, s':>22}",
             f"{'':<34}{'p50 / max':>18}{'p50 / max':>22}"]
    lines += [f"{row.name:<16}{row.what:<12}{row.times:>6}{_spread(row.back_after_s):>18}"
              f"{_spread(row.caught_up_after_s):>22}" for row in rows]
    return "\n".join(lines)


def _spread(found: Spread) -> str:
    return "-" if found.p50 is None else f"{found.p50:.1f} / {found.max:.1f}"
