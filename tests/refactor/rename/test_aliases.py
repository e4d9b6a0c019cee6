"""Names that an import gives to something, in languages that have such a thing: the alias changes, and no more."""

from pathlib import Path

import pytest

from codeplane.kernel.errors import NotRefactorable
from codeplane.query.search.symbols import targets
from codeplane.refactor.rename.alias import alias_at
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import repo

# The alias is called `near`, each of its uses as well.
ALIASES = {
    "a.ts": "import { far as near } from './b';\nexport const z = near + 1;\n",
    "n.ts": "import * as near from './b';\nexport const z = near.far;\n",
    "a.rs": "use std::collections::HashMap as near;\nfn f() -> near<i32, i32> { near::new() }\n",
    "a.go": 'package a\n\nimport near "fmt"\n\nfunc b() { near.Println(1) }\n',
    "a.php": "<?php\nuse A\\B as near;\n$x = new near();\n",
    "a.kt": "import a.b as near\n\nfun d() = near()\n",
    "a.cs": "using near = System.Console;\n\nclass A { void b() { near.WriteLine(1); } }\n",
    "b.cs": "using near = N.Far;\n\nclass A { near c = new near(); void b(near d) { near.E(d); } }\n"
    "namespace N { class Far { public static void E(Far f) { } } }\n",
    "a.scala": "import a.{b => near}\n\nobject D { def e = near(1) }\n",
}


@requirement("REF-02")
@pytest.mark.parametrize("path", ALIASES)
def test_an_alias_is_renamed_with_its_uses_alone(path: str, tmp_path: Path) -> None:
    text = ALIASES[path]
    line = next(number for number, output in enumerate(text.split("\n"), start=1) if "near" in output)
    place = f"{path}:{line}:{text.split(chr(10))[line - 1].index('near') + 1}"
    with repo(tmp_path, {path: text, "b.ts": "export const far = 1;\n"}) as found:
        world, store = found.written.world(), found.written.store
        target = alias_at(world, place) or targets(world, store, place)[0]
        draft = found.planned(target, "fresh")
        assert found.applied(draft.edits) == {path: text.replace("near", "fresh")}
        assert found.proposed(draft) == {}


@requirement("REF-02")
@pytest.mark.parametrize("place", ["a.ts:2:17", "b.ts:1:10", "b.ts:2:1"])
def test_the_name_that_an_export_gives_is_not_what_it_stands_for(tmp_path: Path, place: str) -> None:
    files = {"a.ts": "const far = 1;\nexport { far as near };\n", "b.ts": "import { near } from './a';\nnear;\n"}
    with repo(tmp_path, files) as found, pytest.raises(NotRefactorable, match="calls far for others"):
        alias_at(found.written.world(), place)


def test_a_name_that_an_export_passes_on_is_no_alias(tmp_path: Path) -> None:
    files = {"a.ts": "const far = 1;\nexport { far };\n", "b.ts": "import { far } from './a';\nfar;\n"}
    with repo(tmp_path, files) as found:
        assert [alias_at(found.written.world(), place) for place in ("a.ts:2:10", "b.ts:1:10", "b.ts:2:1")] == [
            None
        ] * 3


def test_java_has_no_aliases(tmp_path: Path) -> None:
    with repo(tmp_path, {"A.java": "import java.util.List;\nclass A { List<String> b; }\n"}) as found:
        world = found.written.world()
        assert alias_at(world, "A.java:1:18") is None
