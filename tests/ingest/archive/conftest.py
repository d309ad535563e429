"""An archive of small files."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, archive_rotate_bytes=2000, archive_max_bytes=1 << 20)
