"""Charts as inline SVG: nothing to load, nothing to run. Colours come from the style sheet of the page. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 42
TICKS = 5
COLOURS = 10
"""So many variables `--c0` … the style sheet has; beyond, they repeat."""

Point = tuple[float, float | None]


@dataclass(frozen=True)
class Line:
    """Points in order; one without a value ends a piece. `dashed` and `marks` are of its looks."""

    name: str
    points: Sequence[Point]
    colour: int
    dashed: bool = False
    marks: bool = False


@dataclass(frozen=True)
class Scale:
    """Maps values to pixels, linearly or by their logarithm."""

    low: float
    high: float
    first: float
    last: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        return self.first + (at - low) / (high - low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        if self.logarithmic:
            exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            values = [base * 10.0**exponent for exponent in exponents for base in (1, 2, 5)]
        else:
            step = nice_step(self.high - self.low, TICKS)
            first = math.ceil(self.low / step)
            values = [n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1)]
        return [value for value in values if self.low <= value <= self.high * (1 + 1e-9)]


def nice_step(span: float, ticks: int) -> float:
    """A step of 1, 2 or 5 times a power of ten that divides `span` into about so many."""
    rough = max(span, 1e-9) / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    return next(base * power for base in (1, 2, 5, 10) if base * power >= rough * (1 - 1e-9))


def line_chart(
    lines: Sequence[Line], x_label: str, y_label: str, logarithmic: bool = False, limit: tuple[float, str] | None = None
) -> str:
    """Lines over a common x axis. `limit`: a value, and what it is, drawn across."""
    points = [(x, y) for line in lines for x, y in line.points if y is not None]
    if not points:
        return '<p class="empty">nothing was measured</p>'
    xs, ys = [x for x, _ in points], [y for _, y in points] + ([limit[0]] if limit else [])
    x = Scale(min(xs), max(xs) if max(xs) > min(xs) else min(xs) + 1, LEFT, WIDTH - RIGHT)
    floor = max(1.0, min(ys)) if logarithmic else min(0.0, min(ys))
    y = Scale(floor, max(max(ys) * 1.05, floor * 1.1, floor + 1e-9), HEIGHT - BOTTOM, TOP, logarithmic)
    parts = [_axes(x, y, x_label, y_label)]
    if limit:
        at = y(limit[0])
        parts.append(f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
                     f'<text class="limit" x="{WIDTH - RIGHT}" y="{at - 4:.1f}" text-anchor="end">{escape(limit[1])}'
                     "</text>")
    parts += [_line(line, x, y) for line in lines]
    return _svg("".join(parts), HEIGHT, f"{y_label} against {x_label}") + _legend(lines)


def bar_chart(bars: Mapping[str, Mapping[str, float]], unit: str) -> str:
    """One horizontal bar for each name, put together from named parts; the sum stands at its end."""
    parts = list(dict.fromkeys(part for bar in bars.values() for part in bar))
    longest = max((sum(bar.values()) for bar in bars.values()), default=0.0)
    if not longest:
        return '<p class="empty">nothing was measured</p>'
    row, left = 30, 150
    x = Scale(0, longest * 1.15, left, WIDTH - RIGHT)
    drawn = []
    for n, (name, bar) in enumerate(bars.items()):
        top, at = TOP + n * row, 0.0
        drawn.append(f'<text x="{left - 8}" y="{top + 15}" text-anchor="end">{escape(name)}</text>')
        for part, value in bar.items():
            drawn.append(
                f'<rect {_colour(parts.index(part))} x="{x(at):.1f}" y="{top}" height="20" '
                f'width="{x(at + value) - x(at):.1f}"><title>{escape(part)}: {value:.3g} {escape(unit)}</title></rect>')
            at += value
        drawn.append(f'<text x="{x(at) + 5:.1f}" y="{top + 15}">{at:.3g}</text>')
    legend = [Line(part, [], n) for n, part in enumerate(parts)]
    return _svg("".join(drawn), TOP + row * len(bars) + 6, f"{unit} by part") + _legend(legend)


def _axes(x: Scale, y: Scale, x_label: str, y_label: str) -> str:
    parts = []
    for value in y.ticks():
        at = y(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
                     f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{short(value)}</text>')
    for value in x.ticks():
        parts.append(f'<text x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{short(value)}</text>')
    middle = (HEIGHT - BOTTOM + TOP) / 2
    parts.append(f'<text class="label" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
                 f"{escape(x_label)}</text>")
    parts.append(f'<text class="label" x="12" y="{middle}" text-anchor="middle" '
                 f'transform="rotate(-90 12 {middle})">{escape(y_label)}</text>')
    return "".join(parts)


def _line(line: Line, x: Scale, y: Scale) -> str:
    pieces: list[list[str]] = [[]]
    marks = []
    for at, value in line.points:
        if value is None:
            pieces.append([])
            continue
        pieces[-1].append(f"{x(at):.1f},{y(value):.1f}")
        if line.marks:
            marks.append(f'<circle {_colour(line.colour)} cx="{x(at):.1f}" cy="{y(value):.1f}" r="3.5">'
                         f"<title>{escape(line.name)}: {value:,.6g} at {at:,.6g}</title></circle>")
    drawn = [f'<polyline {_looks(line)} points="{" ".join(piece)}"/>' for piece in pieces if len(piece) > 1]
    return "".join(drawn + marks)


def _looks(line: Line) -> str:
    return _colour(line.colour) + (' class="dashed"' if line.dashed else "")


def _colour(number: int) -> str:
    return f'style="--colour: var(--c{number % COLOURS})"'


def _legend(lines: Sequence[Line]) -> str:
    entries = "".join(f"<span><i {_looks(line)}></i>{escape(line.name)}</span>" for line in lines)
    return f'<p class="legend">{entries}</p>'


def _svg(content: str, height: float, title: str) -> str:
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">{content}</svg>')


def short(value: float) -> str:
    """1,500 as 1.5k."""
    for bound, suffix in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= bound:
            return f"{value / bound:.4g}{suffix}"
    return f"{value:.4g}"
