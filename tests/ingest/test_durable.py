"""What is on disk when a group is acknowledged, as the kernel was asked for it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ingest.over_memory import settings_in
from tests.stack import ROOT

PUBLISH = """
import sys
from pathlib import Path
from ingest.manifest import ManifestWriter
from ingest.publisher import Publisher
from tests.ingest.over_memory import memory, payloads, settings_in

settings = settings_in(Path(sys.argv[1]))
with Publisher(settings, memory(settings), ManifestWriter.create(settings, "run-1", "test", {})) as publisher:
    publisher.publish([5] * 3, payloads(3))
"""


def test_every_file_and_every_folder_on_the_way_to_it_is_synced(tmp_path: Path) -> None:
    strace = shutil.which("strace") or pytest.fail("strace is missing: deploy/local/setup/packages --tests installs it")
    trace = tmp_path / "trace"
    home = tmp_path / "home"
    subprocess.run(
        [strace, "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", str(trace), sys.executable, "-c", PUBLISH, str(home)],
        cwd=ROOT, check=True, timeout=60,
    )
    calls = trace.read_text()
    assert " = -1 " not in calls
    # A call in which another thread writes its line has its result in a line of its own.
    synced = [Path(path) for path in re.findall(r"f(?:data)?sync\(\d+<([^>]*)>", calls)]
    state = settings_in(home).state_dir
    archived, manifest = state / "archive" / "run-1" / "000000000000.jsonl", state / "runs" / "run-1.jsonl"
    for file in (archived, manifest):
        folders = [parent for parent in file.parents if parent.is_relative_to(tmp_path)]
        assert {file, *folders} <= set(synced)
    assert synced.index(archived) < len(synced) - 1 - synced[::-1].index(manifest)  # the acknowledgement comes last
