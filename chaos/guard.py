"""Holds a lease: `python -m chaos.guard FILE LEASE`, both as `lease.py` has them, LEASE as JSON.

Writes one line once the lease's file is there, then does what it tells of until its time is over or standard input has
ended, as it does when whoever started this is gone. Its status is 0 then, and another one if something else ended it.
"""

from __future__ import annotations

import select
import signal
import sys
from pathlib import Path

from chaos.lease import Lease, registered


def main() -> None:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))
    lease = Lease.parsed(sys.argv[2])
    with registered(Path(sys.argv[1]), lease):
        print("held", flush=True)
        lease.run(lambda seconds: bool(select.select([sys.stdin], [], [], seconds)[0]))


if __name__ == "__main__":
    main()
