"""A conversation that goes on: each question is known by what all of its messages are, however many are new."""

import pytest

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.model_provider import ModelRequest
from codeplane.work.models.attempt import Prompt
from codeplane.work.models.schema import CallRequest, Conversation, MessagePart, ToolCallPart, ToolPart
from tests.interaction.requirements import requirement

pytestmark = requirement("MODEL-01")

MESSAGES = [
    MessagePart(role="system", text="be brief"),
    MessagePart(role="user", text="go"),
    MessagePart(role="assistant", tool_calls=(ToolCallPart(id="1", name="search", arguments="{}"),)),
    MessagePart(role="tool", text="nothing", tool_call_id="1"),
    MessagePart(role="assistant", text="there is nothing"),
]
TOOLS = [ToolPart(name="search", description="finds")]


def ask(conversation: Conversation, messages: list[MessagePart]) -> CallRequest:
    return CallRequest.going_on(conversation, model="m", messages=messages, tools=TOOLS, reasoning="off")


def whole(messages: list[MessagePart]) -> Prompt:
    return Prompt.of(
        ModelRequest(
            model="m", messages=tuple(message.port for message in messages), tools=tuple(tool.port for tool in TOOLS)
        )
    )


def test_every_question_has_the_hash_and_the_messages_that_it_has_by_itself() -> None:
    conversation = Conversation()
    for count in (2, 4, 4, 5):
        asked = ask(conversation, MESSAGES[:count])
        alone = CallRequest(model="m", messages=tuple(MESSAGES[:count]), tools=tuple(TOOLS), reasoning="off")
        messages, tools, hashed, size = asked.prompt
        assert (messages, tools) == (whole(MESSAGES[:count]).request.messages, whole(MESSAGES).request.tools)
        assert (f"sha256:{hashed}", size) == (whole(MESSAGES[:count]).hash, whole(MESSAGES[:count]).size)
        assert asked.fingerprint() == alone.fingerprint()
    assert len({ask(Conversation(), MESSAGES[:count]).fingerprint() for count in range(2, 6)}) == 4


def test_a_question_stays_what_it_was_when_the_conversation_goes_on() -> None:
    conversation = Conversation()
    first = ask(conversation, MESSAGES[:2])
    before = first.fingerprint()
    ask(conversation, MESSAGES).fingerprint()
    assert first.fingerprint() == before and len(first.prompt[0]) == 2


@pytest.mark.parametrize(
    "wrong", [MessagePart(role="tool", text="of no call"), MessagePart(role="user", text="go", tool_call_id="1")]
)
def test_a_message_that_does_not_fit_is_refused_by_its_number(wrong: MessagePart) -> None:
    conversation = Conversation()
    ask(conversation, MESSAGES[:4]).fingerprint()
    for _ in range(2):
        with pytest.raises(InvalidArgument, match=r"messages\.4: tool_call_id"):
            ask(conversation, [*MESSAGES[:4], wrong]).fingerprint()
