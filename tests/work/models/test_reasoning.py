"""What callers see of a model's reasoning."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.work.models.model_plane import ask_model, kinds, model_plane, openai, providers, text_of
from tests.work.models.scripted_provider import DONE, answer, chunks, openai_chunk, scripted_provider

pytestmark = requirement("MODEL-06")

THOUGHT = "raw words of the model"
_SUMMARY: JsonObject = {
    "reasoning": "a summary",
    "reasoning_details": [{"type": "reasoning.summary", "summary": "a summary"}],
}
RAW = answer(
    chunks(
        openai_chunk({"reasoning_content": ""}),
        openai_chunk({"reasoning_content": THOUGHT}),
        openai_chunk({"reasoning": THOUGHT, "reasoning_content": None}),
        openai_chunk({"content": "done"}),
        openai_chunk(finish="stop"),
        DONE,
    )
)
SUMMARISED = answer(chunks(openai_chunk(_SUMMARY), openai_chunk({"content": "done"}, "stop"), DONE))


async def test_without_a_summary_only_its_length_and_duration_are_shown(tmp_path: Path) -> None:
    with scripted_provider(RAW) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            items, _ = await ask_model(opened)
            assert kinds(items) == ["thinking", "text", "finish"] and text_of(items) == "done"
            thinking = items[0]
            assert (thinking.delta, thinking.is_summary, thinking.redacted) == ("", True, True)
            assert thinking.characters == 2 * len(THOUGHT) and thinking.duration_ms is not None
            assert THOUGHT not in "".join(item.model_dump_json() for item in items)


async def test_the_providers_own_summary_is_shown(tmp_path: Path) -> None:
    with scripted_provider(SUMMARISED) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            items, _ = await ask_model(opened)
            first = items[0]
            assert (first.kind, first.delta, first.is_summary) == ("thinking", "a summary", True)


async def test_it_can_be_left_out(tmp_path: Path) -> None:
    with scripted_provider(RAW, SUMMARISED) as provider:
        async with model_plane(tmp_path, providers(openai("local", provider.url))) as opened:
            for _ in range(2):
                items, _ = await ask_model(opened, reasoning="off")
                assert kinds(items) == ["text", "finish"]


async def test_raw_words_need_the_owners_setting(tmp_path: Path) -> None:
    with scripted_provider(RAW) as provider:
        entry = providers(openai("local", provider.url))
        async with model_plane(tmp_path, entry) as opened:
            _, outcome = await ask_model(opened, reasoning="raw")
            assert outcome.error is not None and outcome.error.name == "PROVIDER_DENIED"
            assert "turns.raw_reasoning" in outcome.error.hint and provider.requests == []
        async with model_plane(tmp_path, entry, "turns.raw_reasoning=true") as opened:
            items, _ = await ask_model(opened, reasoning="raw")
            thoughts = [item for item in items if item.kind == "thinking"]
            assert [(item.delta, item.is_summary) for item in thoughts] == [(THOUGHT, False)] * 2
