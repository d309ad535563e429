"""What the project needs of others: named directly, pinned, and apart by who needs it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.stack import ROOT
from tests.tree import PARTS

RUN = ["requirements.in", *(str(path.relative_to(ROOT)) for path in ROOT.glob("middleware/*/requirements.in"))]
"""What runs, with what each middleware needs."""


def lines(name: str) -> list[str]:
    found = (line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    return [line for line in found if line and not line.startswith("-c ")]


def named(line: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\[=<>!~ ]", line)[0]).lower()


def locked(name: str) -> dict[str, str]:
    return dict(re.findall(r"^(\S+)==(\S+) \\$", (ROOT / name).read_text(), re.MULTILINE))


def imported(folders: tuple[str, ...]) -> set[str]:
    """Distributions of others that the code of these folders imports."""
    modules = {module for folder in folders for path in (ROOT / folder).rglob("*.py") for module in imports(path)}
    others = modules - set(sys.stdlib_module_names) - {*PARTS, "benchmarks", "tests"}
    distributions = packages_distributions()
    return {named(distributions[module][0]) for module in others}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize(("name", "lock"), [
    *((name, "requirements.txt") for name in RUN), ("requirements-checks.in", "requirements-checks.txt"),
])
def test_every_direct_dependency_is_pinned_as_it_is_locked(name: str, lock: str) -> None:
    found = lines(name)
    assert found
    assert [line for line in found if not re.fullmatch(r"[\w.-]+(\[\w+\])?==[\w.]+", line)] == []
    assert {named(line): line.split("==")[1] for line in found}.items() <= locked(lock).items()


def test_the_lock_holds_nothing_that_no_file_asks_for() -> None:
    """As of a middleware that was removed: its packages say which file asked for them."""
    comments = re.findall(r"^ +# .*", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    asked = {file for comment in comments for file in re.findall(r"-r (\S+)", comment)}
    assert asked == set(RUN)


def test_what_runs_names_all_that_it_imports_and_nothing_that_only_checks_need() -> None:
    run = {named(line) for name in RUN for line in lines(name)}
    checks = {named(line) for line in lines("requirements-checks.in")}
    assert imported(PARTS) - run == set()
    assert imported(("tests",)) - run - checks == set()
    assert checks & run == set()


def test_what_both_need_has_one_version() -> None:
    run, checks = locked("requirements.txt"), locked("requirements-checks.txt")
    assert {name: version for name, version in checks.items() if run.get(name, version) != version} == {}
