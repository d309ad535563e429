from __future__ import annotations

import pytest

from tests.conformance.servers import Servers, running


@pytest.fixture(scope="session")
def servers() -> Servers:
    return running("pravega")
