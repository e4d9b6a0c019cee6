"""Finds the text to replace: exactly, else ignoring white space, but never by guessing between two places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from codeplane.edit.nearest_passage import find_nearest
from codeplane.edit.text import Span
from codeplane.kernel.errors import EditMismatch, TooLarge
from codeplane.kernel.plural import plural
from codeplane.kernel.redaction import MARK

_AROUND = 3
_SHOWN_LINES = 24
_SHOWN_WIDTH = 160
_CANDIDATES = 10
_LISTED = 100
_MAX_PLACES = 250_000
_MAX_WRITTEN = 64 * 1024 * 1024
_MAX_TRIED = 300_000
_LONG_INDENT = 64
_PLACEHOLDER_HINT = (
    f"{MARK} is a placeholder for something that is not shown: send a shorter old_text, from before or after it; "
    "nothing was written"
)


def match_spans(plain: str, old: str, new: str, *, every: bool, path: str) -> list[Span]:
    """Find `old` in a text and return the spans that `new` replaces; EditMismatch shows what is there instead."""
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise EditMismatch(f"{path}: old_text is empty", hint="give the text to replace, or content for the whole file")
    count = plain.count(old)
    if count == 1 or (count and every):
        _refuse_large(count, count * len(new), path)
        return [Span(start=at, end=at + len(old), text=new) for at in _find_exact(plain, old)]
    if count:
        raise _ambiguous_error(plain, count, _line_numbers(plain, islice(_find_exact(plain, old), _LISTED)), path)
    lines = plain.split("\n")
    places = _find_ignoring_space(lines, old, path)
    if len(places) == 1 or (places and every):
        return _spans(lines, places, old, new, path)
    if places:
        raise _ambiguous_error(plain, len(places), [place.line + 1 for place in places[:_LISTED]], path)
    raise _missing_error(lines, old, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Lines that match except for white space.

    `added` is the indentation that only the file has, `cut` the one that only `old` has, and `lead` the length of the
    first line's indentation when `old` leaves out only that one.
    """

    line: int
    count: int
    added: str
    cut: str
    lead: int = 0


def _refuse_large(count: int, size: int, path: str) -> None:
    """Raise TooLarge for a replacement that would grow beyond any file that is edited as text."""
    if count > _MAX_PLACES:
        raise TooLarge(
            f"{path}: old_text is there {plural(count, 'time')}, more than are replaced at once",
            hint="make old_text longer, or send the whole content; nothing was written",
            details={"limit_places": _MAX_PLACES},
        )
    if size > _MAX_WRITTEN:
        raise TooLarge(
            f"{path}: new_text in {plural(count, 'place')} would be {plural(size, 'character')}",
            hint="replace fewer places at once; nothing was written",
            details={"limit_characters": _MAX_WRITTEN},
        )


def _find_exact(plain: str, old: str) -> Iterator[int]:
    at = plain.find(old)
    while at >= 0:
        yield at
        at = plain.find(old, at + len(old))


def _line_numbers(plain: str, offsets: Iterator[int]) -> list[int]:
    """Return the line numbers of rising offsets, each counted from the one before."""
    numbers, line, start = [], 1, 0
    for at in offsets:
        line += plain.count("\n", start, at)
        start = at
        numbers.append(line)
    return numbers


def _find_ignoring_space(lines: Sequence[str], old: str, path: str) -> list[_Place]:
    """Find where the lines match except for trailing white space and a common difference in indentation."""
    wanted = [line.rstrip() for line in old.removesuffix("\n").split("\n")]
    if not any(wanted):
        return []
    indents = [line[: len(line) - len(line.lstrip())] if line else None for line in wanted]
    bare = bool(wanted[0][:1].strip())
    places: list[_Place] = []
    # Places that do not overlap check each line once; only repeated near matches use this up.
    left = len(lines) + _MAX_TRIED
    for at in _find_sequences([line.strip() for line in lines], [line.strip() for line in wanted]):
        if places and at < places[-1].line + len(wanted):
            continue
        place, tried = _match_indents(lines, indents, at, bare=bare)
        left -= tried
        if left < 0:
            raise EditMismatch(
                f"{path}: old_text is not there as it stands, and too large to be searched for with other white space",
                hint="send fewer lines of it, exactly as they are in the file; nothing was written",
                details={"path": path, "nearest_line": at + 1},
            )
        if place is not None:
            places.append(place)
    return places


def _find_sequences(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Find where the wanted lines follow each other, also overlapping, in one pass (Knuth, Morris and Pratt)."""
    ids = {line: number for number, line in enumerate(wanted)}
    sought = [ids[line] for line in wanted]
    back, matched = [0] * len(sought), 0
    for number in range(1, len(sought)):
        while matched and sought[number] != sought[matched]:
            matched = back[matched - 1]
        matched += sought[number] == sought[matched]
        back[number] = matched
    matched = 0
    for number, line in enumerate(lines):
        line_id = ids.get(line, -1)
        while matched and line_id != sought[matched]:
            matched = back[matched - 1]
        matched += line_id == sought[matched]
        if matched == len(sought):
            yield number - matched + 1
            matched = back[matched - 1]


def _match_indents(
    lines: Sequence[str], indents: Sequence[str | None], at: int, *, bare: bool
) -> tuple[_Place | None, int]:
    """Return the place when the indentation matches too, and how much was compared."""
    first: tuple[str, str] | None = None
    alike, tried = True, 0
    for number, here in enumerate(indents):
        tried += 1
        if here is None:
            continue
        line = lines[at + number]
        has = line[: len(line) - len(line.lstrip())]
        tried += len(line) // _LONG_INDENT
        if has.endswith(here):
            shift = (has[: len(has) - len(here)], "")
        elif here.endswith(has):
            shift = ("", here[: len(here) - len(has)])
        else:
            return None, tried
        if first is None:
            first = shift
            continue
        alike = alike and shift == first
        bare = bare and shift == ("", "")
        if not alike and not bare:
            return None, tried
    if first is None:
        return None, tried
    if alike:
        return _Place(line=at, count=len(indents), added=first[0], cut=first[1]), tried
    return _Place(line=at, count=len(indents), added="", cut="", lead=len(first[0])), tried


def _spans(lines: Sequence[str], places: Sequence[_Place], old: str, new: str, path: str) -> list[Span]:
    added = new.count("\n") + 1
    _refuse_large(len(places), sum(len(new) + added * len(place.added) for place in places), path)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    texts: dict[tuple[str, str], str] = {}
    spans = []
    for place in places:
        shift = (place.added, place.cut)
        if shift not in texts:
            texts[shift] = "\n".join(_indent(line, place) for line in new.split("\n"))
        text, last = texts[shift], place.line + place.count
        end = starts[last] - 1
        if old.endswith("\n"):
            if last == len(lines):
                # A file without a final newline stays so.
                text = text.removesuffix("\n")
            else:
                end += 1
        spans.append(Span(start=starts[place.line] + place.lead, end=end, text=text))
    return spans


def _indent(line: str, place: _Place) -> str:
    if not line.strip():
        return line
    return place.added + (line.removeprefix(place.cut) if place.cut else line)


def _ambiguous_error(plain: str, count: int, numbers: Sequence[int], path: str) -> EditMismatch:
    lines = plain.split("\n")
    candidates = [_number_lines(lines, number - 1) for number in numbers[:_CANDIDATES]]
    more = f"\nand {count - _CANDIDATES} more" if count > _CANDIDATES else ""
    return EditMismatch(
        f"{path}: old_text is there {count} times, at lines {', '.join(map(str, numbers[:_CANDIDATES]))}:\n"
        + "\n".join(candidates)
        + more,
        hint="add a line before or after it to old_text, or send all: true; nothing was written",
        details={"path": path, "lines": list(numbers)},
    )


def _missing_error(lines: Sequence[str], old: str, path: str) -> EditMismatch:
    nearest = find_nearest(lines, old)
    at = nearest or 0
    size = old.removesuffix("\n").count("\n") + 1
    first = max(0, at - _AROUND)
    last = min(len(lines), at + min(size, _SHOWN_LINES - 2 * _AROUND) + _AROUND)
    shown = "\n".join(_number_lines(lines, number) for number in range(first, last))
    where = f"nearest is line {at + 1}, which now reads" if nearest is not None else "the file begins"
    return EditMismatch(
        f"{path}: old_text is not there; {where}:\n{shown}",
        hint=_PLACEHOLDER_HINT if MARK in old and not any(MARK in line for line in lines) else None,
        details={"path": path, "nearest_line": at + 1 if nearest is not None else None},
    )


def _number_lines(lines: Sequence[str], number: int) -> str:
    line = lines[number]
    return f"{number + 1}: {line if len(line) <= _SHOWN_WIDTH else line[:_SHOWN_WIDTH] + '…'}"
