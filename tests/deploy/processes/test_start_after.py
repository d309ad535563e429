"""A command that waits for ports."""

import socket
import subprocess
import sys

import psutil

from common import modules


def test_the_command_starts_once_something_listens():
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "-m", modules.Deploy.START_AFTER, f"127.0.0.1:{port}", "--", "/bin/echo", "started"],
            stdout=subprocess.PIPE, text=True,
        )
        waiting = psutil.Process(process.pid)
        while modules.Deploy.START_AFTER not in waiting.cmdline() or waiting.status() != psutil.STATUS_SLEEPING:
            assert process.poll() is None
        assert process.poll() is None
        reserved.listen()
        assert process.communicate(timeout=30)[0] == "started\n"
