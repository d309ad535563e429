"""How gunicorn serves the controls: on a Unix socket that only its owner reaches."""

from __future__ import annotations

from typing import Any

from control import processes

worker_class = "gthread"
workers = 1
threads = 8
umask = 0o177
"""Of the socket, and of nothing else."""

graceful_timeout = 3
control_socket_disable = True
loglevel = "warning"


def post_worker_init(worker: Any) -> None:
    processes.watch(worker.wsgi.extensions["settings"])


def worker_exit(server: Any, worker: Any) -> None:
    worker.wsgi.extensions["experiments"].end()
