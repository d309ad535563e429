"""What set-up looks at before it begins."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from deploy.local.rendering import FOLDER


@pytest.mark.parametrize("line", ["MURMUR_PORT_BASE={}", 'export MURMUR_PORT_BASE="{}"  # ours'])
def test_the_ports_are_those_of_the_file_of_settings(tmp_path: Path, line: str) -> None:
    scripts = tmp_path / "deploy" / "local" / "setup"
    scripts.mkdir(parents=True)
    for name in ("preflight", "packages"):
        shutil.copy(FOLDER / "setup" / name, scripts)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MURMUR_")}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / ".env").write_text(f"MURMUR_RANKING_LIMIT=7\n{line.format(port)}\n")
        result = subprocess.run([scripts / "preflight", "--ports"], env=environment, capture_output=True, text=True)
    assert f"Port {port} is taken by pid {os.getpid()}" in result.stderr
