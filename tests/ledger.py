"""A ledger as the process of that name writes it."""

import time

from common.telemetry.ledger import STAGES, Ledger


def kept() -> Ledger:
    """At each stage, one more in flight and one more lost than at the one before."""
    return {
        "state": "differs", "as_of_us": time.time_ns() // 1000, "since_us": 1_700_000_000_000_000,
        "acknowledged": 12_345, "rejected": 5, "late": 4, "aged_out": 3,
        "stages": [
            {"name": name, "accounted": 11_345 - 2 * number, "in_flight": 1000 + number, "lost": number, "twice": 0,
             "repeated": int(number == 0)} for number, name in enumerate(STAGES)
        ],
    }  # fmt: skip
