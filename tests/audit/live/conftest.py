from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.audit.live.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with ExitStack() as stack:
        yield Scene(tmp_path, stack)
