"""Short ways to say what a text's facts are."""

import re

from codeplane.code.facts.extract import extractor
from codeplane.code.languages.registry import languages
from codeplane.code.model import NO_TARGET, REASONS, Facts


def facts_of(language: str, text: str | bytes) -> Facts:
    """The facts of a text."""
    return extractor(languages().by_name[language]).facts(text.encode() if isinstance(text, str) else text)


def defined(language: str, text: str) -> list[str]:
    """Its definitions, as kind and path."""
    return [f"{one.kind} {one.path}" for one in facts_of(language, text).definitions]


def imported(language: str, text: str) -> list[tuple[str, str, str, str]]:
    """Its imports: kind, source, imported name, local name."""
    return [(one.kind, one.source, one.imported, one.local) for one in facts_of(language, text).imports]


def exported(language: str, text: str) -> list[tuple[str, str, str, str]]:
    """Its exports: name, local name, source, evidence."""
    return [(one.name, one.local, one.source, one.evidence) for one in facts_of(language, text).exports]


def bound(language: str, text: str) -> list[str]:
    """Its bindings: name, reason, and the kinds of the scopes around, innermost first."""
    facts = facts_of(language, text)
    answer = []
    for name, (scope, _, reason, _) in zip(facts.bind_names, facts.binds.tolist(), strict=True):
        around = []
        while scope >= 0:
            around.append(facts.scopes[scope].kind)
            scope = facts.scopes[scope].parent
        answer.append(f"{name} {REASONS[reason]} {'<'.join(around)}")
    return answer


def words(language: str, text: str) -> set[str]:
    """The identifiers that are neither text nor labels."""
    facts = facts_of(language, text)
    raw = text.encode()
    pattern = re.compile(languages().by_name[language].identifier.encode())
    return {
        one.group().decode()
        for one in pattern.finditer(raw)
        if not facts.in_text(one.start()) and one.start() not in facts.labels
    }


def check(facts: Facts, text: bytes) -> None:
    """What holds for the facts of any bytes."""
    size = len(text)
    lines = text.count(b"\n") + 1
    assert facts.scopes[0].kind == "file"
    for index, scope in enumerate(facts.scopes[1:], 1):
        around = facts.scopes[scope.parent]
        assert scope.parent < index
        assert around.start <= scope.start <= scope.end <= around.end
        assert -1 <= scope.definition < len(facts.definitions)
    for one in facts.definitions:
        assert one.name and one.path
        assert 0 <= one.start <= one.name_at < one.end <= size
        assert one.start <= one.body <= size
        assert 1 <= one.line <= one.end_line <= lines
        assert one.column >= 0 and 0 <= one.scope < len(facts.scopes)
        assert -1 <= one.container < len(facts.definitions)
    for imported_one in facts.imports:
        assert 0 <= imported_one.at <= size and imported_one.local_at <= size and imported_one.imported_at <= size
    for _, (scope_of, at, reason, target) in zip(facts.bind_names, facts.binds.tolist(), strict=True):
        assert scope_of < len(facts.scopes) and at < size and reason < len(REASONS)
        known = facts.imports if REASONS[reason] == "IMPORT_ALIAS" else facts.definitions
        assert target == NO_TARGET or target < len(known)
    for spans in (facts.texts, facts.outers):
        assert all(start <= end <= size for start, end in spans.tolist())
        assert spans[:, 0].tolist() == sorted(spans[:, 0].tolist())
    assert all(at <= size for at in facts.labels)
