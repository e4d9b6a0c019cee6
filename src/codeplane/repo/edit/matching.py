"""Finding the text that shall be replaced: exactly, then forgiving white space, never by guessing between two."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.errors import EditMismatch
from codeplane.repo.edit.text import Span

_AROUND = 3
_SHOWN_LINES = 24
_SHOWN_WIDTH = 160
_CANDIDATES = 10
_MAX_LOOKED = 20_000


def spans_for(plain: str, old: str, new: str, *, every: bool, path: str) -> list[Span]:
    """Where `old` is in a text and what `new` means there; EditMismatch shows what is there instead."""
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise EditMismatch(f"{path}: old_text is empty", hint="give the text to replace, or content for the whole file")
    found = _exact(plain, old)
    if len(found) == 1 or (found and every):
        return [Span(start=at, end=at + len(old), text=new) for at in found]
    if found:
        raise _ambiguous(plain, [_line(plain, at) for at in found], path)
    lines = plain.split("\n")
    places = _forgiving(lines, old)
    if len(places) == 1 or (places and every):
        return [_span(lines, place, old, new) for place in places]
    if places:
        raise _ambiguous(plain, [place.line + 1 for place in places], path)
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


def _exact(plain: str, old: str) -> list[int]:
    found, at = [], plain.find(old)
    while at >= 0:
        found.append(at)
        at = plain.find(old, at + len(old))
    return found


def _forgiving(lines: Sequence[str], old: str) -> list[_Place]:
    """Where the lines are the same but for white space at their ends, or all are indented alike by more or less."""
    wanted = [line.rstrip() for line in old.removesuffix("\n").split("\n")]
    if not any(wanted):
        return []
    stripped = [line.strip() for line in lines]
    # The longest line is the rarest, so most places are ruled out by one comparison.
    key = max(range(len(wanted)), key=lambda number: len(wanted[number]))
    rare = wanted[key].strip()
    found: list[_Place] = []
    for at in range(len(lines) - len(wanted) + 1):
        if stripped[at + key] != rare or (found and at < found[-1].line + len(wanted)):
            continue
        if (place := _fits(lines, wanted, at)) is not None:
            found.append(place)
    return found


def _fits(lines: Sequence[str], wanted: Sequence[str], at: int) -> _Place | None:
    shifts: list[tuple[str, str]] = []
    for number, line in enumerate(wanted):
        there = lines[at + number].rstrip()
        if line.strip() != there.strip():
            return None
        if not line:
            continue
        here, has = line[: len(line) - len(line.lstrip())], there[: len(there) - len(there.lstrip())]
        if has.endswith(here):
            shifts.append((has[: len(has) - len(here)], ""))
        elif here.endswith(has):
            shifts.append(("", here[: len(here) - len(has)]))
        else:
            return None
    first, *rest = shifts
    if all(shift == first for shift in rest):
        return _Place(line=at, count=len(wanted), added=first[0], cut=first[1])
    if wanted[0][:1].strip() and all(shift == ("", "") for shift in rest):
        return _Place(line=at, count=len(wanted), added="", cut="", lead=len(first[0]))
    return None


def _span(lines: Sequence[str], place: _Place, old: str, new: str) -> Span:
    start = sum(len(line) + 1 for line in lines[: place.line])
    covered = lines[place.line : place.line + place.count]
    end = start + sum(len(line) + 1 for line in covered) - 1
    start += place.lead
    text = "\n".join(_indented(line, place) for line in new.split("\n"))
    at_end = place.line + place.count == len(lines)
    if old.endswith("\n"):
        if at_end:
            # The file ends without a newline, and stays so.
            text = text.removesuffix("\n")
        else:
            end += 1
    return Span(start=start, end=end, text=text)


def _indented(line: str, place: _Place) -> str:
    if not line.strip():
        return line
    return place.added + (line.removeprefix(place.cut) if place.cut else line)


def _line(plain: str, at: int) -> int:
    return plain.count("\n", 0, at) + 1


def _ambiguous(plain: str, numbers: Sequence[int], path: str) -> EditMismatch:
    lines = plain.split("\n")
    said = [_numbered(lines, number - 1) for number in numbers[:_CANDIDATES]]
    more = f"\nand {len(numbers) - _CANDIDATES} more" if len(numbers) > _CANDIDATES else ""
    return EditMismatch(
        f"{path}: old_text is there {len(numbers)} times, at lines {', '.join(map(str, numbers[:_CANDIDATES]))}:\n"
        + "\n".join(said)
        + more,
        hint="add a line before or after it to old_text, or send all: true; nothing was written",
        details={"path": path, "lines": list(numbers[:100])},
    )


def _missing(lines: Sequence[str], old: str, path: str) -> EditMismatch:
    at, how = _nearest(lines, old)
    size = old.removesuffix("\n").count("\n") + 1
    first = max(0, at - _AROUND)
    last = min(len(lines), at + min(size, _SHOWN_LINES - 2 * _AROUND) + _AROUND)
    shown = "\n".join(_numbered(lines, number) for number in range(first, last))
    where = f"{how} line {at + 1}, which now reads" if how else "the file begins"
    return EditMismatch(
        f"{path}: old_text is not there; {where}:\n{shown}",
        details={"path": path, "nearest_line": at + 1 if how else None},
    )


def _nearest(lines: Sequence[str], old: str) -> tuple[int, str]:
    """The place that has most in common with a text: most lines alike, or else the likest line."""
    wanted = [line.strip() for line in old.removesuffix("\n").split("\n")]
    told = {line: number for number, line in enumerate(wanted) if line}
    votes: dict[int, int] = {}
    looked = [line.strip() for line in lines[:_MAX_LOOKED]]
    for number, line in enumerate(looked):
        if (offset := told.get(line)) is not None:
            votes[number - offset] = votes.get(number - offset, 0) + 1
    if votes:
        best = max(votes, key=lambda start: (votes[start], -start))
        return max(0, min(best, len(lines) - 1)), "nearest is"
    key = max(wanted, key=len)
    near = difflib.get_close_matches(key, set(looked), n=1, cutoff=0.5) if key else []
    return (max(0, looked.index(near[0]) - wanted.index(key)), "nearest is") if near else (0, "")


def _numbered(lines: Sequence[str], number: int) -> str:
    line = lines[number]
    return f"{number + 1}: {line if len(line) <= _SHOWN_WIDTH else line[:_SHOWN_WIDTH] + '…'}"
