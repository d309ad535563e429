"""Rules on what may stand where, checked in the text of the files."""

import importlib.util
import re
from pathlib import Path

import pytest

from deploy.local.processes import MIDDLEWARES
from middleware import registry
from tests.stack import ROOT

MAY_NAME_A_MIDDLEWARE = ("middleware", "deploy", "tests", "common/settings.py")
PACKAGES = ("cli", "common", "consumers", "deploy", "ingest", "loadgen", "middleware", "spark_jobs", "tests", "web")


def python_files() -> list[Path]:
    return [file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py"))]


def test_no_other_part_knows_which_middleware_runs() -> None:
    name = re.compile("|".join(registry()), re.IGNORECASE)
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in python_files()
        if not any(file.is_relative_to(ROOT / allowed) for allowed in MAY_NAME_A_MIDDLEWARE)
        for number, line in enumerate(file.read_text().splitlines(), 1) if name.search(line)
    ]
    assert found == []


@pytest.mark.parametrize("name", registry())
def test_a_middleware_is_one_module_and_one_entry_of_the_deployment(name: str) -> None:
    module = importlib.util.find_spec(f"middleware.{name}")
    assert module
    assert name in MIDDLEWARES
