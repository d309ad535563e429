"""The server of the files: `python -m deploy.local.files.server`. A thread for each connection, one lock for all."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from common.settings import Durability, Settings
from deploy.local.files.stream import Gone, Member, Read, Stream
from middleware.errors import MiddlewareError, StreamReplaced, UnknownStream
from middleware.files.ports import Port

RETAIN_SECONDS = 15.0


class Store:
    """All streams below a folder."""

    def __init__(self, folder: Path, durability: Durability) -> None:
        self.durability, self._folder = durability, folder
        self.changed = threading.Condition()
        """Held by whoever touches a stream; told when there may be something to read."""

        folder.mkdir(parents=True, exist_ok=True)
        self._streams = {file.parent.name: Stream(file.parent, self._synced) for file in folder.glob("*/stream.json")}

    def stream(self, name: str) -> Stream:
        if name not in self._streams:
            raise UnknownStream(f"no stream {name!r} in {self._folder}: `murmur up` creates the streams")
        return self._streams[name]

    def create(self, name: str, partitions: int, bound: int) -> None:
        if name not in self._streams:
            self._streams[name] = Stream.create(self._folder / name, partitions, bound, self._synced)

    def delete(self, name: str) -> None:
        self.stream(name).delete()
        del self._streams[name]

    def retain(self) -> None:
        while True:
            time.sleep(RETAIN_SECONDS)
            with self.changed, suppress(OSError):  # on a full disk, until there is room
                for stream in self._streams.values():
                    stream.retain()

    @property
    def _synced(self) -> bool:
        return self.durability == "fsync"


class Session:
    """What one connection asks; each method is a request. A member lives as long as its connection."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._name = ""
        self._reading: tuple[Stream, Member] | None = None

    def durability(self) -> Durability:
        return self._store.durability

    def create(self, stream: str, partitions: int, bound: int) -> None:
        self._store.create(stream, partitions, bound)

    def delete(self, stream: str) -> None:
        self._store.delete(stream)

    def scale(self, stream: str, partitions: int) -> None:
        self._store.stream(stream).scale(partitions)

    def truncate(self, stream: str, offsets: dict[int, int]) -> None:
        self._store.stream(stream).truncate(offsets)

    def bounds(self, stream: str) -> tuple[str, dict[int, int], dict[int, int]]:
        found = self._store.stream(stream)
        return found.life, found.heads, found.ends

    def first(self, stream: str) -> list[bytes]:
        return self._store.stream(stream).first()

    def append(self, stream: str, events: list[tuple[bytes, bytes]]) -> None:
        self._store.stream(stream).append(events)

    def read(self, stream: str, partition: int, offset: int, end: int) -> list[tuple[int, bytes]]:
        return self._store.stream(stream).read(partition, offset, end)

    def committed(self, stream: str, group: str) -> tuple[str, dict[int, int] | None]:
        found = self._store.stream(stream)
        return found.life, found.committed(group)

    def move(self, stream: str, group: str, offsets: dict[int, int]) -> bool:
        return self._store.stream(stream).move(group, offsets)

    def forget(self, stream: str, group: str) -> None:
        self._store.stream(stream).forget(group)

    def join(self, stream: str, group: str, start: str, from_head: bool) -> str:
        found = self._store.stream(stream)
        member = Member(group, from_head)
        found.join(member, start)
        self._name, self._reading = stream, (found, member)
        return found.life

    def poll(self, most: int, seconds: float) -> tuple[Read, Gone]:
        deadline = time.monotonic() + seconds
        while True:
            stream, member = self._joined()
            answer = stream.poll(member, most)
            left = deadline - time.monotonic()
            if any(answer) or left <= 0:
                return answer
            self._store.changed.wait(left)

    def offsets(self) -> dict[int, int]:
        stream, member = self._joined()
        return stream.offsets(member)

    def commit(self) -> bool:
        stream, member = self._joined()
        return stream.commit(member)

    def leave(self) -> None:
        if self._reading:
            stream, member = self._reading
            stream.leave(member)
            self._reading = None

    def _joined(self) -> tuple[Stream, Member]:
        """Raises StreamReplaced, UnknownStream, or MiddlewareError for who has not joined."""
        if self._reading is None:
            raise MiddlewareError("no member of a group")
        if self._store.stream(self._name) is not self._reading[0]:
            raise StreamReplaced(f"{self._name} was deleted and made anew")
        return self._reading


def serve(store: Store, link: Connection) -> None:
    """Answers one connection until it ends."""
    session = Session(store)
    try:
        while True:
            request, arguments = link.recv()
            link.send(answer(store, session, request, arguments))
    except (EOFError, OSError):
        return
    finally:
        with store.changed:
            session.leave()
            store.changed.notify_all()
        link.close()


def answer(store: Store, session: Session, request: str, arguments: tuple[Any, ...]) -> Any:
    """What the method of this name returns, or the MiddlewareError that it ends with."""
    with store.changed:
        try:
            return getattr(session, request)(*arguments)
        except MiddlewareError as error:
            return error
        except OSError as error:
            return MiddlewareError(f"the files cannot be written or read: {error}")
        finally:
            if request != "poll":
                store.changed.notify_all()


def main() -> None:
    settings = Settings.load()
    store = Store(settings.state_dir / "files", settings.durability)
    threading.Thread(target=store.retain, daemon=True).start()
    with Listener(("127.0.0.1", settings.port(Port.SERVER)), backlog=128) as listener:
        while True:
            with suppress(OSError):  # who connected is gone already
                threading.Thread(target=serve, args=(store, listener.accept()), daemon=True).start()


if __name__ == "__main__":
    main()
