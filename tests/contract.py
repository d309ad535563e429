"""docs/streams.md, as tests read it: the fields of each stream's events, and what an event has otherwise."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import orjson

from tests.stack import ROOT

TYPES: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: type(value) is int and 0 <= value < 1 << 63,
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array of string": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
}
UNITS: dict[str, Callable[[Any], bool]] = {
    "": lambda value: True,
    "bytes": lambda value: True,
    "s": lambda value: True,
    "s since 1970": lambda value: value < 1 << 33,
    "µs since 1970": lambda value: value < 1 << 53,
    "RFC 3339, UTC, ms": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").fullmatch,
    "hexadecimal": re.compile(r"[0-9a-f]{64}").fullmatch,
    "base64": lambda value: base64.b64decode(value, validate=True) is not None,
}
OTHERS = "any other"
Table = list[dict[str, str]]


class Stream(NamedTuple):
    """A chapter of the page. Tables by the heading of their first column; `told` by the word before the colon."""

    tables: dict[str, Table]
    told: dict[str, str]
    examples: list[bytes]

    def named(self, table: str) -> list[str]:
        """First column of a table."""
        return [unquoted(row[table]) for row in self.tables[table]]

    def quoted(self, told: str) -> list[str]:
        """What is set in code there."""
        return re.findall(r"`([^`]+)`", self.told[told])


@cache
def streams() -> dict[str, Stream]:
    chapters = re.split(r"^## `([^`]+)`$", (ROOT / "docs" / "streams.md").read_text(), flags=re.MULTILINE)[1:]
    return dict(zip(chapters[::2], map(_stream, chapters[1::2]), strict=True))


def _stream(text: str) -> Stream:
    lines = text.splitlines()
    told = dict(re.findall(r"^- ([A-Z][a-z ]+): (.+)$", text, re.MULTILINE))
    tables: dict[str, Table] = {}
    rows = [[cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else [] for line in lines]
    heading: list[str] = []
    for row, after in zip(rows, [*rows[1:], []], strict=True):
        if not heading and row and after and set(after[0]) == {"-"}:
            heading = row
            tables[heading[0]] = []
        elif not row:
            heading = []
        elif set(row[0]) != {"-"}:
            tables[heading[0]].append(dict(zip(heading, row, strict=True)))
    examples = [event for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL) for event in _events(block)]
    return Stream(tables, told, examples)


def _events(block: str) -> Iterator[bytes]:
    """Each begins a line."""
    for event in re.split(r"^(?=\{)", block, flags=re.MULTILINE)[1:]:
        yield event.encode()


def unquoted(cell: str) -> str:
    return cell.strip("`")


def differences(stream: str, event: bytes) -> list[str]:
    """How an event is not as described; empty: it is."""
    try:
        content = orjson.loads(event)
    except orjson.JSONDecodeError:
        content = json.loads(event)
    if not isinstance(content, dict):
        return ["it is no object"]
    return list(_differing(streams()[stream].tables["Field"], content, ""))


def _differing(fields: Table, content: dict[str, Any], prefix: str) -> Iterator[str]:
    described = {name.removeprefix(prefix): row for row in fields
                 if (name := unquoted(row["Field"])).startswith(prefix) and "." not in name.removeprefix(prefix)}
    is_open = described.pop(OTHERS, None) is not None
    if not is_open and (unknown := content.keys() - described.keys()):
        yield f"{prefix}{sorted(unknown)} is not described"
    for name, row in described.items():
        if name not in content:
            if _must_be_there(row["Present"], content):
                yield f"{prefix}{name} is missing"
            continue
        if _must_not_be_there(row["Present"], content):
            yield f"{prefix}{name} is there"
        value = content[name]
        if not any(TYPES[kind](value) for kind in row["Type"].split(" or ")):
            yield f"{prefix}{name} is no {row['Type']}: {str(value)[:100]}"
        elif value is not None and not _has_unit(row["Unit"], value):
            yield f"{prefix}{name} is not in {row['Unit']}: {str(value)[:100]}"
        elif isinstance(value, dict):
            yield from _differing(fields, value, f"{prefix}{name}.")


def _has_unit(unit: str, value: Any) -> bool:
    try:
        return bool(UNITS[unit](value))
    except ValueError:
        return False


def _must_be_there(present: str, content: dict[str, Any]) -> bool:
    return present == "always" or _is_of_kind(present, content) is True


def _must_not_be_there(present: str, content: dict[str, Any]) -> bool:
    return _is_of_kind(present, content) is False


def _is_of_kind(present: str, content: dict[str, Any]) -> bool | None:
    """None: what is said does not depend on another field."""
    condition = re.fullmatch(r"`(\w+)` is `(\w+)`", present)
    return content.get(condition[1]) == condition[2] if condition else None
