"""Where a question looks: what is a test, and languages by any of their names."""

from pathlib import Path

import pytest

from codeplane.index.path_kinds import is_test
from codeplane.kernel.errors import InvalidArgument
from codeplane.query.search.language_names import known_family, known_language
from codeplane.query.search.scope import scope
from tests.interaction.requirements import requirement

ROOT = Path("/nowhere")


@requirement("SRC-13")
def test_what_is_a_test_by_its_path() -> None:
    tests = ["tests/a.py", "pkg/tests/util.py", "pkg/test_a.py", "a_test.go", "a.spec.ts", "src/test/java/A.java"]
    tests += ["packages/app/test/deep/a.ts", "test/a.py", "conftest.py", "a_spec.rb", "a_tests.py", "CartTest.java"]
    source = ["django/test/client.py", "pkg/testing.py", "contest/a.py", "latest.py", "pkg/attest_a.py", "a/test/b.pyi"]
    source += ["src/main/java/poet/TypeSpec.java", "core/src/main/kotlin/tests/Runner.kt"]
    assert all(map(is_test, tests))
    assert not any(map(is_test, source))


@requirement("SRC-13")
def test_languages_go_by_their_own_name_their_familys_and_short_forms() -> None:
    for name in ("typescript", "TS", " ts "):
        keep = scope((), (name,), "include", ROOT)
        assert keep is not None and keep("a.ts") and not keep("a.py")
    family = scope((), ("javascript",), "include", ROOT)
    assert family is not None and family("a.ts") and family("a.js")
    both = scope((), ("python,js",), "include", ROOT)
    assert both is not None and both("a.py") and both("a.js") and not both("a.rs")
    assert (known_language("py"), known_family("tsx"), known_family("go")) == ("python", "javascript", "go")


@requirement("SRC-13")
def test_a_language_that_is_none_is_refused_with_what_may_be_meant() -> None:
    for name, near in (("pyhton", "python"), ("typscript", "typescript"), ("qqq", "known: ")):
        with pytest.raises(InvalidArgument) as refused:
            scope((), (name,), "include", ROOT)
        assert near in refused.value.hint


def test_as_many_globs_as_may_be_sent_are_taken_however_long() -> None:
    globs = [f"*a*b{'x*' * 400}{number}" for number in range(99)]
    keep = scope(("src", *globs), (), "include", ROOT)
    assert keep is not None and keep("src/a.py") and keep(f"ab{'x' * 400}98") and not keep("other.py")
