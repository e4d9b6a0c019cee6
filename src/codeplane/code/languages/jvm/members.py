"""Resolves the names of the languages of the Java virtual machine that declare their types."""

from codeplane.code.entity import Bound, Entity, Meaning
from codeplane.code.languages.jvm.java_members import JavaMembers
from codeplane.code.languages.jvm.kotlin_classes import KotlinClasses
from codeplane.code.languages.jvm.kotlin_members import KotlinMembers
from codeplane.code.languages.member_resolver import CodeView, MemberResolver, Relatives
from codeplane.code.model import Facts, Import


class JvmMembers(MemberResolver):
    """Asks the resolver of the language of a file; a language without one is left to the general rules."""

    def __init__(self, view: CodeView) -> None:
        super().__init__(view)
        classes = KotlinClasses(view)
        self._by_language: dict[str, MemberResolver] = {
            "java": JavaMembers(view, classes),
            "kotlin": KotlinMembers(view, classes),
        }

    def meaning(self, path: str, facts: Facts, offset: int, name: str) -> Meaning | None:
        """Return what the name at a place means; None if the general rules for names decide."""
        found = self._by_language.get(facts.language)
        return found.meaning(path, facts, offset, name) if found is not None else None

    def other_at(self, path: str, offset: int, name: str, new: str) -> Bound | None:
        """Return what a new name would mean at the place of a name already; None for nothing."""
        facts = self._view.facts(path)
        found = self._by_language.get(facts.language) if facts is not None else None
        return found.other_at(path, offset, name, new) if found is not None else None

    def relatives(self, member: Bound) -> Relatives | None:
        """Return the members that are renamed with one; None if the language does not say."""
        facts = self._view.facts(member.file)
        found = self._by_language.get(facts.language) if facts is not None else None
        return found.relatives(member) if found is not None else None

    def resolve_import(self, path: str, facts: Facts, import_: Import) -> tuple[Entity, ...] | None:
        """Return what an import brings; None if the general rules decide."""
        found = self._by_language.get(facts.language)
        return found.resolve_import(path, facts, import_) if found is not None else None

    def is_guess(self, path: str, facts: Facts, import_: Import) -> bool:
        """Whether several types of the repository have the name that an import names."""
        found = self.resolve_import(path, facts, import_)
        return found is not None and len(found) > 1

    def top_level(self, path: str, facts: Facts, name: str) -> tuple[Entity, ...] | None:
        """Return what a name that a file does not bind means; None if the general rules decide."""
        found = self._by_language.get(facts.language)
        return found.top_level(path, facts, name) if found is not None else None
