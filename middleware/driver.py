"""A middleware as a whole: the DRIVER of its folder, and a connection in its three parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from common.closing import Closing
from common.settings import Durability, Settings
from middleware.admin import Admin, Operator
from middleware.compared import NOTHING, Compared
from middleware.data import DataPlane, Position
from middleware.spark import SparkStreams


class Middleware(Closing):
    """Connection to one stream store: data plane, administration, and the streams as Spark knows them."""

    def __init__(
        self, settings: Settings, data: DataPlane, admin: Admin, spark: SparkStreams,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.settings, self.data, self.admin, self.spark = settings, data, admin, spark
        self._close = close

    def begin_at(self, stream: str, group: str, place: Position | None) -> bool:
        """Whether a new group begins at this place now: not where retention has passed it, or in another stream."""
        if place is None or place.life != (head := self.data.head(stream)).life or place.lies_before(head):
            return False
        self.admin.move_group(stream, group, place)
        return True

    def close(self) -> None:
        self._close()


@dataclass(frozen=True)
class Driver:
    """What is known of a middleware without its client, which `connect` and `operator` import."""

    connect: Callable[[Settings], Middleware]
    """Raises no error where the servers are away: what is asked of them does."""

    operator: Callable[[Settings], Operator]
    acknowledgement: Mapping[Durability, str]
    """What an acknowledged event is guaranteed, by durability class."""

    replicated: str = ""
    """What else it is guaranteed with three replicas, and which servers stay single; empty where there are none."""

    compared: Callable[[Settings], Compared] = lambda settings: NOTHING
    """The settings that matter to a comparison, as they are in use."""

    asks_durability: bool = False
    """Whether `durability_in_force` asks the running server; it tells what that was configured with otherwise."""

    def guarantee(self, settings: Settings) -> str:
        """What an acknowledged event is guaranteed with these settings."""
        one = self.acknowledgement[settings.durability]
        return one if settings.replicas == 1 else f"{one}; {self.replicated}"
