"""Tables of a report. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any


class Html(str):
    """Markup, not to be escaped."""


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], numbers: Sequence[int] = ()) -> str:
    """`numbers`: the columns that are set as such, from 0."""
    def cell(tag: str, n: int, value: Any) -> str:
        content = value if isinstance(value, Html) else escape(text(value))
        return f"<{tag}{' class=number' if n in numbers else ''}>{content}</{tag}>"

    lines = ["".join(cell("td", n, value) for n, value in enumerate(row)) for row in rows]
    top = "".join(cell("th", n, value) for n, value in enumerate(head))
    return f"<table><tr>{top}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def rate(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
