"""The outline of a file as an explanation: its docstring and definitions in order."""

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.plural import plural
from codeplane.query.explain.explanation import Explanation, Member
from codeplane.query.signature import first_words, signature

_MAX_MEMBERS = 200
_MAX_IN_FILE = 10_000
_VALUES = frozenset({"variable", "constant", "field", "property"})


def outline_file(world: World, store: FactStore, path: str) -> Explanation | None:
    """The outline of a parsed file, or None: its definitions and the functions inside them."""
    facts = world.facts(path)
    if facts is None:
        return None
    text = world.text(path)
    ids = {row.position: row.uid for row in store.in_file(path, limit=_MAX_IN_FILE)}
    depths: dict[int, int] = {-1: -1}
    members: dict[tuple[int, str, str], Member] = {}
    for index, definition in enumerate(facts.definitions):
        depth = depths.get(definition.container, 9) + 1
        inside = (
            depth == 1
            and definition.kind not in _VALUES
            and facts.definitions[definition.container].kind not in _VALUES
        )
        if depth == 0 or inside:
            depths[index] = depth
            # What a name is set to twice is one member.
            members.setdefault(
                (definition.container, definition.name, definition.signature),
                Member(
                    id=ids.get(index),
                    kind=definition.kind,
                    name=definition.name,
                    line=definition.line,
                    depth=depth,
                    signature=signature(facts, text, definition),
                ),
            )
    return Explanation(
        id=None,
        kind="file",
        name=path.rpartition("/")[2],
        qualified_name=path_text(path),
        path=path_text(path),
        line=1,
        end_line=max(text.count(b"\n") + (not text.endswith(b"\n")), 1),
        signature=", ".join(
            (facts.language, plural(len(facts.definitions), "definition"), plural(len(facts.imports), "import"))
        ),
        doc=first_words(facts, text) or None,
        members=tuple(sorted(members.values(), key=lambda each: each.line)[:_MAX_MEMBERS]),
        member_count=len(members),
    )
