"""What the documentation says of the tree, and where its links lead."""

from __future__ import annotations

import re
from pathlib import Path

from tests.stack import ROOT
from tests.tree import tracked


def anchors(page: Path) -> set[str]:
    """Of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()).replace(" ", "-")
            for heading in headings}


def test_every_link_within_the_repository_leads_somewhere() -> None:
    broken = []
    for page in tracked("*.md"):
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                path, _, anchor = target.partition("#")
                file = page.parent / path if path else page
                if "://" not in target and not (
                        file.exists() and (not anchor or file.suffix != ".md" or anchor in anchors(file))):
                    broken.append(f"{page.relative_to(ROOT)}:{number}: {target}")
    assert broken == []


def test_every_page_of_docs_is_in_its_index() -> None:
    index = (ROOT / "docs/README.md").read_text()
    missing = [page.name for page in tracked("*.md") if page.parent == ROOT / "docs" and page.name != "README.md"
               and f"({page.name})" not in index]
    assert missing == []


def test_the_newest_release_of_the_changelog_is_the_version() -> None:
    releases = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert releases[0] == ("Unreleased", "")
    newest, dated = releases[1]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", dated)
    assert f'version = "{newest}"' in (ROOT / "pyproject.toml").read_text()
    assert f'"version": "{newest}"' in (ROOT / "frontend/package.json").read_text()


DEEPER = ("deploy/local",)
"""Folders of which those two levels below the root are described one by one, too."""

ONE_ROW = ("results", "spark_common", "spark_nats", "spark_pravega", "spark_pulsar", "tests")
"""Folders that say themselves what lies in them."""


def test_the_table_of_folders_is_the_tree() -> None:
    described = re.findall(r"^\| \[([\w./]+)\]\(", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    assert described == sorted(folders(), key=lambda folder: (not folder.startswith("."), folder))


def folders() -> set[str]:
    """Tracked folders of two levels, and those below DEEPER."""
    parts = {file.relative_to(ROOT).parent.parts for file in tracked()}
    return {
        "/".join(part[:depth]) for part in parts for depth in range(1, len(part) + 1)
        if depth == 1 or (part[0] not in ONE_ROW and not part[0].startswith(".")
                          and (depth == 2 or (depth == 3 and "/".join(part[:2]) in DEEPER)))
    }
