"""The confidence that a word in a text means the symbol, by how and where it is written."""

from dataclasses import dataclass

from codeplane.refactor.documents.dotted_names import Reading
from codeplane.refactor.documents.markup import Surroundings
from codeplane.refactor.documents.word_kinds import WordKind
from codeplane.refactor.draft import Confidence

Judgement = tuple[Confidence, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedSymbol:
    """The symbol as documentation may mention it."""

    name: str
    inside: tuple[str, ...]
    """The parts of its qualified name before the last."""
    word: WordKind
    is_member: bool
    others: int
    """How many other definitions in the repository have that name."""
    families: frozenset[str]
    """The languages of the files that define or import it."""


def judge_mention(
    meant: DocumentedSymbol, setting: Surroundings, *, near: bool, family: str, reading: Reading = "unknown"
) -> Judgement:
    """Return the confidence of one match, and why.

    `near`: the file defines or imports the symbol; `family`: the language of its code block; `reading`: what it means
    as a dotted name, which decides if it is known.
    """
    if setting.is_part:
        return "low", "part of a path, an address or a longer word"
    if reading != "unknown":
        written = ".".join(filter(None, (setting.before, meant.name, setting.member)))
        also = {"own": "", "other": ", which is another", "several": ", of which there are several"}
        return ("high" if reading == "own" else "low"), f"written as {written}{also[reading]}"
    if setting.before:
        return _judge_dotted(meant, setting)
    if setting.kind == "import" and setting.module:
        if _agrees(setting.module.split("."), meant.inside):
            return "high", f"imported from {setting.module}"
        return (
            "medium" if meant.word == "distinctive" and not meant.others else "low"
        ), f"imported from {setting.module}"
    if meant.others:
        sure: Confidence = "medium" if near and setting.kind in ("name", "link", "import") else "low"
        return sure, f"{meant.others} other definitions have that name"
    if setting.kind in ("link", "import"):
        return "high", "named by a role, a link or an import"
    if setting.kind == "name":
        if meant.word == "common":
            return ("medium" if near and setting.is_call else "low"), "marked as code, but a common word"
        return "high", "marked as code"
    if setting.kind == "code":
        return _in_code(meant, setting, near=near, family=family)
    if meant.word == "distinctive":
        return "medium", "in prose, and no word of a language"
    if meant.word == "ordinary" and setting.is_call and near:
        return "medium", "written as a call, in a file that knows it"
    return "low", "may be an ordinary word"


def _judge_dotted(meant: DocumentedSymbol, setting: Surroundings) -> Judgement:
    parts = [part for part in setting.before.split(".") if part]
    written = f"written as {setting.before}.{meant.name}"
    # A common word needs its direct owner, or a path from the root (or from below src).
    whole = parts[-1:] == list(meant.inside[-1:]) or (len(parts) > 1 and parts[0] in meant.inside[:2])
    if _agrees(parts, meant.inside) and (meant.word != "common" or whole):
        return "high", written
    if not parts:
        return "low", "the end of something longer"
    foreign = parts[-1][:1].isupper() or not meant.is_member or meant.others or meant.word != "distinctive"
    return ("low" if foreign or setting.kind == "prose" else "medium"), f"{written}, whose receiver is not known"


def _in_code(meant: DocumentedSymbol, setting: Surroundings, *, near: bool, family: str) -> Judgement:
    if family and family not in meant.families:
        return ("medium" if meant.word == "distinctive" else "low"), f"in code of {family}"
    if meant.word == "distinctive":
        return "high", "in code that is shown"
    if meant.word == "ordinary" and setting.is_call:
        return ("high" if near else "medium"), "called in code that is shown"
    return "low", "in code, but may be another thing of that name"


def _agrees(parts: list[str], inside: tuple[str, ...]) -> bool:
    """Whether a written path is one of the symbol's: its parts in order, some of them left out by re-exports."""
    rest = iter(inside)
    return bool(parts) and all(part in rest for part in parts)
