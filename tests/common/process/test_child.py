"""Processes that end with their parent."""

import subprocess
import sys

import psutil

from common.process.child import ends_with_parent

PARENT = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, start_new_session=True)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(30)
"""


def test_a_child_is_gone_once_its_parent_was_killed() -> None:
    """In a session of its own, as a generator is, no signal to its parent's group would reach it."""
    command = ends_with_parent(["sh", "-c", "echo; exec sleep 30"])
    with subprocess.Popen([sys.executable, "-c", PARENT, *command], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        _, left = psutil.wait_procs([child], timeout=5)
        assert [process for process in left if process.status() != psutil.STATUS_ZOMBIE] == []
