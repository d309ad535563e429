"""The committed table is true to the suite."""

import re

from middleware.registry import driver, registry
from tests.conformance import table

DOCUMENT = table.DOCUMENT.read_text()


def rows(heading: str) -> dict[str, list[str]]:
    """First cell → the others, of the table under that heading."""
    _, between, _ = table.parts(DOCUMENT)
    found = re.search(rf"^\| {heading} \|.*?\n(.*?)\n\n", between, re.MULTILINE | re.DOTALL)
    assert found
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()[1:]]
    return {first: others for first, *others in lines}


def test_it_lists_every_test_and_every_middleware() -> None:
    listed = rows("conformance test")
    assert list(listed) == list(table.tests().values()), "write it anew: python -m tests.conformance.table JUNIT.xml"
    assert {len(cells) for cells in listed.values()} == {len(registry())}


def test_nothing_in_it_has_failed_or_was_left_out() -> None:
    assert {cell for cells in rows("conformance test").values() for cell in cells} == {"passed"}


def test_it_says_what_an_acknowledgement_means() -> None:
    for durability, meanings in rows("acknowledged means").items():
        expected = [driver(name).acknowledgement[durability.strip("`")] for name in registry()]
        assert meanings == expected
