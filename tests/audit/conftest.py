from pathlib import Path

import pytest

from tests.audit.chain import Chain


@pytest.fixture
def chain(tmp_path: Path) -> Chain:
    """Bounds: 1,000 rows in the database, 100 in the index."""
    return Chain(tmp_path)
