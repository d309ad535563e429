"""An audit of what is published from now on: `python -m cli.audit.following INSTANCE`, a process beside an experiment.

A process of its own, because a call of a stream store's client may never return while its server is held up. It writes
one line when it follows the streams; then, for each line `{"runs": […], "timeout": seconds}` that it reads, one line
of findings, as `murmur audit --json` does.
"""

from __future__ import annotations

import json
import sys

from cli.audit.collect import collecting
from cli.audit.command import complete
from common.garbage import collect_never
from common.settings import Settings
from ingest.manifest import read_manifests


def main() -> None:
    collect_never()
    settings = Settings.load(instance=sys.argv[1])
    with collecting(settings, {}, start="tail") as collector:
        print(json.dumps({"following": settings.instance}), flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            manifests = read_manifests(settings)
            collector.follow({run: manifests[run] for run in request["runs"]})
            stages = complete(collector, request["timeout"])
            print(json.dumps({"stages": {name: finding.as_json() for name, finding in stages.items()}}), flush=True)


if __name__ == "__main__":
    main()
