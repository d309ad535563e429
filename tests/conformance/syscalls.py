"""Counts what a live process asks of the kernel, with strace."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ATTACH_SECONDS = 60
SYNCS = ("fsync", "fdatasync")


def count_syncs(pid: int, folder: Path, load: Callable[[], None]) -> int:
    """How often the process, with all its threads, calls fsync or fdatasync during `load`; skips where it cannot."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed: deploy/local/setup/packages --tests names what the tests need")
    trace = folder / "trace"
    tracer = subprocess.Popen(
        [strace, "-f", "-e", f"trace={','.join(SYNCS)}", "-e", "signal=none", "-o", str(trace), "-p", str(pid)],
        stderr=subprocess.PIPE, text=True,
    )
    assert tracer.stderr
    try:
        first = tracer.stderr.readline()
        if "attached" not in first:
            pytest.skip(f"this system does not let processes be traced: {first.strip()}")
        load()
    finally:
        tracer.send_signal(signal.SIGINT)  # detaches, and leaves the process running
        tracer.communicate(timeout=ATTACH_SECONDS)
    return len(re.findall(rf"\b(?:{'|'.join(SYNCS)})\(", trace.read_text()))
