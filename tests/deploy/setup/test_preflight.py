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
    for name in ("preflight", "packages", "setting"):
        shutil.copy(FOLDER / "setup" / name, scripts)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MURMUR_")}
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / ".env").write_text(f"MURMUR_RANKING_LIMIT=7\n{line.format(port)}\n")
        result = subprocess.run([scripts / "preflight", "--ports"], env=environment, capture_output=True, text=True)
    assert f"Port {port} is taken by pid {os.getpid()}" in result.stderr


@pytest.mark.parametrize(("machine", "answer"), [
    ("Linux-aarch64", "note: Murmuration is tried on x86-64 only"),
    ("Linux-riscv64", "This is Linux on riscv64"), ("Darwin-arm64", "docker compose up"),
])
def test_another_machine_is_told_what_is_known_of_it(tmp_path: Path, machine: str, answer: str) -> None:
    system, _, processor = machine.partition("-")
    uname = tmp_path / "uname"
    uname.write_text(f'#!/bin/sh\n[ "$1" = -m ] && echo {processor} || echo {system}\n')
    uname.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run([FOLDER / "setup" / "preflight"], env=environment, capture_output=True, text=True)
    assert answer in result.stderr
    assert ("cannot work here" in result.stderr) is (result.returncode != 0) is (machine != "Linux-aarch64")
