"""The JVM inside a process of Python ends with it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.stack import ROOT

CONNECTS = """
import sys
import threading
import jpype
from common.settings import Settings
from middleware.pravega.jvm import connection
connection(Settings().jar_dir / "pravega-client", "tcp://127.0.0.1:9", "none", 1.0, "")
"""
A_THREAD_OF_JAVA = 'timer = jpype.JClass("java.util.Timer")(False)'
ONE_OF_PYTHON_IN_JAVA = """
def sleep():
    while True:
        jpype.JClass("java.lang.Thread").sleep(20)
threading.Thread(target=sleep, daemon=True).start()
"""


@pytest.mark.parametrize("left", [A_THREAD_OF_JAVA, ONE_OF_PYTHON_IN_JAVA])
def test_a_process_ends_with_its_own_exit_code_whatever_threads_are_left(left: str) -> None:
    """As those of the client that wait for servers which are away: a worker that lost its parent would stay."""
    ended = subprocess.run([sys.executable, "-c", f"{CONNECTS}{left}\nsys.exit(7)"], cwd=ROOT, timeout=30)
    assert ended.returncode == 7
