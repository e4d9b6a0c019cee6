"""Whatever is renamed in a program, it goes on doing the same: random scopes, run before and after."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.code.entity import Bound
from codeplane.kernel.errors import CodePlaneError
from codeplane.query.search.symbols import Target
from tests.interaction.requirements import requirement
from tests.refactor.rename.rename_repository import Repo, repo

_NAMES = st.sampled_from(["a", "b", "c"])
_PLAIN = st.one_of(
    st.builds("{} = {} + 1".format, _NAMES, _NAMES),
    st.builds("{} = [{} for {} in range({})]".format, _NAMES, _NAMES, _NAMES, st.just("2")),
    st.builds("out.append(({0}, f'{{{1}}}', dict({0}={1})))".format, _NAMES, _NAMES),
    st.builds("{} = (lambda {}: {})(2)".format, _NAMES, _NAMES, _NAMES),
    st.builds("global {}".format, _NAMES),
)


def _function(name: str, parameter: str, inner: list[str], argument: str) -> str:
    body = "\n".join(f"    {line}" for part in inner for line in part.split("\n"))
    return f"def {name}({parameter}=1):\n{body}\nout.append({name}({parameter}={argument}))"


_BODY = st.lists(_PLAIN, min_size=1, max_size=4)
_INNER = st.builds(_function, _NAMES, _NAMES, _BODY, _NAMES)
_OUTER = st.builds(_function, _NAMES, _NAMES, st.lists(st.one_of(_PLAIN, _INNER), min_size=1, max_size=4), _NAMES)
_PROGRAM = st.lists(st.one_of(_PLAIN, _OUTER), min_size=2, max_size=6).map(
    lambda parts: "\n".join(["a = b = c = 1", *parts])
)


@requirement("REF-08")
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_PROGRAM, min_size=20, max_size=20))
def test_a_renamed_program_does_the_same(programs: list[str]) -> None:
    files = {f"m{number}.py": f"{program}\n" for number, program in enumerate(programs) if _compiles(program)}
    with tempfile.TemporaryDirectory() as folder, repo(Path(folder), files) as found:
        for path, text in files.items():
            for bound in _bounds(found, path):
                after = _renamed(found, bound)
                if after is not None:
                    assert _outcome(after) == _outcome(text), (bound, text, after)


def _bounds(found: Repo, path: str) -> list[Bound]:
    facts = found.written.world().facts(path)
    assert facts is not None
    rows = zip(facts.binds.tolist(), facts.bind_names, strict=True)
    return list(dict.fromkeys(Bound(path, scope, name) for (scope, _, reason, _), name in rows if reason < 3))


def _renamed(found: Repo, bound: Bound) -> str | None:
    try:
        draft = found.planned(Target(bound=bound, symbol=None, definition=None), "zz")
    except CodePlaneError:
        return None
    return found.applied(draft.edits).get(bound.file)


def _compiles(program: str) -> bool:
    try:
        compile(program, "program", "exec")
    except SyntaxError:
        return False
    return True


def _outcome(text: str) -> tuple[str, list[str]]:
    """What a program put out, and how it ended; a function says its name, which may be the new one."""
    out: list[object] = []
    ended = "well"
    try:
        exec(compile(text, "program", "exec"), {"out": out})
    except Exception as error:
        ended = type(error).__name__
    return ended, [type(one).__name__ if callable(one) else _plain(one) for one in out]


def _plain(one: object) -> str:
    return repr(one) if "function" not in repr(one) else "function"
