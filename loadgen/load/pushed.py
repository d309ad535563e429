"""What Locust's pushers did, for the verdict."""

from __future__ import annotations

from loadgen.observe.samples import Offered

ON_SCHEDULE_SECONDS = 0.5
PUSH_TWEETS, PUSH_SECONDS = 50, 0.5
"""A pusher sends batches on a schedule: 100 tweets/s."""


class Pushed:
    """Counts tweets by what became of their schedule. Pushers wait for answers, so what is late was held up."""

    def __init__(self) -> None:
        self.on_schedule = self.accepted = 0

    def add(self, accepted: int, late_s: float) -> None:
        """A batch that was sent so many seconds after it was due; not accepted means not offered."""
        self.accepted += accepted
        self.on_schedule += accepted if late_s <= ON_SCHEDULE_SECONDS else 0

    def since(self, on_schedule: int, scheduled: int) -> Offered:
        """Of `scheduled` tweets, what became of them since `on_schedule` was so many; what is not there was held up."""
        pushed = min(self.on_schedule - on_schedule, scheduled)
        return Offered(scheduled, pushed, max(0, scheduled - pushed), 0)


PUSHED = Pushed()
"""What all pushers of this process did. Here, because Locust loads its files under names of its own."""
