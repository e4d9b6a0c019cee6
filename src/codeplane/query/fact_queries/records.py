"""The facts of 002 §7.3 as callers see them; lines and columns count from 1, ends are exclusive columns."""

from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Reason
from codeplane.code.resolve.references import Role
from codeplane.code.resolve.tier import Tier
from codeplane.kernel.operation import Result
from codeplane.kernel.plural import plural

# Families in which a list of names, where there is one, says what a module exports.
_LISTING = frozenset(language.family_name for language in LANGUAGES.values() if language.names.lists_exports)


class DefFact(Result):
    """A definition."""

    def_uid: str
    path: str
    unit_id: str
    kind: str
    name: str
    qualified_name: str
    lexical_path: str
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    signature_hash: str
    display_name: str

    def text(self) -> str:
        return f"{self.def_uid} {self.kind} {self.lexical_path} {self.path}:{self.start_line}-{self.end_line}"


class RefFact(Result):
    """An occurrence of a name, and how sure it is that it means the definition asked about."""

    ref_id: str
    path: str
    unit_id: str
    scope_id: str
    token_text: str
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    role: Role
    ref_tier: Tier
    certainty: str

    def text(self) -> str:
        return f"{self.path}:{self.start_line}:{self.start_col} {self.token_text} {self.role} {self.ref_tier}"


class ScopeFact(Result):
    """A stretch of text in which names are bound."""

    scope_id: str
    path: str
    unit_id: str
    parent_scope_id: str | None
    kind: str
    start_line: int
    start_col: int
    end_line: int
    end_col: int

    def text(self) -> str:
        return f"{self.scope_id} {self.kind} {self.start_line}:{self.start_col}-{self.end_line}:{self.end_col}"


class LocalBindFact(Result):
    """A name bound in a scope."""

    bind_id: str
    path: str
    unit_id: str
    scope_id: str
    name: str
    target_kind: str
    target_uid: str | None
    certainty: str
    reason_code: Reason
    start_line: int

    def text(self) -> str:
        target = f"{self.target_kind} {self.target_uid or ''}".rstrip()
        return f"{self.path}:{self.start_line} {self.name} {self.reason_code} {target}"


class ImportFact(Result):
    """A name taken from elsewhere."""

    import_uid: str
    path: str
    unit_id: str
    scope_id: str
    imported_name: str | None
    alias: str | None
    source_literal: str | None
    import_kind: str
    certainty: str
    start_line: int

    def text(self) -> str:
        what = f"{self.imported_name or '(module)'} from {self.source_literal}"
        return f"{self.path}:{self.start_line} {what}" + (f" as {self.alias}" if self.alias else "")


class ExportSurface(Result):
    """Everything a file, or the files of a folder, give away."""

    surface_id: str
    unit_id: str
    surface_hash: str
    epoch_id: int
    entry_count: int

    def text(self) -> str:
        text = f"surface {self.surface_id}: {plural(self.entry_count, 'name')}, hash {self.surface_hash}"
        if self.entry_count:
            return text
        implicit = "; without __all__ every name at the top can be imported" if self.unit_id in _LISTING else ""
        return f"{text}; nothing is exported by name{implicit}"


class ExportEntry(Result):
    """A name that is given away."""

    entry_id: str
    surface_id: str
    exported_name: str
    def_uid: str | None
    certainty: str
    evidence_kind: str

    def text(self) -> str:
        return f"{self.entry_id} {self.exported_name} {self.def_uid or 'unresolved'} {self.evidence_kind}"


class AnchorGroup(Result):
    """References by one token and one shape of receiver that may mean any of several definitions."""

    group_id: str
    unit_id: str
    member_token: str
    receiver_shape: str
    total_count: int
    exemplar_ids: tuple[str, ...]
    exemplars: tuple[RefFact, ...]

    def text(self) -> str:
        first = [f"  {exemplar.path}:{exemplar.start_line}:{exemplar.start_col}" for exemplar in self.exemplars]
        return "\n".join(
            [f"{self.receiver_shape or '?'}{self.member_token} {plural(self.total_count, 'time')}", *first]
        )


class DynamicAccessSite(Result):
    """A place that reaches names by text at run time."""

    site_id: str
    path: str
    unit_id: str
    start_line: int
    start_col: int
    pattern_type: str
    extracted_literals: tuple[str, ...]
    has_non_literal_key: bool

    def text(self) -> str:
        keys = ", ".join(map(repr, self.extracted_literals)) or "computed"
        return f"{self.path}:{self.start_line}:{self.start_col} {self.pattern_type} {keys}"
