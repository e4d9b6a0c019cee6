"""The comparison of two states: nested changes, each judged."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from codeplane.code.languages.contract import Visibility
from codeplane.code.model import Facts
from codeplane.query.compare.additions import reasons_added_breaks
from codeplane.query.compare.change import Change, FileOutlines, Kind, Risk, order
from codeplane.query.compare.compatibility import judge_change
from codeplane.query.compare.constructors import is_constructor, needs_nothing
from codeplane.query.compare.inheritance import Inheritance, stem_of
from codeplane.query.compare.layout import layout_breaks
from codeplane.query.compare.lines import line_change
from codeplane.query.compare.module_names import is_same_module, join_modules
from codeplane.query.compare.outline import Entity, Outline
from codeplane.query.compare.overloads import Side, is_hidden, join_overloads, overloads_of
from codeplane.query.compare.pairing import Pair, Pairing
from codeplane.query.compare.public_surface import PublicSurface
from codeplane.query.compare.reexports import Known, PackageReexports
from codeplane.query.compare.rules import CALLABLES, VALUES
from codeplane.query.compare.stubs import RuntimeModules
from codeplane.query.compare.tokens import words
from codeplane.query.compare.type_aliases import aliases_of
from codeplane.query.compare.type_finder import TypeFinder
from codeplane.query.compare.type_judge import Located, TypeJudge
from codeplane.query.compare.visibility import visibility_of

_SEEN = ("public", "protected")
_IN_MODULE = "a stub; its module is judged"
_OUT_OF_REACH = "users had no name for it, and nothing they have speaks of it any more"
_MINOR, _MAJOR = 3, 20
_TEST_FILE = re.compile(r"(?:^|/)test/(?:test_[^/]*|[^/]*_test)\.py$")
_FLOW = words(
    "if elif else for while do switch case match return raise throw throws try except catch finally break continue"
    " await yield with assert defer go select panic unwrap not and or && || ! == != < > <= >="
)

# By family of languages, of the packages before and now.
Surfaces = Mapping[str, tuple[PublicSurface, PublicSurface]]
_NO_SURFACES: Surfaces = {}


class Comparison:
    """Compares files; `notes` says what was not compared."""

    def __init__(
        self, files: Sequence[FileOutlines], known: Known = lambda path: None, surfaces: Surfaces = _NO_SURFACES
    ) -> None:
        """`known` looks up the facts of unchanged files, `surfaces` are what packages gave and give to users."""
        self.notes: list[str] = []
        self._known = known
        self._surfaces = surfaces
        files = join_modules(files, lambda path: known(path) is not None)
        _set_tests([side for file in files for side in (file.old, file.new) if side is not None])
        for file in files:
            for side, outline in enumerate((file.old, file.new)):
                if outline is not None and (pair := surfaces.get(outline.language.family_name)) is not None:
                    outline.surface = pair[side]
        self._reexports = _set_reexports([file.new for file in files], known)
        _set_reexports([file.old for file in files], known)
        self._together = {(file.old.path if file.old else None, file.new.path if file.new else None) for file in files}
        self._files = {file.old.path: file for file in files if file.old is not None}
        self._files |= {file.new.path: file for file in files if file.new is not None}
        self._now = {file.new.path: file.new for file in files if file.new is not None}
        self._same_modules = self._modules_that_moved(files, known)
        self._now |= self._same_modules
        self._modules = RuntimeModules(lambda path: self._facts_before(path, known))
        self._implemented = frozenset[tuple[str, str]]().union(*(file.implemented for file in self._now.values()))
        self._aliases = aliases_of([file.old for file in files]), aliases_of([file.new for file in files])
        self._types = (
            TypeFinder([file.old for file in files], {name: pair[0] for name, pair in surfaces.items()}).find,
            TypeFinder([file.new for file in files], {name: pair[1] for name, pair in surfaces.items()}).find,
        )
        pairing = Pairing([(file.old, file.new) for file in files])
        if pairing.tired:
            self.notes.append("too many definitions came and went to look for all that were renamed")
        self._inheritance = Inheritance([file.new for file in files if file.new is not None], pairing.pairs)
        changes = join_overloads(
            [change for pair in pairing.pairs if (change := self._of(pair)) is not None],
            self._sides,
            self._can_still_be_called,
        )
        changes += [change for file in files if (change := self._of_module(file)) is not None]
        self.changes = sorted(changes, key=order)

    def _modules_that_moved(self, files: Sequence[FileOutlines], known: Known) -> dict[str, Outline]:
        """By its old path, each file that moved and is imported by the name it had."""

        def is_known(path: str) -> bool:
            return path in self._files or known(path) is not None

        return {
            file.old.path: file.new
            for file in files
            if file.old is not None and file.new is not None and is_same_module(file, is_known)
        }

    def _facts_before(self, path: str, known: Known) -> Facts | None:
        """The facts of a file in the state before."""
        file = self._files.get(path)
        if file is None:
            return known(path)
        return file.old.facts if file.old is not None and file.old.path == path else None

    def _sides(self, change: Change) -> tuple[Side, Side]:
        """Both states of the file a definition was added to or removed from."""
        file = self._files[change.path]
        return (file.old, -1), (file.new, -1)

    def _can_still_be_called(self, old: Located, new: Located) -> bool:
        """Whether every signature of an overloaded function has one now that calls can do with."""
        if not new[0].rules.unions or not (old[0].known and new[0].known):
            return False
        headers = [
            [outline.parts(each).header for each in overloads_of(outline, place)] for outline, place in (old, new)
        ]
        return TypeJudge(old, new, self._types).overloads_fit(*headers)

    def _of(self, pair: Pair) -> Change | None:
        if pair.new is None:
            return self._removal(pair)
        if pair.old is None:
            return self._addition(pair)
        nested = [change for inner in pair.inside if (change := self._of(inner)) is not None]
        nested = join_overloads(
            nested, lambda _: ((pair.old, pair.old_place), (pair.new, pair.new_place)), self._can_still_be_called
        )
        if visibility_of(pair.old, pair.old_place) not in _SEEN:
            # Nobody has what they would have to do more for.
            nested = [
                replace(change, breaking=False, why=(), risk="low") if change.change == "added" else change
                for change in nested
            ]
        change_of_pair = self._change(pair)
        held = [pair.old.children.get(pair.old_place), pair.new.children.get(pair.new_place)]
        if pair.old.entities[pair.old_place].kind != pair.now.kind and not all(held):
            # All in it came with what it has become, or went with what it was.
            nested = []
        if change_of_pair is None:
            if not nested:
                return None
            change_of_pair = Change(
                pair=pair, change="body_changed", itself=False, tags=["members_changed"], visibility=_visibility(pair)
            )
        change_of_pair.nested = sorted(nested, key=order)
        return change_of_pair

    def _removal(self, pair: Pair) -> Change | None:
        old = pair.old
        assert old is not None
        seen, entity = visibility_of(old, pair.old_place), pair.now
        why: tuple[str, ...] = ()
        if entity.name == "__all__":
            return None
        breaking = seen in _SEEN and not old.is_test
        now = self._now.get(old.path)
        kept = now is not None and not _was_overload(entity, now) and self._is_given(now, frozenset({entity.name}))
        if entity.kind == "export" and (kept or self._is_submodule(old, entity.name)):
            # The same name, given away in another way.
            return None
        if breaking and entity.kind == "export" and self._gives_the_rest(old, entity.name):
            breaking, why = False, ("what is gone of it is named where it was",)
        elif breaking and self._modules.has(old, pair.old_place):
            breaking, why = False, (_IN_MODULE,)
        elif breaking and self._is_out_of_reach(old, pair.old_place):
            breaking, why = False, (_OUT_OF_REACH,)
        elif breaking and self._is_still_there(old, entity):
            breaking, why = False, ("users of its package still have its name, or never had one",)
        elif breaking and ((entity.parent < 0 and kept) or self._is_in_folder(old, entity)):
            breaking, why = False, ("its name is still to be had here",)
        elif (
            breaking
            and entity.parent < 0
            and old.is_private_module
            and self._reexports.still_gives(self._path_now(old), entity.name)
        ):
            breaking, why = False, ("its package still gives it away",)
        elif breaking and entity.parent >= 0 and self._inheritance.has(old, entity.parent, entity.name):
            breaking, why = False, ("still there through what its class builds on",)
        elif breaking and entity.parent >= 0 and self._did_nothing(old, pair.old_place):
            breaking, why = False, ("made with nothing all the same",)
        return Change(
            pair=pair,
            change="removed",
            breaking=breaking,
            why=why,
            tags=["symbol_removed"],
            risk="low" if old.is_test else "high" if breaking else "medium",
            visibility=seen,
        )

    def _is_submodule(self, old: Outline, name: str) -> bool:
        """Whether a name of a package of Python is one of its modules now."""
        folder, _, file = old.path.rpartition("/")
        marker = old.rules.package_marker
        return (
            bool(marker)
            and file == marker
            and any(
                path in self._now or (path not in self._files and self._known(path) is not None)
                for path in (f"{folder}/{name}.py", f"{folder}/{name}/{marker}")
            )
        )

    def _did_nothing(self, old: Outline, place: int) -> bool:
        """Whether a removed constructor took no arguments and no inherited one replaces it."""
        if not old.known or not is_constructor(old, place) or not needs_nothing(old, place):
            return False
        now = self._now.get(old.path)
        around = old.entities[old.entities[place].parent]
        left = now.named.get((-1, around.kind, around.name), ()) if now is not None and around.parent < 0 else ()
        if now is None or len(left) != 1 or any(is_constructor(now, each) for each in now.children.get(left[0], ())):
            return False
        bases = now.parts(left[0]).header.bases
        return not [base for base in bases if base != "object" and not base.startswith("implements ")]

    def _addition(self, pair: Pair) -> Change | None:
        new = pair.new
        assert new is not None
        if pair.now.name == "__all__":
            return None
        why = reasons_added_breaks(new, pair.new_place, self._files[new.path].old) if not new.is_test else []
        if why and new.rules.protocols and self._inheritance.is_inherited(new, pair.now.parent, pair.now.name):
            # What it builds on asked for it, or is said to ask for it now.
            why = []
        return Change(
            pair=pair,
            change="added",
            breaking=bool(why),
            why=tuple(why),
            tags=["symbol_added"],
            visibility=visibility_of(new, pair.new_place),
            risk="medium" if why else "low",
        )

    def _change(self, pair: Pair) -> Change | None:
        """The change of a definition in both states, or None if unchanged."""
        old, new = pair.old, pair.new
        assert old is not None and new is not None
        before, after = old.entities[pair.old_place], new.entities[pair.new_place]
        moved = old.path != new.path and (old.path, new.path) not in self._together and after.parent < 0
        renamed = before.name != after.name
        if after.name == "__all__" and before.name == after.name:
            return None
        tested = old.is_test or new.is_test
        kind: Kind = "moved" if moved and not renamed else "renamed"
        change = Change(pair=pair, change=kind, moved=moved, visibility=_visibility(pair))
        seen = visibility_of(old, pair.old_place) in _SEEN and not tested
        seen = seen and not self._is_out_of_reach(old, pair.old_place)
        self._compare(change, seen=seen)
        if change.breaking and self._modules.has(old, pair.old_place):
            change.breaking, change.why, seen = False, (_IN_MODULE, *change.why), False
        if seen and not renamed and not moved and (gone := self._no_longer_called(pair)):
            change.tags.append("visibility_changed")
            change.breaking, change.why = True, (f"no longer given away as {', '.join(gone)}", *change.why)
        if not (renamed or moved) and not change.tags:
            return None
        if renamed or moved:
            change.tags[:0] = ["symbol_renamed"] * renamed + ["symbol_moved"] * moved
            if seen and (why := self._why_lost(pair, renamed=renamed, moved=moved)):
                change.breaking, change.why = True, (why, *change.why)
        else:
            change.change = "body_changed" if set(change.tags) <= _BODY_TAGS else "signature_changed"
        change.risk = _risk(change, tested=tested)
        return change

    def _compare(self, change: Change, *, seen: bool) -> None:
        """Judge changes of the header and the body."""
        pair = change.pair
        old, new = pair.old, pair.new
        assert old is not None and new is not None
        if not (old.known and new.known):
            before, after = old.entities[pair.old_place], new.entities[pair.new_place]
            if before.signature != after.signature or before.kind != after.kind:
                change.tags.append("signature_changed")
                change.breaking = seen
                change.why = ("what exactly changed is not known",)
            return
        if old.own_bytes(pair.old_place) == new.own_bytes(pair.new_place) and visibility_of(
            old, pair.old_place
        ) == visibility_of(new, pair.new_place):
            return
        old_parts, new_parts = old.parts(pair.old_place), new.parts(pair.new_place)
        in_method = new.is_inside_callable(pair.new_place) or old.is_inside_callable(pair.old_place)
        seen_else = visibility_of(old, pair.old_place) != visibility_of(new, pair.new_place)
        judged = not in_method or old_parts.header.returns != new_parts.header.returns or seen_else
        verdict = (
            judge_change(pair, self._implemented, self._aliases, self._types, self._inheritance.bases_above)
            if judged
            else None
        )
        if verdict is not None and (verdict.breaking or verdict.harmless):
            hidden = is_hidden(new, pair.new_place)
            change.breaking = bool(verdict.breaking) and seen and not hidden
            change.why = (*verdict.breaking, *verdict.harmless)
            change.keeps_calls = verdict.keeps_calls
            change.tags += verdict.tags
        if old_parts.body == new_parts.body or in_method:
            return
        if seen and layout_breaks(pair, self._types):
            change.breaking, change.why = True, (*change.why, "made of other parts")
        change.lines = line_change(old.own_bytes(pair.old_place), new.own_bytes(pair.new_place))
        change.tags.append("body_logic_changed" if pair.now.kind in CALLABLES else "value_changed")
        count = change.lines.count
        change.tags += ["minor_change"] * (count <= _MINOR) + ["major_change"] * (count > _MAJOR)

    def _why_lost(self, pair: Pair, *, renamed: bool, moved: bool) -> str | None:
        """Why users do not find it under its old name or place, or None."""
        old, new, before = pair.old, pair.new, pair.before
        assert old is not None and new is not None and before is not None
        now = self._now.get(old.path)
        is_own = before.parent < 0 or (old.rules.crates and old.entities[before.parent].kind == "module")
        if is_own and (reached := self._is_reached(old, {_key(old, before)})) is not None:
            return None if reached else f"{before.name} is gone" if renamed else f"no longer in {old.path}"
        if before.parent < 0 and now is not None and self._is_given(now, old.export_names(pair.old_place)):
            return None
        if before.parent >= 0 and self._inheritance.has(old, before.parent, before.name):
            return None
        if (
            before.parent < 0
            and old.is_private_module
            and self._reexports.still_gives(self._path_now(old), before.name)
        ):
            return None
        if renamed:
            return f"{before.name} is gone"
        folders = [path.rpartition("/")[0] for path in (old.path, new.path)]
        reached = new.rules.module == "file" or (new.rules.module == "folder" and folders[0] != folders[1])
        return f"no longer in {old.path}" if moved and reached else None

    def _no_longer_called(self, pair: Pair) -> list[str]:
        """The names under which a script no longer exports a definition."""
        old, new = pair.old, pair.new
        now = self._surface_now(old) if old is not None else None
        if old is not None and old.package is not None and now is not None:
            macros = old.package.lost_macros(old.path, old.entities[pair.old_place].path, now)
            if macros:
                return macros
        if old is None or new is None or old.facts is None or not old.facts.exports or not new.known:
            return []
        if pair.now.parent >= 0 or old.export_names(pair.old_place) == new.export_names(pair.new_place):
            return []
        if visibility_of(new, pair.new_place) not in _SEEN or self._is_reached(old, {pair.now.name}):
            return []
        return sorted(name for name in old.export_names(pair.old_place) if not self._is_given(new, frozenset({name})))

    def _of_module(self, file: FileOutlines) -> Change | None:
        """The change of a renamed file where files are imported as modules."""
        old, new = file.old, file.new
        if old is None or new is None or old.path == new.path or old.rules.module == "none":
            return None
        same_folder = old.path.rpartition("/")[0] == new.path.rpartition("/")[0]
        if old.rules.module == "folder" and same_folder:
            return None
        outer = [place for place, each in enumerate(old.entities) if each.parent < 0]
        seen = [place for place in outer if visibility_of(old, place) in _SEEN]
        given = len(seen) if old.path not in self._same_modules else 0
        if self._is_reached(old, {_key(old, old.entities[place]) for place in seen}):
            given = 0
        breaking = bool(given) and not old.is_test
        pair = Pair(old, -1, new, -1)
        renamed = old.path.rpartition("/")[2] != new.path.rpartition("/")[2]
        why = (f"{given} name{'s' * (given != 1)} to be taken from elsewhere",) if given else ()
        return Change(
            pair=pair,
            change="renamed" if renamed else "moved",
            breaking=breaking,
            why=why,
            moved=True,
            tags=["symbol_renamed" if renamed else "symbol_moved"],
            risk="high" if breaking else "low",
        )

    def _path_now(self, old: Outline) -> str:
        """Where the module is now that a file was."""
        now = self._same_modules.get(old.path)
        return now.path if now is not None else old.path

    def _surface_now(self, old: Outline) -> PublicSurface | None:
        """The surface now of what the package of a file was, if a manifest says what users have of it."""
        pair = self._surfaces.get(old.language.family_name)
        if pair is None or old.package is None:
            return None
        # A surface follows a package when it is first asked about a file of it.
        pair[1].governs(old.path)
        return pair[1]

    def _is_reached(self, old: Outline, names: Set[str]) -> bool | None:
        """Whether users of its package have all names they had for these of a file; None if a manifest says nothing."""
        package, now = old.package, self._surface_now(old)
        if package is None or now is None:
            return None
        return now.has(set[str]().union(*(package.names(old.path, name) for name in names)))

    def _is_still_there(self, old: Outline, entity: Entity) -> bool:
        """Whether users have all names they had for a removed definition, or never had one."""
        package, now = old.package, self._surface_now(old)
        if package is None or now is None or not (entity.parent < 0 or old.rules.crates):
            return False
        names = package.exact_names(old.path, _key(old, entity))
        is_item = entity.parent < 0 or old.entities[entity.parent].kind == "module"
        return now.has(names) if is_item or names else False

    def _gives_the_rest(self, old: Outline, name: str) -> bool:
        """Whether users still have all that a file passed on wholesale, but for what is no longer defined at all."""
        package, now = old.package, self._surface_now(old)
        if package is None or now is None or not name.startswith("* from "):
            return False
        return not package.lost_names(old.path, name, now)

    def _is_out_of_reach(self, old: Outline, place: int) -> bool:
        """Whether users never had a name for a type, and nothing that they have speaks of it any more.

        What spoke of it has changed, and is judged itself.
        """
        package, now = old.package, self._surface_now(old)
        if package is None or now is None or old.rules.crates:
            return False
        while old.entities[place].parent >= 0:
            place = old.entities[place].parent
        name = old.entities[place].name
        return not package.names(old.path, name) and not now.is_seen(old.path, name)

    def _is_in_folder(self, old: Outline, entity: Entity) -> bool:
        """Whether another file of a package that is a folder has a definition now, or a method of its signature."""
        if old.rules.module != "folder":
            return False
        folder = old.path.rpartition("/")[0]
        return any(
            path.rpartition("/")[0] == folder and outline.language.family_name == old.language.family_name
            for path, outline in self._now.items()
            if not outline.is_test and any(_is_same_definition(entity, each) for each in outline.entities)
        )

    def _is_given(self, now: Outline, names: frozenset[str]) -> bool:
        """Whether a file still exports these names, itself or through a changed module it re-exports."""
        if names <= now.bound:
            return True
        stems = {re.split(r"[/\\]", source)[-1].partition(".")[0] for source in now.passed_on}
        among = (
            [outline for path, outline in self._now.items() if stem_of(path) in stems and outline is not now]
            if stems
            else []
        )
        return any(names <= outline.bound for outline in among)


def _is_same_definition(before: Entity, now: Entity) -> bool:
    if before.path != now.path:
        return False
    return before.parent < 0 or (before.kind == now.kind == "method" and before.signature == now.signature)


def _key(outline: Outline, entity: Entity) -> str:
    """What the surface of a package knows a definition of a file by."""
    return entity.path if outline.rules.crates else entity.name


def _set_tests(outlines: Sequence[Outline]) -> None:
    """Take what lies in a folder `test` beside tests as part of them."""
    folders = {outline.path.rpartition("/")[0] for outline in outlines if _TEST_FILE.search(outline.path)}
    for outline in outlines:
        if outline.path.rpartition("/")[0] in folders:
            outline.is_test = True


def _set_reexports(outlines: Sequence[Outline | None], known: Known) -> PackageReexports:
    """Set the packages' re-exports of one state on its outlines."""
    here = [outline for outline in outlines if outline is not None]
    reexports = PackageReexports({outline.path: outline.facts for outline in here if outline.facts is not None}, known)
    for outline in here:
        outline.passing = reexports
    return reexports


_BODY_TAGS = frozenset({"body_logic_changed", "value_changed", "minor_change", "major_change"})


def _visibility(pair: Pair) -> Visibility:
    if pair.new is not None:
        return visibility_of(pair.new, pair.new_place)
    assert pair.old is not None
    return visibility_of(pair.old, pair.old_place)


def _was_overload(entity: Entity, now: Outline) -> bool:
    """Whether a removed callable was one of several overloads."""
    if not now.rules.typed or entity.kind not in CALLABLES:
        return False
    return any(other.path == entity.path and other.kind == entity.kind for other in now.entities)


def _risk(change: Change, *, tested: bool) -> Risk:
    if tested:
        return "low"
    if change.pair.old is None or not change.pair.old.known:
        return "unknown"
    if change.breaking:
        return "high"
    lines = change.lines
    if lines is None:
        return "low"
    if lines.count > _MAJOR:
        return "high"
    if change.pair.now.kind in VALUES:
        return "medium" if change.visibility in _SEEN else "low"
    return "medium" if lines.count > _MINOR or not _FLOW.isdisjoint(lines.words) else "low"
