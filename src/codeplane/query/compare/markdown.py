"""The comparison as a comment on a pull request."""

import re
from collections.abc import Sequence

from codeplane.kernel.counted import counted
from codeplane.query.compare.answer import FileChangeInfo, StructuralChange

# What a comment may hold, with room for what people put around it.
MAX_CHARACTERS = 60_000
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_ONE_LINE = re.compile(r"\s+")


def markdown(
    *,
    head: str,
    summary: str,
    breaking: str | None,
    changes: Sequence[StructuralChange],
    others: Sequence[FileChangeInfo],
    notes: Sequence[str],
    hint: str,
) -> str:
    """Breaking changes and what to do first, the rest folded; cut, and said so, where a comment could not hold it."""
    broken = [one for one in changes if one.structural_severity == "breaking"]
    fine = [one for one in changes if one.structural_severity != "breaking"]
    parts = [
        f"## Structural changes: {_text(head)}",
        f"{_text(summary)}." + (f" **{_text(breaking)}.**" if breaking else ""),
    ]
    if broken:
        parts.append("### Breaking\n\n" + "\n".join(line for one in broken for line in _lines(one)))
    parts += [f"> {_text(note)}" for note in notes]
    if hint:
        parts.append("### To do\n\n" + "\n".join(_text(line, keep=".") for line in hint.splitlines()))
    if fine:
        inside = "\n".join(line for one in fine for line in _lines(one))
        parts.append(f"<details><summary>Other changes ({len(fine)})</summary>\n\n{inside}\n\n</details>")
    if others:
        inside = "\n".join(f"- {one.category}: {_code(one.path)} {one.status}{_note(one)}" for one in others)
        parts.append(f"<details><summary>Other files ({len(others)})</summary>\n\n{inside}\n\n</details>")
    return _fitting(parts)


def _fitting(parts: Sequence[str]) -> str:
    found, left = [], MAX_CHARACTERS
    for part in parts:
        if len(part) > left:
            cut = part[:left].rpartition("\n")[0]
            if cut.count("```") % 2:
                # Not in the middle of a block, which would swallow all that follows.
                cut = cut[: cut.rfind("```")].rpartition("\n")[0]
            closing = "\n\n</details>" if "<details>" in cut else ""
            found.append(f"{cut}{closing}\n\n*… cut here: there is more than a comment can hold.*")
            break
        found.append(part)
        left -= len(part)
    return "\n\n".join(found) + "\n"


def _lines(one: StructuralChange, depth: int = 0) -> list[str]:
    only_inside = one.delta_tags == ("members_changed",)
    word = "" if only_inside else f"{one.change.replace('_', ' ')} "
    broken = one.structural_severity == "breaking" and not only_inside
    name = one.qualified_name or one.name
    if one.old_name and one.old_name != one.name:
        name = f"{one.old_name} → {name}"
    where = f" in {_code(one.path)}" if not depth else ""
    where += f" (from {_code(one.old_path)})" if one.old_path else ""
    said = f": {_text('; '.join(one.why))}" if one.why else ""
    if one.impact is not None and one.impact.reference_count:
        said += f" — {counted(one.impact.reference_count, 'reference')}"
    found = [f"{'  ' * depth}- {'**' * broken}{word}{one.kind}{'**' * broken} {_code(name)}{where}{said}"]
    if one.change == "signature_changed" and one.old_signature and one.new_signature:
        indent = "  " * (depth + 1)
        found += [
            f"{indent}```diff",
            f"{indent}- {_plain(one.old_signature)}",
            f"{indent}+ {_plain(one.new_signature)}",
            f"{indent}```",
        ]
    for inner in one.nested_changes or ():
        found += _lines(inner, depth + 1)
    return found


def _note(one: FileChangeInfo) -> str:
    return f" ({_text(one.note)})" if one.note else ""


def _code(said: str) -> str:
    """As code, whatever is in it: longer fences than any inside."""
    plain = _ONE_LINE.sub(" ", said)
    runs = [len(run) for run in re.findall(r"`+", plain)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if runs else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def _plain(said: str) -> str:
    return _ONE_LINE.sub(" ", said).replace("```", "` ` `")


def _text(said: str | None, *, keep: str = "") -> str:
    """Words that Markdown leaves as they are, also where a name holds its signs."""
    return _SPECIAL.sub(lambda match: match[1] if match[1] in keep else f"\\{match[1]}", _ONE_LINE.sub(" ", said or ""))
