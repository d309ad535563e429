"""The JVM inside a process of Python ends with it."""

from __future__ import annotations

import subprocess
import sys

from tests.stack import ROOT

LEAVES_A_THREAD = """
import sys
import jpype
from common.settings import Settings
from middleware.pravega.jvm import connection
connection(Settings().jar_dir / "pravega-client", "tcp://127.0.0.1:9", "none", 1.0, "")
jpype.JClass("java.util.Timer")(False)
sys.exit(7)
"""


def test_a_process_ends_whatever_threads_of_java_are_left() -> None:
    """As those of the client that wait for servers which are away: a worker that lost its parent would stay. And what
    it ends with is its own."""
    ended = subprocess.run([sys.executable, "-c", LEAVES_A_THREAD], cwd=ROOT, timeout=30)
    assert ended.returncode == 7
