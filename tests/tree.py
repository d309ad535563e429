"""The checkout's files, as the tests see them that hold rules on these."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.stack import ROOT

PARTS = tuple(sorted(path.parent.name for path in ROOT.glob("*/__init__.py")))
"""The packages of the product, but for the tests."""


def tracked(*asked: str) -> list[Path]:
    """Files of the checkout that git tells of, for these patterns and options; all that it knows, for none."""
    listed = subprocess.run(["git", "ls-files", *asked], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [file for name in listed.splitlines() if (file := ROOT / name).is_file()]
