from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from loadgen.observe.process_cpu import HostCpu, between, cpu_seconds, idle_share, path, per_thousand

BUSY = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BUSY!r}])\nprint('done', flush=True)\ninput()"


def test_what_ended_children_used_counts() -> None:
    process = subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        used = cpu_seconds({"it": process.pid, "gone": 2**22 - 1})
    finally:
        process.communicate(b"\n")
    assert list(used) == ["it"]
    assert 0.3 <= used["it"] < 2


def test_what_an_experiment_uses_is_not_of_the_process_that_has_started_it() -> None:
    look = ("import os, subprocess, sys\nfrom loadgen.observe.process_cpu import cpu_seconds\n"
            "sum(range(10**7))\nchild = subprocess.Popen(['sleep', '9'])\n"
            "print(sorted(cpu_seconds({'it': os.getppid()})))\nchild.kill()\n")
    parent = ["sh", "-c", '"$@"; true', "sh"]
    found = subprocess.run([*parent, sys.executable, "-c", look], capture_output=True, check=True)
    assert found.stdout.split() == [b"['it']"]


def test_a_child_with_another_program_appears_by_its_name() -> None:
    process = subprocess.Popen(["sh", "-c", "tail -f /dev/null & sleep 0.2; echo; wait"], stdout=subprocess.PIPE,
                               process_group=0)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        assert set(cpu_seconds({"it": process.pid})) == {"it", "it/tail"}
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_programs_on_the_way_down_are_named_once_each() -> None:
    """As Spark: Python starts Java, which starts Python."""
    assert path([("python", 1)]) == ""
    assert path([("python", 1), ("python", 2)]) == ""
    assert path([("python", 1), ("java", 2), ("python", 3), ("python", 4)]) == "/java/python"


def test_shares() -> None:
    assert between({"a": 1.0, "b": 9.0}, {"a": 3.0, "b": 2.0, "c": 1.0}) == {"a": 2.0, "b": 2.0, "c": 1.0}
    assert list(per_thousand({"a": 1.0, "b": 3.0}, 2000).items()) == [("b", 1.5), ("a", 0.5)]
    assert per_thousand({"a": 1.0}, 0) == {}
    assert idle_share(HostCpu(10, 10), HostCpu(13, 11)) == pytest.approx(0.25)
    assert idle_share(HostCpu(1, 1), HostCpu(1, 1)) == 0
