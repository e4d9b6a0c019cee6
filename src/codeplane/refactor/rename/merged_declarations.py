"""Places in other declarations of one name, which TypeScript merges: blocks of a namespace, type parameters."""

from collections.abc import Iterator, Sequence

from codeplane.code.model import REASONS
from codeplane.refactor.draft import Edit
from codeplane.refactor.rename.rename_context import RenameContext

_PARAM = REASONS.index("PARAM")


def merged_edits(context: RenameContext, done: Sequence[Edit]) -> Iterator[Edit]:
    """Propose the name where another declaration of what holds the symbol may mean it, or has to repeat it."""
    subject, facts = context.subject, context.subject.facts
    bound = subject.bound
    index = facts.scopes[bound.scope].definition
    if not subject.language.names.types_and_values or index < 0:
        return
    holder = facts.definitions[index]
    # A type parameter is repeated by name; what a block of a namespace exports, the others see.
    typed = any(facts.bind_reason(row) == _PARAM for row in facts.rows(bound.scope, bound.name))
    if (typed and holder.kind not in ("class", "interface")) or (not typed and holder.kind != "namespace"):
        return
    known = {edit.start for edit in done if edit.path == bound.file}
    for other in facts.definitions_by_binding.get((holder.scope, holder.name), ()):
        sibling = facts.definitions[other]
        if other == index:
            continue
        for at in context.places(bound.file, bound.name):
            if not sibling.start <= at < sibling.end or at in known or facts.in_text(at):
                continue
            meant = context.resolver.lexical(bound.file, facts, at, bound.name)
            if meant is None or (typed and facts.scopes[meant.scope].definition == other):
                yield Edit(
                    path=bound.file,
                    start=at,
                    end=at + context.length,
                    new=context.new,
                    tier="ANCHORED",
                    role="REFERENCE",
                    why=f"in another declaration of {holder.name}",
                )
