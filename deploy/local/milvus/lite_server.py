"""Milvus Lite as a server: `python -m deploy.local.milvus.lite_server` becomes the server of this instance.

Its own Python wrapper stays beside the server as a second process and stops it with a signal sent 2 s after a lock is
released; as the server itself, this process is stopped, restarted and counted like any other.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from milvus_lite.server import Server

from common.settings import Port, Settings


def log_writes_ahead(database: Path) -> None:
    """Has SQLite, in which Milvus Lite stores its rows, sync one file once for each request instead of two files."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def main() -> None:
    settings = Settings.load()
    database = settings.state_dir / "milvus" / "tweets.db"
    database.parent.mkdir(parents=True, exist_ok=True)
    log_writes_ahead(database)
    server = Server(str(database), settings.listener(Port.MILVUS))
    os.environ |= {
        "LD_LIBRARY_PATH": os.path.dirname(server.milvus_bin),
        # By default it leaves several lines about every request in the system's folder for temporary files.
        "GLOG_logtostderr": "1",
        "GLOG_minloglevel": "2",
    }
    os.chdir(database.parent)
    os.execv(server.milvus_bin, [str(argument) for argument in server.args])


if __name__ == "__main__":
    main()
