"""An audit in a process of its own: a call of a stream store's client may never return while its server is held up."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from common import modules
from common.process.child import await_end, ends_with_parent, python
from common.settings import Settings
from middleware.data import Start


class NotJudged(Exception):
    """The audit could not tell whether anything is missing or twice; the message says why."""


class AuditProcess:
    """`python -m audit.follow`, with a deadline for each of its answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.answers = False
        """Whether it did so in time, when it was last asked."""

    def follows(self, timeout: float) -> None:
        """Returns when it reads the streams; raises NotJudged."""
        self._answer(timeout, "it did not reach the streams")

    def stages(self, runs: Sequence[str] | None, timeout: float, grace: float) -> dict[str, dict[str, Any]]:
        """Findings of the runs, or of all, as JSON. It has `timeout` seconds, and is waited for `grace` longer.

        Raises NotJudged.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"runs": runs, "timeout": timeout}).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise NotJudged("the process of the audit ended") from error
        answer = self._answer(timeout + grace, "it did not answer in time: a server may be held up")
        return dict(answer["stages"])

    def _answer(self, timeout: float, otherwise: str) -> dict[str, Any]:
        """The next line. Raises NotJudged."""
        assert self._process.stdout is not None
        until, line = time.monotonic() + timeout, b""
        self.answers = False
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise NotJudged(otherwise)
            part = os.read(self._process.stdout.fileno(), 65536)
            if not part:
                raise NotJudged("the process of the audit ended")
            line += part
        self.answers = True
        answer = dict(json.loads(line))
        if "not_judged" in answer:
            raise NotJudged(answer["not_judged"])
        return answer


@contextmanager
def auditing(
    settings: Settings, start: Start, seconds: float, errors: IO[Any] | None = None
) -> Iterator[AuditProcess]:
    """The process, which is gone afterwards whatever it was held up in. It goes with its parent, too.

    `seconds`: how long it waits for servers that do not answer yet.
    """
    until = str(time.monotonic() + seconds)
    process = subprocess.Popen(
        ends_with_parent(python(modules.Audit.FOLLOW, settings.instance, start, until)),
        process_group=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
    )
    audit = AuditProcess(process)
    try:
        yield audit
    except KeyboardInterrupt:  # nobody waits for it any more; a later audit removes its groups
        audit.answers = False
        raise
    finally:
        _end(process, END_SECONDS if audit.answers else HELD_UP_END_SECONDS)


END_SECONDS, HELD_UP_END_SECONDS = 10.0, 1.0
"""How long it may take to remove its consumer groups: if it has answered, and if its servers are held up anyway."""


def _end(process: subprocess.Popen[bytes], timeout: float) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # it is gone already
        process.stdin.close()
    await_end([process], timeout)
