"""Facts that are kept unpacked: bounded, and none of contents that are long gone."""

from codeplane.code.model import Facts
from codeplane.index.facts_cache import FactsCache
from tests.interaction.requirements import requirement

pytestmark = requirement("IDX-46")


def _facts() -> Facts:
    return Facts(
        language="python",
        definitions=(),
        scopes=(),
        imports=(),
        exports=(),
        dynamic=(),
        bind_names=(),
        bind_packed=b"",
        text_packed=b"",
        label_packed=b"",
        outer_packed=b"",
    )


def test_of_a_file_that_is_edited_again_and_again_the_newest_contents_are_kept() -> None:
    kept = FactsCache(max_bytes=1000)
    for number in range(20):
        kept.put("a.py", f"{number}", _facts(), size=10)
    assert (len(kept), kept.size) == (1, 20)
    assert kept.get("a.py", "19") is not None and kept.get("a.py", "18") is not None and kept.get("a.py", "17") is None
    kept.put("a.py", "19", _facts(), size=10)
    assert kept.size == 20


def test_what_nobody_asked_for_longest_goes_when_it_is_too_much() -> None:
    kept = FactsCache(max_bytes=30)
    for path in ("a.py", "b.py", "c.py"):
        kept.put(path, "1", _facts(), size=10)
    assert kept.get("a.py", "1") is not None
    kept.put("d.py", "1", _facts(), size=10)
    assert kept.get("b.py", "1") is None and kept.get("a.py", "1") is not None and kept.size == 30
    kept.clear()
    assert (len(kept), kept.size) == (0, 0) and kept.get("a.py", "1") is None
