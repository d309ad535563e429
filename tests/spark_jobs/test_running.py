from __future__ import annotations

import json
import subprocess
from pathlib import Path

import psutil

from spark_jobs.running import end_predecessor


def test_what_an_earlier_run_left_is_ended(tmp_path: Path):
    left = subprocess.Popen(["sleep", "600"])
    file = tmp_path / "spark.jvm"
    file.write_text(json.dumps({"pid": left.pid, "created": psutil.Process(left.pid).create_time()}))
    end_predecessor(file)
    assert left.poll() is not None


def test_another_process_of_the_same_id_is_left_alone(tmp_path: Path):
    other = subprocess.Popen(["sleep", "600"])
    try:
        file = tmp_path / "spark.jvm"
        file.write_text(json.dumps({"pid": other.pid, "created": psutil.Process(other.pid).create_time() - 1}))
        end_predecessor(file)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_nothing_known_is_nothing_to_end(tmp_path: Path):
    end_predecessor(tmp_path / "absent")
    (tmp_path / "torn").write_text('{"pid": 1')
    end_predecessor(tmp_path / "torn")
