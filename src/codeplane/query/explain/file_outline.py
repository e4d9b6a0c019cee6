"""A file as a symbol: what it says of itself, and what is defined in it, in the order it is written."""

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import shown
from codeplane.kernel.counted import counted
from codeplane.query.explain.explanation import Explanation, Member
from codeplane.query.signature import first_words, signature

_MAX_MEMBERS = 200
_MAX_IN_FILE = 10_000
_VALUES = frozenset({"variable", "constant", "field", "property"})


def outlined(world: World, store: FactStore, path: str) -> Explanation | None:
    """The outline of a file, or None where nothing of it is parsed: its definitions, and the functions inside them."""
    facts = world.facts(path)
    if facts is None:
        return None
    text = world.text(path)
    ids = {row.position: row.uid for row in store.in_file(path, limit=_MAX_IN_FILE)}
    depths: dict[int, int] = {-1: -1}
    members: dict[tuple[int, str, str], Member] = {}
    for index, one in enumerate(facts.definitions):
        depth = depths.get(one.container, 9) + 1
        inside = depth == 1 and one.kind not in _VALUES and facts.definitions[one.container].kind not in _VALUES
        if depth == 0 or inside:
            depths[index] = depth
            # What a name is set to twice is one member.
            members.setdefault(
                (one.container, one.name, one.signature),
                Member(
                    id=ids.get(index),
                    kind=one.kind,
                    name=one.name,
                    line=one.line,
                    depth=depth,
                    signature=signature(facts, text, one),
                ),
            )
    return Explanation(
        id=None,
        kind="file",
        name=path.rpartition("/")[2],
        qualified_name=shown(path),
        path=shown(path),
        line=1,
        end_line=max(text.count(b"\n") + (not text.endswith(b"\n")), 1),
        signature=", ".join(
            (facts.language, counted(len(facts.definitions), "definition"), counted(len(facts.imports), "import"))
        ),
        doc=first_words(facts, text) or None,
        members=tuple(sorted(members.values(), key=lambda each: each.line)[:_MAX_MEMBERS]),
        member_count=len(members),
    )
