"""A middleware outside the application is found by Python's path, and by nothing else."""

import os
import subprocess
import sys
from pathlib import Path

from tests.stack import ROOT

PLUGIN = Path(__file__).parent

ASKED = """
from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
print(*registry())
print(*(deployment(name).syncing for name in registry() if driver(name)))
"""


def told(path: str) -> list[list[str]]:
    """The middlewares, and the process of each that syncs."""
    environment = {**os.environ, "PYTHONPATH": path}
    answer = subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT, env=environment, text=True, capture_output=True)
    assert answer.returncode == 0, answer.stderr
    return [line.split() for line in answer.stdout.splitlines()]


def test_a_folder_on_the_path_is_enough() -> None:
    (usual, _), (found, syncing) = told(""), told(str(PLUGIN))
    assert sorted(found) == sorted([*usual, "files"])
    assert found[0] == usual[0]
    assert "files" in syncing
