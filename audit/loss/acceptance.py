"""What is lost to readers that were overtaken, and its acceptance: it is recorded, and they go on where their streams
begin now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from audit.loss.finding import find
from common.storage.lost import Lost, record_lost
from middleware.data import Position
from middleware.driver import Middleware
from middleware.readers import StreamReader


@dataclass(frozen=True)
class Loss:
    """Of a reader that `stands` before `head`, where its stream begins now: what it will never read."""

    reader: StreamReader
    stands: Position
    head: Position
    lost: Sequence[Lost]


def find_losses(middleware: Middleware, readers: Sequence[StreamReader], known: Sequence[Loss] = ()) -> list[Loss]:
    """Of those that were overtaken. What is `known` is not looked for again where nothing has moved."""
    found = []
    for reader in readers:
        head, stands = middleware.data.head(reader.stream), reader.position(middleware)
        if stands and stands.lies_before(head):
            same = (loss for loss in known if (loss.reader, loss.stands, loss.head) == (reader, stands, head))
            found.append(next(same, None) or Loss(reader, stands, head, find(middleware, reader)))
    return found


def accept(middleware: Middleware, loss: Loss) -> None:
    """Records before it moves: if it ends in between, the loss is told twice, not never."""
    if loss.lost:
        record_lost(middleware.settings, loss.lost)
    loss.reader.move(middleware, loss.head)
