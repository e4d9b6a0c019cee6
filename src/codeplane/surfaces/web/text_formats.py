"""Formatting of times, sizes and names for pages."""

import re
from datetime import UTC, datetime

from markupsafe import Markup, escape

from codeplane.kernel.json import JsonValue

_SHORTENED = re.compile(r"^([a-z]+_)?[0-9a-f]{12,}$")


def format_duration(us: float | None) -> str:
    """Format a duration in the best unit."""
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
    return format_long_duration(seconds)


def format_long_duration(seconds: float) -> str:
    """Format a long duration in its two largest units."""
    whole = int(seconds)
    for size, unit, smaller, small in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


def format_number(value: float | None) -> str:
    """Format a number with thin spaces between thousands."""
    return "–" if value is None else f"{value:,}".replace(",", "\u202f")


def capitalize_first(text: str) -> str:
    """Capitalize the first letter only."""
    return text[:1].upper() + text[1:]


def format_size(count: float | None) -> str:
    """Format a number of bytes."""
    if count is None:
        return "–"
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def shorten_id(name: str | None) -> str:
    """Shorten an identifier to its prefix and last digits; leave other text unchanged."""
    if not name:
        return "–"
    match = _SHORTENED.match(name)
    return (match[1] or "") + name[-6:] if match else name


def format_time(at: str | None) -> Markup:
    """Return a <time> element, which the browser shows in its own zone."""
    if not at:
        return Markup("–")
    return Markup('<time datetime="{at}" title="{at}">{text}</time>').format(at=at[:23] + "Z", text=at[11:19])


def format_relative_time(at: str | None) -> Markup:
    """Return a <time> element with a relative time, which the browser keeps up to date."""
    if not at:
        return Markup("–")
    then = datetime.fromisoformat(at[:19]).replace(tzinfo=UTC)
    seconds = (datetime.now(UTC) - then).total_seconds()
    text = f"{format_long_duration(seconds)} ago" if seconds >= 0 else f"in {format_long_duration(-seconds)}"
    return Markup('<time datetime="{at}" data-ago title="{at}">{text}</time>').format(at=at[:23] + "Z", text=text)


def mark_matches(snippet: str, spans: JsonValue) -> Markup:
    """Return a line with its matches in <mark> elements."""
    parts, last = [], 0
    for pair in spans if isinstance(spans, list) else []:
        start, end = (int(str(edge)) for edge in pair) if isinstance(pair, list) else (0, 0)
        if start < last or end > len(snippet):
            continue
        parts += [escape(snippet[last:start]), Markup("<mark>") + escape(snippet[start:end]) + Markup("</mark>")]
        last = end
    return Markup("").join([*parts, escape(snippet[last:])])


def format_actor(name: str | None) -> Markup:
    """Return an actor's name with its kind set apart."""
    kind, colon, rest = (name or "nobody").partition(":")
    if not colon or rest == kind:
        return Markup('<span class="who">{}</span>').format(kind)
    return Markup('<span class="who"><span class="kind">{}</span> {}</span>').format(kind, rest)
