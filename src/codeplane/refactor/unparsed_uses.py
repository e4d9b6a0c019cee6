"""Uses of a name in files that could not be parsed, which no plan can see."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from codeplane.code.languages.registry import languages
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.syntax_trees import SyntaxTrees
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import IndexNotReady
from codeplane.refactor.draft import UNPARSED_USE, Danger, Draft

_MOST = 20
_NAMES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier"})
_LOCAL = frozenset({"function", "block", "lambda"})
# Files that are imported by the name of their folder.
_BY_FOLDER = frozenset({"__init__", "index", "mod"})


def missing_configs(world: World, draft: Draft) -> Iterator[Danger]:
    """Yield a danger for each file that is not here and would tell how modules of the edited files are named."""
    paths = {edit.path for edit in draft.edits} | {move.path for move in draft.moves} | set(draft.removes)
    found = dict.fromkeys(what for path in sorted(paths)[:_MOST] for what in world.missing_configs(path))
    for what in list(found)[:_MOST]:
        yield Danger(kind="missing_config", what=f"{what}: imports by names that it gives are not followed")


def unparsed_uses(world: World, store: FactStore, draft: Draft) -> Iterator[Danger]:
    """Yield a danger for each unparsed file that contains the name of what is renamed, moved or deleted.

    IndexNotReady is raised where facts of such a file are remembered from before, while the tables of names are those
    of another text of it: a plan without its names looks whole.
    """
    names = sorted(_names(draft))
    if not names:
        return
    pattern = re.compile(rb"\b(?:%s)\b" % b"|".join(re.escape(name.encode()) for name in names))
    yield from _pasting_dangers(world, draft)
    found = 0
    own = _own_file(world, draft)
    if own is None:
        yield from _in_broken_stretches(world, draft, pattern)
    unread = set(_unparsed_files(world, store, draft))
    problems = frozenset(store.problems())
    late = sorted(path for path in world.missing if path not in problems and path not in unread)
    if late and own is None:
        # It was parsed while the plan was made, which did not see its names.
        raise IndexNotReady(f"{path_text(late[0])} changed, and was read while this was planned")
    grammars = set(_grammars(world, draft))
    for path in sorted({*store.problems(), *unread, *grammars}):
        if own is not None and path != own:
            continue
        known = world.snapshot.files.get(path)
        if known is None or known.skipped is not None:
            continue
        # A file of another language that reads the same ending is none of its own.
        if world.facts(path) is not None and path not in grammars:
            if own is None and path in unread and pattern.search(world.text(path)):
                raise IndexNotReady(f"{path_text(path)} changed, and its names are not indexed yet")
            continue
        if place := pattern.search(world.text(path)):
            found += 1
            if found > _MOST:
                yield Danger(kind=UNPARSED_USE, what=f"and more than {_MOST} files that could not be parsed")
                return
            what = f"{path_text(path)} could not be parsed, and says {place[0].decode(errors='replace')}"
            yield Danger(kind=UNPARSED_USE, what=what, path=path, offset=place.start())


def _unparsed_files(world: World, store: FactStore, draft: Draft) -> Iterator[str]:
    """Yield the files of the subject's language whose present text has not been parsed, for whatever reason."""
    edits = (*draft.edits, *(edit for candidate in draft.candidates for edit in candidate.edits))
    paths = {*(edit.path for edit in edits), *(move.path for move in draft.moves), *draft.removes}
    groups = {language.group for path in paths if (language := languages().of(path)) is not None}
    parsed = store.parsed_digests() if groups else {}
    for path, known in world.snapshot.files.items():
        if known.skipped is None and parsed.get(path) != known.digest:
            language = languages().of(path)
            if language is not None and language.group in groups:
                yield path


def _pasting_dangers(world: World, draft: Draft) -> Iterator[Danger]:
    """Yield a danger where a macro makes the name from parts, or other names from it."""
    if not draft.word or not draft.edits:
        return
    edits = [edit for candidate in draft.candidates for edit in candidate.edits] or list(draft.edits)
    places = [(edit.path, edit.start) for edit in edits]
    if (made := Resolver(world).pasting_macro(places[0][0], draft.word, places)) is not None:
        what = f"a macro joins {draft.word}, or a part of it, with something else (##)"
        yield Danger(kind=UNPARSED_USE, what=what, path=made[0], offset=made[1])


def _in_broken_stretches(world: World, draft: Draft, pattern: re.Pattern[bytes]) -> Iterator[Danger]:
    """Yield a danger for each file that says the name where the preprocessor hides the syntax, unless that is edited.

    Namespaces and classes around such a place, whose member it may be, are not known.
    """
    edits = (*draft.edits, *(edit for candidate in draft.candidates for edit in candidate.edits))
    covered = {(edit.path, edit.start) for edit in edits}
    trees, found = SyntaxTrees(world), 0
    for path in world.files_with(draft.word) if draft.word else ():
        facts = world.facts(path)
        if facts is None or not facts.errors or not world.language(facts).preprocessed:
            continue
        for match in pattern.finditer(world.text(path)):
            if (path, match.start()) in covered or not _is_broken(trees.node(path, match.start(), match.end())):
                continue
            what = f"a part of {path_text(path)} could not be parsed, and says {match[0].decode(errors='replace')}"
            yield Danger(kind=UNPARSED_USE, what=what, path=path, offset=match.start())
            found += 1
            if found == _MOST:
                return
            break


def _is_broken(node: Node | None) -> bool:
    """Whether a name is in a stretch that was not parsed, and no comment or string in it."""
    if node is None or node.type not in _NAMES:
        return False
    around = node.parent
    while around is not None:
        if around.is_error:
            return True
        around = around.parent
    return False


def _own_file(world: World, draft: Draft) -> str | None:
    """Return the file that alone can use the subject, if that is local to a function and no call names it."""
    edit = next((edit for edit in draft.edits if edit.role == "DEFINITION"), None)
    facts = world.facts(edit.path) if edit is not None else None
    if edit is None or facts is None or world.language(facts).names.named_arguments:
        return None
    return edit.path if facts.scopes[facts.scope_at(edit.start)].kind in _LOCAL else None


def _grammars(world: World, draft: Draft) -> Iterator[str]:
    """Yield the files of other tools that hold code of the subject's language."""
    edit = next((edit for edit in draft.edits if edit.role == "DEFINITION"), None)
    facts = world.facts(edit.path) if edit is not None else None
    if facts is None:
        return
    endings = tuple(f".{extension}" for extension in world.language(facts).unread_extensions)
    if endings:
        yield from (path for path in world.snapshot.files if path.endswith(endings))


def _names(draft: Draft) -> set[str]:
    """Return the names that a use would contain."""
    if draft.word:
        return {draft.word}
    paths = [PurePosixPath(path) for path in (*(move.path for move in draft.moves), *draft.removes)]
    return {path.parent.name if path.stem in _BY_FOLDER else path.stem for path in paths} - {""}
