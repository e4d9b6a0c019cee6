"""Finding the text that shall be replaced: exactly, then forgiving white space, never by guessing between two."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from codeplane.edit.nearest import nearest
from codeplane.edit.text import Span
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import EditMismatch, TooLarge
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


def spans_for(plain: str, old: str, new: str, *, every: bool, path: str) -> list[Span]:
    """Where `old` is in a text and what `new` means there; EditMismatch shows what is there instead."""
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise EditMismatch(f"{path}: old_text is empty", hint="give the text to replace, or content for the whole file")
    count = plain.count(old)
    if count == 1 or (count and every):
        _bounded(count, count * len(new), path)
        return [Span(start=at, end=at + len(old), text=new) for at in _exact(plain, old)]
    if count:
        raise _ambiguous(plain, count, _numbers(plain, islice(_exact(plain, old), _LISTED)), path)
    lines = plain.split("\n")
    places = _forgiving(lines, old, path)
    if len(places) == 1 or (places and every):
        return _spans(lines, places, old, new, path)
    if places:
        raise _ambiguous(plain, len(places), [place.line + 1 for place in places[:_LISTED]], path)
    raise _missing(lines, old, path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Lines that fit but for white space; `added` stands before them in the file, `cut` only in what was asked for.

    `lead` stands before the first line alone, whose indentation was left out.
    """

    line: int
    count: int
    added: str
    cut: str
    lead: int = 0


def _bounded(count: int, size: int, path: str) -> None:
    """Refuse what a few words with `all` could blow up beyond any file that is edited as text."""
    if count > _MAX_PLACES:
        raise TooLarge(
            f"{path}: old_text is there {counted(count, 'time')}, more than are replaced at once",
            hint="make old_text longer, or send the whole content; nothing was written",
            details={"limit_places": _MAX_PLACES},
        )
    if size > _MAX_WRITTEN:
        raise TooLarge(
            f"{path}: new_text in {counted(count, 'place')} would be {counted(size, 'character')}",
            hint="replace fewer places at once; nothing was written",
            details={"limit_characters": _MAX_WRITTEN},
        )


def _exact(plain: str, old: str) -> Iterator[int]:
    at = plain.find(old)
    while at >= 0:
        yield at
        at = plain.find(old, at + len(old))


def _numbers(plain: str, offsets: Iterator[int]) -> list[int]:
    """The lines of rising offsets, each counted on from the one before."""
    found, line, counted = [], 1, 0
    for at in offsets:
        line += plain.count("\n", counted, at)
        counted = at
        found.append(line)
    return found


def _forgiving(lines: Sequence[str], old: str, path: str) -> list[_Place]:
    """Where the lines are the same but for white space at their ends, or all are indented alike by more or less."""
    wanted = [line.rstrip() for line in old.removesuffix("\n").split("\n")]
    if not any(wanted):
        return []
    indents = [line[: len(line) - len(line.lstrip())] if line else None for line in wanted]
    bare = bool(wanted[0][:1].strip())
    found: list[_Place] = []
    # Places that do not overlap look at a line once each; only those that fit nearly, again and again, use this up.
    left = len(lines) + _MAX_TRIED
    for at in _alike([line.strip() for line in lines], [line.strip() for line in wanted]):
        if found and at < found[-1].line + len(wanted):
            continue
        place, tried = _fits(lines, indents, at, bare=bare)
        left -= tried
        if left < 0:
            raise EditMismatch(
                f"{path}: old_text is not there as it stands, and too large to be searched for with other white space",
                hint="send fewer lines of it, exactly as they are in the file; nothing was written",
                details={"path": path, "nearest_line": at + 1},
            )
        if place is not None:
            found.append(place)
    return found


def _alike(lines: Sequence[str], wanted: Sequence[str]) -> Iterator[int]:
    """Where lines follow each other as wanted, also overlapping, in one pass (Knuth, Morris and Pratt)."""
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
        one = ids.get(line, -1)
        while matched and one != sought[matched]:
            matched = back[matched - 1]
        matched += one == sought[matched]
        if matched == len(sought):
            yield number - matched + 1
            matched = back[matched - 1]


def _fits(lines: Sequence[str], indents: Sequence[str | None], at: int, *, bare: bool) -> tuple[_Place | None, int]:
    """The place when lines that are alike are also indented alike, and how much was looked at."""
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
    _bounded(len(places), sum(len(new) + added * len(place.added) for place in places), path)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    texts: dict[tuple[str, str], str] = {}
    found = []
    for place in places:
        shift = (place.added, place.cut)
        if shift not in texts:
            texts[shift] = "\n".join(_indented(line, place) for line in new.split("\n"))
        text, last = texts[shift], place.line + place.count
        end = starts[last] - 1
        if old.endswith("\n"):
            if last == len(lines):
                # The file ends without a newline, and stays so.
                text = text.removesuffix("\n")
            else:
                end += 1
        found.append(Span(start=starts[place.line] + place.lead, end=end, text=text))
    return found


def _indented(line: str, place: _Place) -> str:
    if not line.strip():
        return line
    return place.added + (line.removeprefix(place.cut) if place.cut else line)


def _ambiguous(plain: str, count: int, numbers: Sequence[int], path: str) -> EditMismatch:
    lines = plain.split("\n")
    said = [_numbered(lines, number - 1) for number in numbers[:_CANDIDATES]]
    more = f"\nand {count - _CANDIDATES} more" if count > _CANDIDATES else ""
    return EditMismatch(
        f"{path}: old_text is there {count} times, at lines {', '.join(map(str, numbers[:_CANDIDATES]))}:\n"
        + "\n".join(said)
        + more,
        hint="add a line before or after it to old_text, or send all: true; nothing was written",
        details={"path": path, "lines": list(numbers)},
    )


def _missing(lines: Sequence[str], old: str, path: str) -> EditMismatch:
    found = nearest(lines, old)
    at = found or 0
    size = old.removesuffix("\n").count("\n") + 1
    first = max(0, at - _AROUND)
    last = min(len(lines), at + min(size, _SHOWN_LINES - 2 * _AROUND) + _AROUND)
    shown = "\n".join(_numbered(lines, number) for number in range(first, last))
    where = f"nearest is line {at + 1}, which now reads" if found is not None else "the file begins"
    return EditMismatch(
        f"{path}: old_text is not there; {where}:\n{shown}",
        hint=_PLACEHOLDER_HINT if MARK in old and not any(MARK in line for line in lines) else None,
        details={"path": path, "nearest_line": at + 1 if found is not None else None},
    )


def _numbered(lines: Sequence[str], number: int) -> str:
    line = lines[number]
    return f"{number + 1}: {line if len(line) <= _SHOWN_WIDTH else line[:_SHOWN_WIDTH] + '…'}"
