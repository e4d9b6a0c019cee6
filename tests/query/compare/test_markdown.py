"""Markdown that stays what it is, whatever names and notes hold, and fits into a comment."""

from codeplane.kernel.page import Pagination
from codeplane.query.compare.answer import FileChangeInfo, ImpactInfo, SemanticDiffResult, StructuralChange
from codeplane.query.compare.markdown import MAX_CHARACTERS, markdown
from tests.interaction.requirements import requirement


def change(name: str, **more: object) -> StructuralChange:
    facts: dict[str, object] = {
        "path": "a.py",
        "kind": "function",
        "name": name,
        "change": "added",
        "structural_severity": "non_breaking",
        "behavior_change_risk": "low",
        **more,
    }
    return StructuralChange.model_validate(facts)


def made(*changes: StructuralChange, note: str = "") -> str:
    other = FileChangeInfo(path="x`y.md", status="added", category="docs", note=note or None)
    return markdown(
        head="a → b", summary="1 added", breaking=None, changes=changes, others=[other], notes=[note], hint="1. x_y"
    )


@requirement("CMP-03")
def test_names_are_code_and_words_are_plain() -> None:
    text = made(change("f", why=("<b>bold</b> *x*",)), note="[link](http://x) <script>")
    assert "\\<b\\>bold\\</b\\> \\*x\\*" in text and "\\[link\\](http://x) \\<script\\>" in text
    assert "`` x`y.md ``" in text and "1. x\\_y" in text


@requirement("CMP-03")
def test_a_fence_in_a_signature_does_not_end_the_block() -> None:
    text = made(change("f", change="signature_changed", old_signature="f('```')", new_signature="g\n()"))
    assert text.count("```") == 2 and "+ g ()" in text


@requirement("CMP-03")
def test_what_does_not_fit_is_cut_and_said() -> None:
    text = made(*(change(f"name_{number}" + "x" * 200) for number in range(1000)))
    assert len(text) < MAX_CHARACTERS + 500 and "cut here" in text
    assert text.count("<details>") == text.count("</details>")
    long = {"change": "signature_changed", "old_signature": "f(" + "a, " * 40, "new_signature": "f(" + "b, " * 40}
    text = made(*(change(f"name_{number}", **long) for number in range(1000)))
    assert text.count("```") % 2 == 0 and text.count("<details>") == text.count("</details>") and "cut here" in text


def test_what_was_not_looked_at_is_said() -> None:
    change = StructuralChange(
        path="a.py",
        kind="function",
        name="total",
        change="signature_changed",
        structural_severity="breaking",
        behavior_change_risk="high",
        impact=ImpactInfo(),
    )
    answer = SemanticDiffResult(
        summary="1 signature changed",
        files_analyzed=1,
        base="HEAD",
        target="working tree",
        structural_changes=(change,),
        agentic_hint="",
        impact_truncated=True,
        partial="not all references were looked at for 1 change",
        pagination=Pagination(),
    )
    assert "references not looked at" in answer.text()
    assert "\npartial: not all references were looked at for 1 change" in answer.text()
