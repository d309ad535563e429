"""A single experiment as a process of its own, for whoever has no terminal: `python -m loadgen.process JSON`."""

from __future__ import annotations

import json
import logging
import signal
import sys
from pathlib import Path

from common.settings import Settings
from loadgen.errors import BREAKING, DiskShort
from loadgen.report.result import Spec
from loadgen.single import SETTLE_SECONDS, WARM_UP_SECONDS, measure, settled
from loadgen.stack import running

log = logging.getLogger(__name__)


def main(words: str) -> int:
    """`words` is an object of `folder`, `rate`, `seconds` and `workload`. What came of it is in the folder."""
    asked = json.loads(words)
    folder = Path(asked.pop("folder"))
    called = f"murmur load run --rate {asked['rate']:g} --seconds {asked['seconds']:g} --workload {asked['workload']}"
    spec = Spec(**asked, settle_s=settled(SETTLE_SECONDS, asked["seconds"]))
    try:
        with running(Settings.load()) as instance:
            result, _ = measure(instance, spec, WARM_UP_SECONDS, called, folder)
    except (*BREAKING, DiskShort) as error:
        log.error("the experiment is broken: %s", error)
        return 1
    except KeyboardInterrupt:
        log.warning("the experiment was ended")
        return 1
    log.info("%s tweets/s: %s", spec.rate, result.verdict.judgement)
    return 0


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    # As with Ctrl-C, an experiment then ends its generators and removes its data.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1]))
