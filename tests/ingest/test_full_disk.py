"""A disk that is really full: each case in a process of its own, whose folder is a tmpfs of 1 MiB."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.ingest.small_disk import CASES, DISK_BYTES
from tests.stack import ROOT


@pytest.mark.parametrize("case", CASES)
def test_a_full_disk(tmp_path: Path, case: str) -> None:
    script = 'mount -t tmpfs -o size="$1" none "$2" && exec "$3" -m tests.ingest.small_disk "$2" "$4"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", str(DISK_BYTES), str(tmp_path), sys.executable, case],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )
    assert done.returncode == 0, done.stderr
