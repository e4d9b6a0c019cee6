"""How times, sizes and names are said on pages."""

import re
from datetime import UTC, datetime

from markupsafe import Markup, escape

from codeplane.kernel.json import JsonValue

_SHORTENED = re.compile(r"^([a-z]+_)?[0-9a-f]{12,}$")


def duration(us: float | None) -> str:
    """A duration in the unit that reads best."""
    if us is None:
        return "–"
    if us < 1000:
        return f"{us / 1000:.2f} ms"
    if us < 1_000_000:
        milliseconds = us / 1000
        return f"{milliseconds:.1f} ms" if milliseconds < 100 else f"{milliseconds:.0f} ms"
    seconds = us / 1_000_000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return span(seconds)


def span(seconds: float) -> str:
    """A longer time, in its two largest units."""
    whole = int(seconds)
    for size, unit, smaller, small in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


def number(value: float | None) -> str:
    """A number with thin spaces between thousands."""
    return "–" if value is None else f"{value:,}".replace(",", "\u202f")


def sentence(said: str) -> str:
    """With a capital letter at its beginning, and the rest as it is."""
    return said[:1].upper() + said[1:]


def size(count: float | None) -> str:
    """Bytes, as people say them."""
    if count is None:
        return "–"
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def short(name: str | None) -> str:
    """An identifier cut to what tells it apart; anything else as it is."""
    if not name:
        return "–"
    found = _SHORTENED.match(name)
    return (found[1] or "") + name[-6:] if found else name


def moment(at: str | None) -> Markup:
    """A time that the browser shows in its own zone and keeps up to date."""
    if not at:
        return Markup("–")
    return Markup('<time datetime="{at}" title="{at}">{said}</time>').format(at=at[:23] + "Z", said=at[11:19])


def ago(at: str | None) -> Markup:
    """How long ago, or until when; the browser keeps it up to date."""
    if not at:
        return Markup("–")
    then = datetime.fromisoformat(at[:19]).replace(tzinfo=UTC)
    seconds = (datetime.now(UTC) - then).total_seconds()
    said = f"{span(seconds)} ago" if seconds >= 0 else f"in {span(-seconds)}"
    return Markup('<time datetime="{at}" data-ago title="{at}">{said}</time>').format(at=at[:23] + "Z", said=said)


def marked(snippet: str, spans: JsonValue) -> Markup:
    """A line with what was found in it marked."""
    parts, last = [], 0
    for pair in spans if isinstance(spans, list) else []:
        start, end = (int(str(edge)) for edge in pair) if isinstance(pair, list) else (0, 0)
        if start < last or end > len(snippet):
            continue
        parts += [escape(snippet[last:start]), Markup("<mark>") + escape(snippet[start:end]) + Markup("</mark>")]
        last = end
    return Markup("").join([*parts, escape(snippet[last:])])


def actor(name: str | None) -> Markup:
    """Who it is, with the kind set apart."""
    kind, colon, rest = (name or "nobody").partition(":")
    if not colon or rest == kind:
        return Markup('<span class="who">{}</span>').format(kind)
    return Markup('<span class="who"><span class="kind">{}</span> {}</span>').format(kind, rest)
