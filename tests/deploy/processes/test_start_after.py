"""A command that waits for ports."""

import socket
import subprocess
import sys

import psutil

from common import modules


def test_of_several_servers_that_stand_in_for_each_other_one_is_enough():
    with socket.socket() as dead, socket.socket() as alive:
        dead.bind(("127.0.0.1", 0))
        alive.bind(("127.0.0.1", 0))
        alive.listen()
        several = ",".join(f"127.0.0.1:{one.getsockname()[1]}" for one in (dead, alive))
        command = [sys.executable, "-m", modules.Deploy.START_AFTER, several, "--", "/bin/echo", "started"]
        assert subprocess.run(command, capture_output=True, text=True, timeout=30).stdout == "started\n"


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
