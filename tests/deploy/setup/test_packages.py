"""Debian packages: an installation that is killed leaves a machine on which others can start their services."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from deploy.local.rendering import FOLDER

POLICY = Path("/usr/sbin/policy-rc.d")
APT = """#!/bin/sh
[ "$1" = update ] && exit
echo "$RUNLEVEL $*" >"$REPORT"
kill -9 "$PPID"
"""


def test_killed_hard_it_leaves_the_policy_of_the_machine_as_it_was(tmp_path: Path) -> None:
    """apt-get is one that ends the installation in its middle: nothing may be installed by a test."""
    apt = tmp_path / "apt-get"
    apt.write_text(APT)
    apt.chmod(0o755)
    before = POLICY.read_bytes() if POLICY.exists() else None
    report = tmp_path / "report"
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "REPORT": str(report)}
    command = [FOLDER / "setup" / "packages", "--install", "nginx-light"]
    result = subprocess.run(command, env=environment, capture_output=True)
    assert result.returncode == -9
    runlevel, *words = report.read_text().split()
    assert (runlevel, words[0], words[-1]) == ("1", "install", "nginx-light")
    assert (POLICY.read_bytes() if POLICY.exists() else None) == before
