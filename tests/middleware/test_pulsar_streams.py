"""A stream is bound by two policies, of which the broker may take one and fail at the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from common.settings import Settings
from middleware.errors import Unreachable
from middleware.pulsar.streams import Streams


class Policies:
    """Those of a topic, at a broker that fails once when it is asked for `failing`."""

    def __init__(self, failing: str) -> None:
        self._failing = failing
        self.kept: dict[str, Any] = {}

    def get(self, path: str) -> Any:
        return self.kept.get(_policy(path))

    def ask(self, method: str, path: str, body: Any = None) -> None:
        policy = _policy(path)
        if policy == self._failing and method == "POST":
            self._failing = ""
            raise Unreachable("Pulsar cannot answer yet: 500")
        if method == "DELETE":
            self.kept.pop(policy, None)
        else:
            self.kept[policy] = body


def _policy(path: str) -> str:
    return path.rpartition("/")[2].partition("?")[0]


@pytest.mark.parametrize("failing", ["retention", "backlogQuota"])
def test_a_stream_is_bound_as_a_whole_when_it_is_asked_for_again(failing: str) -> None:
    policies = Policies(failing)
    streams = Streams(Settings(), cast(Any, SimpleNamespace(rest=policies)))
    with pytest.raises(Unreachable):
        streams.bind("stream", 2)
    streams.bind("stream", 2)
    assert policies.kept["backlogQuota"]["limitSize"] == streams.bound(2)
    assert policies.kept["retention"]["retentionTimeInMinutes"] == -1
