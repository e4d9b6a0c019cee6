"""A plan in the words of an answer: what is certain and what waits are counted apart, and places are shown."""

import re
from pathlib import Path
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import asking
from tests.query.asking import result
from tests.refactor.test_operations import made

_OPEN = 14
MAIL = {
    "mail.py": "class Mail:\n    def send(self):\n        return 1\n\n\ndef first():\n    return Mail().send()\n",
    "uses.py": "".join(f"def use{at}(one):\n    return one.send() + {at}\n\n\n" for at in range(_OPEN)),
}
FAMILY = MAIL | {"fast.py": "from mail import Mail\n\n\nclass Fast(Mail):\n    def send(self):\n        return 2\n"}


@requirement("REF-40")
async def test_certain_edits_and_places_to_decide_are_counted_apart(tmp_path: Path) -> None:
    root = made(tmp_path, MAIL)
    async with asking(root) as ask:
        planned = await ask("refactor.rename", symbol="Mail.send", new_name="post")
        head, *lines = str(planned["text"]).splitlines()
        assert head.endswith(": 2 certain edits in 1 file; 14 places wait for a decision")
        assert lines[:2] == ["certain:", "mail.py 2:9 7:19"]
        shown = [line for line in lines if re.match(r"  #\d+ uses\.py:\d+ return one\.send\(\) \+ \d+$", line)]
        assert len(shown) == 10
        numbers = set(re.findall(r"#(\d+)[ =]", "\n".join(lines)))
        assert len(numbers) == _OPEN
        done = result(await ask("refactor.rename", refactor_id=result(planned)["refactor_id"], exclude=["anchored"]))
        delta = cast(JsonObject, cast(JsonObject, done["applied"])["delta"])
        assert [one["path"] for one in cast(list[JsonObject], delta["files"])] == ["mail.py"]


@requirement("REF-40")
@pytest.mark.parametrize("files", [MAIL, FAMILY], ids=["one", "family"])
async def test_no_call_is_suggested_that_leaves_places_nobody_looked_at(tmp_path: Path, files: dict[str, str]) -> None:
    root = made(tmp_path, files)
    async with asking(root) as ask:
        text = str((await ask("refactor.rename", symbol="Mail.send", new_name="post"))["text"])
        assert re.search(r"refactor_rename refactor_id=\S+ .*include=\[#NUMBER, …\]", text), text
        assert set(re.findall(r"exclude=(\S+ \S+)", text)) == {"[#NUMBER, …]"}


@requirement("REF-40")
async def test_the_answer_of_an_apply_counts_what_was_left(tmp_path: Path) -> None:
    root = made(tmp_path, MAIL)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="Mail.send", new_name="post"))
        done = await ask("refactor.rename", refactor_id=plan["refactor_id"], exclude=["anchored"])
        left = next(line for line in str(done["text"]).splitlines() if line.startswith("left alone"))
        assert left.startswith("left alone, 14 places not sure: uses.py:2 ") and left.endswith(" and 4 more")


@requirement("REF-40")
async def test_each_page_says_which_kinds_of_places_it_lists(tmp_path: Path) -> None:
    root = made(tmp_path, MAIL | {"README.md": "Call `Mail.send` once.\n"})
    async with asking(root) as ask:
        found = await ask("refactor.rename", symbol="Mail.send", new_name="post", limit=6)
        pages = [str(found["text"])]
        while cursor := cast(JsonObject, result(found)["pagination"]).get("next_cursor"):
            found = await ask("refactor.rename", cursor=cursor, limit=6)
            pages.append(str(found["text"]))
        assert [re.findall(r"^this page: .*$", page, re.MULTILINE) for page in pages] == [
            ["this page: 1-6 of 17: 2 certain, 4 to decide"],
            ["this page: 7-12 of 17: 6 to decide"],
            ["this page: 13-17 of 17: 4 to decide, 1 in comments and documentation"],
        ]
        heads = {page.splitlines()[0].partition(" to post: ")[2] for page in pages}
        assert heads == {
            "2 certain edits in 1 file and 1 word in comments and documentation; 14 places wait for a decision"
        }
        assert "… and 4 more to decide: on the next pages" in pages[0]
        assert "more to decide" not in pages[1] + pages[2]


@requirement("REF-40")
async def test_a_question_about_candidates_shows_the_places_to_decide(tmp_path: Path) -> None:
    root = made(tmp_path, FAMILY)
    async with asking(root) as ask:
        asked = await ask("refactor.rename", symbol="Mail.send", new_name="post")
        text = str(asked["text"])
        assert re.search(r"family: .* \(3 certain edits in 2 files; 14 places wait for a decision\)", text), text
        assert len(re.findall(r"^  #\d+ uses\.py:\d+ return one\.send\(\)", text, re.MULTILINE)) == 10
        more = re.search(r"… and 4 more to decide: refactor_rename refactor_id=(\S+) candidate=(\w+) lists", text)
        assert more is not None, text
        listed = await ask("refactor.rename", refactor_id=more[1], candidate=more[2])
        assert result(listed)["status"] == "needs_decision"
        assert len(set(re.findall(r"#(\d+)[ =]", str(listed["text"])))) == _OPEN


@requirement("REF-40")
@pytest.mark.parametrize("files", [MAIL, FAMILY], ids=["one", "family"])
async def test_a_decision_that_names_no_place_is_answered_with_the_places(
    tmp_path: Path, files: dict[str, str]
) -> None:
    root = made(tmp_path, files)
    async with asking(root) as ask:
        plan = result(await ask("refactor.rename", symbol="Mail.send", new_name="post"))
        chosen = {"selected_candidate_id": "family"} if files is FAMILY else {}
        proof = {"file_line_evidence": [{"file": "mail.py", "line": 2, "content": "    def send(self):"}]}
        found = await ask("decision.commit", plan_id=plan["refactor_id"], proof=proof, **chosen)
        assert result(found)["status"] == "needs_decision"
        first = cast(list[JsonObject], result(found)["first_open"])
        assert [(one["path"], one["line"], one["content"]) for one in first[:2]] == [
            ("uses.py", 2, "return one.send() + 0"),
            ("uses.py", 6, "return one.send() + 1"),
        ]
        for one in first:
            assert f"  #{one['id']} {one['path']}:{one['line']} {one['content']}" in str(found["text"])
