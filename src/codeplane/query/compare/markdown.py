"""A comparison as Markdown for a pull request comment."""

import re
from collections.abc import Sequence

from codeplane.kernel.plural import plural
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
    """Render breaking changes and the to-do list first, the rest folded; clipped to the size of a comment."""
    broken = [change for change in changes if change.structural_severity == "breaking"]
    fine = [change for change in changes if change.structural_severity != "breaking"]
    parts = [
        f"## Structural changes: {_text(head)}",
        f"{_text(summary)}." + (f" **{_text(breaking)}.**" if breaking else ""),
    ]
    if broken:
        parts.append("### Breaking\n\n" + "\n".join(line for change in broken for line in _lines(change)))
    parts += [f"> {_text(note)}" for note in notes]
    if hint:
        parts.append("### To do\n\n" + "\n".join(_text(line, keep=".") for line in hint.splitlines()))
    if fine:
        inside = "\n".join(line for change in fine for line in _lines(change))
        parts.append(f"<details><summary>Other changes ({len(fine)})</summary>\n\n{inside}\n\n</details>")
    if others:
        inside = "\n".join(
            f"- {change.category}: {_code(change.path)} {change.status}{_note(change)}" for change in others
        )
        parts.append(f"<details><summary>Other files ({len(others)})</summary>\n\n{inside}\n\n</details>")
    return _truncate_parts(parts)


def _truncate_parts(parts: Sequence[str]) -> str:
    fitted, left = [], MAX_CHARACTERS
    for part in parts:
        if len(part) > left:
            cut = part[:left].rpartition("\n")[0]
            if cut.count("```") % 2:
                # Not in the middle of a block, which would swallow all that follows.
                cut = cut[: cut.rfind("```")].rpartition("\n")[0]
            closing = "\n\n</details>" if "<details>" in cut else ""
            fitted.append(f"{cut}{closing}\n\n*… cut here: there is more than a comment can hold.*")
            break
        fitted.append(part)
        left -= len(part)
    return "\n\n".join(fitted) + "\n"


def _lines(change: StructuralChange, depth: int = 0) -> list[str]:
    only_inside = change.delta_tags == ("members_changed",)
    word = "" if only_inside else f"{change.change.replace('_', ' ')} "
    broken = change.structural_severity == "breaking" and not only_inside
    name = change.qualified_name or change.name
    if change.old_name and change.old_name != change.name:
        name = f"{change.old_name} → {name}"
    where = f" in {_code(change.path)}" if not depth else ""
    where += f" (from {_code(change.old_path)})" if change.old_path else ""
    suffix = f": {_text('; '.join(change.why))}" if change.why else ""
    if change.impact is not None and change.impact.reference_count:
        suffix += f" — {plural(change.impact.reference_count, 'reference')}"
    lines = [f"{'  ' * depth}- {'**' * broken}{word}{change.kind}{'**' * broken} {_code(name)}{where}{suffix}"]
    if change.change == "signature_changed" and change.old_signature and change.new_signature:
        indent = "  " * (depth + 1)
        lines += [
            f"{indent}```diff",
            f"{indent}- {_on_one_line(change.old_signature)}",
            f"{indent}+ {_on_one_line(change.new_signature)}",
            f"{indent}```",
        ]
    for inner in change.nested_changes or ():
        lines += _lines(inner, depth + 1)
    return lines


def _note(file: FileChangeInfo) -> str:
    return f" ({_text(file.note)})" if file.note else ""


def _code(text: str) -> str:
    """Quote as code, with a longer fence than any inside."""
    plain = _ONE_LINE.sub(" ", text)
    runs = [len(run) for run in re.findall(r"`+", plain)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if runs else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def _on_one_line(text: str) -> str:
    return _ONE_LINE.sub(" ", text).replace("```", "` ` `")


def _text(text: str | None, *, keep: str = "") -> str:
    """Escape Markdown's special characters."""
    return _SPECIAL.sub(lambda match: match[1] if match[1] in keep else f"\\{match[1]}", _ONE_LINE.sub(" ", text or ""))
