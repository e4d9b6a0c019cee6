"""Many replacements at once leave what they leave one after another, and more than a file takes are refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.edit.replacements import apply_replacements
from codeplane.edit.request import Replacement
from codeplane.edit.text import Text
from codeplane.edit.text_match import match_spans
from codeplane.kernel.errors import CodePlaneError, EditMismatch, TooLarge
from tests.interaction.requirements import requirement

words = st.lists(st.sampled_from(["a", "b", "ab", "\n", "\r\n", " ", "word", "é"]), max_size=4).map("".join)
texts = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "  ", "word", "other", "é", "x" * 9]), max_size=60).map(
    "".join
)


def one_by_one(text: Text, swaps: list[Replacement]) -> Text:
    """The meaning of it."""
    for swap in swaps:
        if not swap.old and not text.plain:
            text = Text(raw=swap.new, encoding=text.encoding, mark=text.mark)
            continue
        if swap.old == swap.new:
            raise EditMismatch("the same")
        text = text.replace_spans(match_spans(text.plain, swap.old, swap.new, every=swap.all, path="p"))
    return text


def outcome(work: object) -> object:
    try:
        return work()  # type: ignore[operator]  # a function without arguments
    except CodePlaneError as error:
        return type(error)


@requirement("EDT-20")
@settings(max_examples=400, deadline=None)
@given(texts, st.lists(st.tuples(words, words, st.booleans()), max_size=6))
def test_all_at_once_is_one_after_another(raw: str, given: list[tuple[str, str, bool]]) -> None:
    swaps = [Replacement(old=old, new=new, all=every) for old, new, every in given]
    found = outcome(lambda: apply_replacements(Text(raw=raw), swaps, path="p").raw)
    assert found == outcome(lambda: one_by_one(Text(raw=raw), swaps).raw)


@requirement("EDT-20")
@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 12), st.sampled_from(["\n", "\r\n"]))
def test_far_apart_and_chained_ones(chance: object, count: int, end: str) -> None:
    lines = [f"value {number} is here" for number in range(40)]
    swaps = []
    for _ in range(count):
        number = chance.randrange(40)  # type: ignore[attr-defined]  # a random.Random
        old, new = f"value {number} is", f"value {chance.randrange(44)} is"  # type: ignore[attr-defined]
        swaps.append(Replacement(old=old, new=new))
    text = Text(raw=end.join(lines))
    found = outcome(lambda: apply_replacements(text, swaps, path="p").raw)
    assert found == outcome(lambda: one_by_one(text, swaps).raw)


@requirement("EDT-20")
def test_more_than_a_file_takes_are_refused_with_what_it_takes() -> None:
    text = Text(raw="".join(f"line {number}\n" for number in range(1_000)))
    swaps = [Replacement(old=f"line {number}\n", new=f"{number}\n") for number in range(0, 1_000, 10)]
    with pytest.raises(TooLarge, match="100 replacements") as raised:
        apply_replacements(text, swaps, path="p", most=30 * len(text.raw))
    takes = raised.value.details["limit_replacements"]
    assert isinstance(takes, int) and 1 < takes < 40
    done = apply_replacements(text, swaps[:takes], path="p", most=30 * len(text.raw))
    assert done == one_by_one(text, swaps[:takes])


def test_a_replacement_by_itself_says_what_to_send() -> None:
    with pytest.raises(EditMismatch, match="are the same") as raised:
        apply_replacements(Text(raw="a\n"), [Replacement(old="a", new="a")], path="p")
    assert raised.value.hint == "send the new text as new_text, or leave this edit out; nothing was written"
