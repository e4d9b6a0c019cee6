"""Treemaps of a folder, by subfolder or by language."""

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.charts import Tile, lay_out_treemap
from codeplane.surfaces.web.json_fields import get_number, get_object, get_objects, get_text

WIDTH, HEIGHT = 1000, 380
COLOURS = 7
OTHER = "other"


def by_folder(made: JsonObject, hues: Mapping[str, int]) -> list[Tile]:
    """Return an area for each folder and file, with a tile for each language by size."""
    parts = {get_text(part, "path"): part for part in get_objects(made, "parts")}
    areas = lay_out_treemap(
        [
            Tile(name=path, title="", href="", weight=max(1.0, get_number(part, "size_bytes") or 0), hue=COLOURS)
            for path, part in parts.items()
        ],
        width=WIDTH,
        height=HEIGHT,
    )
    placed: list[Tile] = []
    for area in areas:
        part = parts[area.name]
        shares = {name: float(str(share)) for name, share in get_object(part, "languages").items()} or {
            OTHER: area.weight
        }
        inside = [_tile(part, weight=share, language=name, hues=hues) for name, share in shares.items()]
        # The largest of them carries the name, and what all of them weigh.
        for place, tile in enumerate(lay_out_treemap(inside, width=area.width, height=area.height)):
            named = replace(tile, weight=area.weight) if place == 0 else replace(tile, name="")
            placed.append(replace(named, x=tile.x + area.x, y=tile.y + area.y))
    return placed


def by_language(made: JsonObject, hues: Mapping[str, int]) -> list[Tile]:
    """Return an area for each language, with a tile for each folder."""
    languages = get_object(made, "languages")
    areas = lay_out_treemap(
        [
            Tile(name=name, title=name, href="", weight=max(1.0, float(str(count))), hue=hues.get(name, COLOURS))
            for name, count in languages.items()
        ],
        width=WIDTH,
        height=HEIGHT,
    )
    placed: list[Tile] = []
    for area in areas:
        inside = [
            _tile(part, weight=float(str(share)), language=area.name, hues=hues)
            for part in get_objects(made, "parts")
            if (share := get_object(part, "languages").get(area.name))
        ]
        for tile in lay_out_treemap(inside, width=area.width, height=area.height):
            placed.append(replace(tile, x=tile.x + area.x, y=tile.y + area.y))
    return placed


def _tile(entry: JsonObject, *, weight: float, language: str, hues: Mapping[str, int]) -> Tile:
    path = get_text(entry, "path")
    name = path.rpartition("/")[2] + ("/" if entry.get("is_dir") else "")
    where = quote(path, safe="")
    page = "?folder=" if entry.get("is_dir") else "/file?path="
    return Tile(
        name=name,
        title=f"{path}{'/' if entry.get('is_dir') else ''}: {weight:,.0f} B, {language}",
        href=f"/dashboard/repository{page}{where}",
        weight=weight,
        hue=hues.get(language, COLOURS),
    )
