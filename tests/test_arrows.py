"""The arrows between the parts: each forbidden import would be noticed, and names in strings obey them as imports do.

`make lint` holds the imports of the tree itself.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common.modules import STARTED_BY
from tests.stack import ROOT
from tests.tree import PARTS

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
CONTRACTS: list[dict[str, Any]] = PROJECT["importlinter"]["contracts"]
FORBIDDEN = {
    (source, target)
    for contract in CONTRACTS for source in contract["source_modules"] for target in contract["forbidden_modules"]
}  # fmt: skip
TABLE = ROOT / "common" / "modules.py"
SCRIPTS = ("Makefile", "murmur", "deploy/local/setup/run", "tests/run")
PLANTED = "planted"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120)


def test_every_part_is_listed_wherever_parts_are() -> None:
    assert tuple(sorted(PROJECT["importlinter"]["root_packages"])) == PARTS
    assert {*PARTS, "tests"} == set(PROJECT["ruff"]["lint"]["isort"]["known-first-party"])
    assert set(PARTS) <= set(PROJECT["mypy"]["files"])


def test_every_part_but_the_command_line_has_its_arrows() -> None:
    assert {source for source, target in FORBIDDEN if target == "cli"} == set(PARTS) - {"cli"}


def test_each_forbidden_import_would_be_noticed(tmp_path: Path) -> None:
    """In a copy of the tree that has one of each."""
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=lambda folder, names: [
            name for name in names if (Path(folder) / name).is_file() and not name.endswith(".py")
        ])  # fmt: skip
        planted = "".join(f"import {target}\n" for source, target in sorted(FORBIDDEN) if source == part)
        (tmp_path / part / f"{PLANTED}.py").write_text(planted)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    result = lint_imports(tmp_path)
    found = re.findall(rf"^-\s+(\w+)\.{PLANTED} -> (\w+)", result.stdout, re.MULTILINE)
    assert set(found) == FORBIDDEN, result.stdout + result.stderr
    assert result.returncode == 1


def modules_named(file: Path) -> Iterator[str]:
    """Modules of ours that a string names, as a whole or before a colon (`module:attribute`, `python:module`)."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.removeprefix("python:").partition(":")[0]
            if re.fullmatch(rf"(?:{'|'.join(PARTS)})(?:\.\w+)+", text) and importlib.util.find_spec(text):
                yield text


def test_a_name_in_a_string_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text('"""`-m cli.demo`, in prose."""\nf("consumers.search", "web.server:app", "python:web.server")')
    assert list(modules_named(file)) == ["consumers.search", "web.server", "web.server"]


def test_a_module_of_another_folder_is_named_in_the_table_only() -> None:
    found = [
        f"{file.relative_to(ROOT)} names {name}"
        for part in PARTS for file in sorted((ROOT / part).rglob("*.py")) if file != TABLE
        for name in modules_named(file)
        if not name.startswith(".".join(file.parent.relative_to(ROOT).parts) + ".")
    ]
    assert found == []


def test_who_starts_a_module_may_import_its_part_unless_it_is_the_deployment() -> None:
    named = {(by, name.partition(":")[0]) for by, names in STARTED_BY.items() for name in names}
    assert set(modules_named(TABLE)) <= {name for _, name in named}
    for by, name in named:
        assert importlib.util.find_spec(name), name
        part = name.partition(".")[0]
        assert part == by or (part != "cli" and (by == "deploy" or (by, part) not in FORBIDDEN)), (by, name)


def test_scripts_name_modules_that_exist() -> None:
    named = {name for script in SCRIPTS for name in re.findall(r"python\"? -m ([\w.]+)", (ROOT / script).read_text())}
    ours = {name for name in named if name.partition(".")[0] in PARTS}
    assert ours
    assert [name for name in sorted(ours) if importlib.util.find_spec(name) is None] == []
