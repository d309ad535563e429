"""What test_full_disk.py runs where a folder is a disk of 1 MiB: `python -m tests.ingest.small_disk FOLDER CASE`."""

from __future__ import annotations

import logging
import sys
import threading
from pathlib import Path

from common.settings import Settings
from common.storage.disk import DiskFull
from ingest.archive import files
from ingest.endpoint import inbox
from ingest.endpoint.http import create_app
from ingest.ingester import Ingester
from ingest.manifest import ManifestWriter, read_manifests
from ingest.publisher import Publisher
from ingest.sources.synthetic import Synthetic
from tests.ingest.over_memory import each_once, eventually, memory, payloads, seqs, settings_in
from tests.memory import Memory

RUN = "run-1"
DISK_BYTES = 1 << 20


class Ballast:
    """What somebody else left on the disk."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ballast"

    def fill(self, but: int = 0) -> None:
        """Leaves so many bytes, rounded down to pages."""
        self._file.write_bytes(b"")
        with self._file.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                size = file.tell()
            file.truncate(max(0, size - but))

    def remove(self) -> None:
        self._file.unlink()


def refused(publisher: Publisher, count: int) -> bool:
    try:
        publisher.publish([5] * count, payloads(count, publisher.total))
    except DiskFull:
        return True
    return False


def archive_of(settings: Settings) -> list[int]:
    return [entry.seq for entry in files.read(settings, RUN, 0)]


def publisher_goes_on(settings: Settings, middleware: Memory, ballast: Ballast) -> None:
    """However much of a group had room: none of it is in the archive, and the next one stands behind whole lines."""
    with Publisher(settings, middleware, ManifestWriter.create(settings, RUN, "test", {})) as publisher:
        assert not refused(publisher, 10)
        for room in (0, 4096, 8192, 12288):
            ballast.fill(room)
            assert refused(publisher, 500)
            assert archive_of(settings) == list(range(publisher.total))
            ballast.remove()
            assert not refused(publisher, 500)
        publisher.finish()
        total = publisher.total
    assert total == 2010
    assert archive_of(settings) == list(range(total))
    assert seqs(middleware, RUN) == each_once(total)


def rotation_goes_on(settings: Settings, middleware: Memory, ballast: Ballast) -> None:
    """The place of a file is as hard to find as that of a line."""
    small = settings.model_copy(update={"archive_rotate_bytes": 100})
    with Publisher(small, middleware, ManifestWriter.create(settings, RUN, "test", {})) as publisher:
        for _ in range(5):
            assert not refused(publisher, 10)
            ballast.fill()
            assert refused(publisher, 10)
            ballast.remove()
        total = publisher.total
    assert total == 50
    assert archive_of(settings) == list(range(total))
    assert seqs(middleware, RUN) == each_once(total)


def manifest_needs_no_room(settings: Settings, middleware: Memory, ballast: Ballast) -> None:
    """A run that began can always be acknowledged and finished; one that cannot begin leaves nothing."""
    with ManifestWriter.create(settings, RUN, "test", {}) as writer:
        ballast.fill()
        for count in range(100):
            writer.acknowledged(count)
        writer.finish()
        try:
            ManifestWriter.create(settings, "run-2", "test", {})
        except DiskFull:
            pass
        else:
            raise AssertionError("there was room")
    assert list(read_manifests(settings)) == [RUN]
    ballast.remove()
    ManifestWriter.create(settings, "run-2", "test", {}).close()


def source_waits(settings: Settings, middleware: Memory, ballast: Ballast) -> None:
    lines: list[str] = []
    noted = logging.Handler()
    noted.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("ingest.ingester")
    logger.addHandler(noted)
    logger.setLevel(logging.INFO)
    with Publisher(settings, middleware, ManifestWriter.create(settings, RUN, "synthetic", {})) as publisher:
        ingester = Ingester(settings, Synthetic(RUN, 1, "lean"), publisher, 1000)
        running = threading.Thread(target=ingester.run, args=(600, threading.Event(), lambda _: None))
        running.start()
        assert eventually(lambda: publisher.acknowledged > 50)
        ballast.fill()
        assert eventually(lambda: bool(lines))
        at = publisher.acknowledged
        assert not eventually(lambda: publisher.acknowledged > at, timeout=0.5)
        ballast.remove()
        running.join(30)
        assert not running.is_alive()
    assert len(lines) == 2, lines
    assert archive_of(settings) == list(range(600))
    assert seqs(middleware, RUN) == each_once(600)


def push_is_507(settings: Settings, middleware: Memory, ballast: Ballast) -> None:
    inbox.connect = lambda _: middleware  # type: ignore[attr-defined]
    app = create_app(settings)
    client = app.test_client()

    def push() -> int:
        body = b'{"data":{"text":"%b"}}' % (b"x" * 5000)  # more than what is left of a page
        return client.post("/api/v1/tweets", data=body, headers={"Authorization": "Bearer token"}).status_code

    assert eventually(lambda: client.get("/readyz").status_code == 200)
    ballast.fill()
    assert [push(), push()] == [507, 507]  # not even a run could begin
    assert client.get("/readyz").status_code == 507
    ballast.remove()
    assert [push(), client.get("/readyz").status_code] == [200, 200]
    ballast.fill()
    assert [push(), push()] == [507, 507]
    ballast.remove()
    assert push() == 200
    app.extensions["inbox"].close()
    [run] = read_manifests(settings).values()
    assert (run.total, seqs(middleware, run.run)) == (2, each_once(2))


CASES = {case.__name__: case for case in (
    publisher_goes_on, rotation_goes_on, manifest_needs_no_room, source_waits, push_is_507)}

if __name__ == "__main__":
    disk = Path(sys.argv[1])
    of_the_case = settings_in(disk, ingest_max_body_bytes=1 << 14)
    CASES[sys.argv[2]](of_the_case, memory(of_the_case), Ballast(disk))
