"""Charts drawn on the server: columns, sparklines and treemaps, as SVG without styles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A rectangle of a treemap."""

    name: str
    title: str
    href: str
    weight: float
    hue: int
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a chart: its good and bad parts, and its link."""

    good: float
    bad: float
    title: str
    href: str
    x: float = 0.0
    width: float = 0.0
    good_top: float = 0.0
    good_height: float = 0.0
    bad_height: float = 0.0


def lay_out_columns(columns: Sequence[Column], *, width: float, height: float, most: float = 26.0) -> list[Column]:
    """Lay out columns from left to right, with the bad part on top of the good."""
    highest = max((column.good + column.bad for column in columns), default=0) or 1
    step = min(width / len(columns), most) if columns else 0.0
    drawn = []
    for index, column in enumerate(columns):
        good, bad = height * column.good / highest, height * column.bad / highest
        # A single failure among thousands is what people look for.
        bad = max(bad, 4.0) if column.bad else 0.0
        good = min(good, height - bad)
        drawn.append(
            replace(
                column,
                x=step * index,
                width=max(step - 3, 1.0),
                good_top=height - good,
                good_height=good,
                bad_height=bad,
            )
        )
    return drawn


def sparkline(
    values: Sequence[float],
    *,
    label: str,
    width: int = 120,
    height: int = 28,
    low: float | None = None,
    tone: str = "",
) -> Markup:
    """Draw a line of values, oldest first, starting at the lowest or at `low`."""
    if len(values) < 2:
        return Markup("")
    low, high = min(values) if low is None else low, max(values)
    reach = (high - low) or 1.0
    step = (width - 6) / (len(values) - 1)
    points = [(3 + step * at, 3 + (height - 6) * (1 - (value - low) / reach)) for at, value in enumerate(values)]
    if high == low:
        points = [(x, height - 3 if not high else height / 2) for x, _ in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    area = f"{points[0][0]:.1f},{height} {line} {points[-1][0]:.1f},{height}"
    return Markup(
        '<svg class="spark {tone}" viewBox="0 0 {w} {h}" role="img" aria-label="{label}" preserveAspectRatio="none">'
        '<polygon class="area" points="{area}"/><polyline points="{line}"/></svg>'
    ).format(w=width, h=height, tone=tone, label=label, area=area, line=line)


def lay_out_treemap(tiles: Sequence[Tile], *, width: float, height: float) -> list[Tile]:
    """Lay out tiles as a squarified treemap."""
    wanted = sorted((tile for tile in tiles if tile.weight > 0), key=lambda tile: -tile.weight)
    total = sum(tile.weight for tile in wanted)
    placed: list[Tile] = []
    x, y, left, down = 0.0, 0.0, width, height
    area = width * height / total if total else 0.0
    while wanted:
        side = min(left, down)
        row = [wanted[0]]
        for tile in wanted[1:]:
            if _worst_ratio([*row, tile], side, area) > _worst_ratio(row, side, area):
                break
            row.append(tile)
        thick = sum(tile.weight for tile in row) * area / side if side else 0.0
        at = 0.0
        for tile in row:
            long = tile.weight * area / thick if thick else 0.0
            if left >= down:
                placed.append(replace(tile, x=x, y=y + at, width=thick, height=long))
            else:
                placed.append(replace(tile, x=x + at, y=y, width=long, height=thick))
            at += long
        if left >= down:
            x, left = x + thick, left - thick
        else:
            y, down = y + thick, down - thick
        wanted = wanted[len(row) :]
    return placed


def _worst_ratio(row: Sequence[Tile], side: float, area: float) -> float:
    total = sum(tile.weight for tile in row) * area
    if not total or not side:
        return float("inf")
    largest, smallest = max(tile.weight for tile in row) * area, min(tile.weight for tile in row) * area
    return max(side * side * largest / (total * total), total * total / (side * side * smallest))
