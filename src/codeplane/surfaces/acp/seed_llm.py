"""Questions to a model in the dialect 0.2.1, under the policy of the client and of the server."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from pydantic_core import from_json

from codeplane.kernel.errors import (
    CodePlaneError,
    FailedModelOutput,
    InvalidArgument,
    ProviderDenied,
    ProviderUnavailable,
    RateLimited,
)
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.redaction import prompt_hash
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.seed_requests import SeedLlmCall

FEATURE = "llm.call"
_LOCAL, _EXTERNAL = "llm.apple_on_device", "llm.external"
MAX_ANSWER_BYTES = 65_536
# Snapshots of one answer that are sent, and how much longer it is in each.
_MAX_SNAPSHOTS, _SNAPSHOT_CHARACTERS = 200, 64
# Which kind of provider of ours stands for one of the specification.
_KINDS = {"claudeCode": "anthropic", "codex": "openai"}
_TEXTS: JsonObject = {"type": "array", "items": {"type": "string"}}
_TYPES: dict[str, JsonObject] = {
    "ExplorePlan": {
        "type": "object",
        "properties": {"goals": _TEXTS, "next_ops": {"type": "array", "items": {"type": "object"}}},
        "required": ["goals", "next_ops"],
    },
    "ExploreSummary": {
        "type": "object",
        "properties": {
            "repo_name": {"type": "string"},
            "languages": {"type": "object", "additionalProperties": {"type": "integer"}},
            "entrypoints": _TEXTS,
            "top_files": _TEXTS,
            "followups": _TEXTS,
        },
        "required": ["repo_name", "languages", "entrypoints", "top_files", "followups"],
    },
}


class ModelQuestions:
    """The sessions in which a model is being asked, over whichever connection."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    @contextmanager
    def alone(self, session_id: str) -> Iterator[None]:
        """Let one request of a session reach a model at a time; RateLimited for a second one."""
        if session_id in self._open:
            raise RateLimited("a model is being asked in this session", hint="wait for the answer, or session/cancel")
        self._open.add(session_id)
        try:
            yield
        finally:
            self._open.discard(session_id)


async def model_features(door: AcpDoor) -> list[JsonValue]:
    """Return the features of the specification that the configured models give: one on this machine, one of others."""
    try:
        listed = (await door.call("model.list", {}))["providers"]
    except CodePlaneError:
        # A client that may not see the models cannot ask one either.
        return []
    assert isinstance(listed, list)
    usable = [one for one in listed if any(model["allowed"] for model in one["models"])]
    kinds = {_EXTERNAL if one["external"] else _LOCAL for one in usable}
    return [name for name in (_LOCAL, _EXTERNAL) if name in kinds]


def check(asked: SeedLlmCall) -> None:
    """Raise for a call that cannot be made as it is asked."""
    if asked.expects_type is not None and asked.expects_type not in _TYPES:
        raise InvalidArgument(
            f"the type {asked.expects_type!r} is not known here", hint=f"known are {', '.join(sorted(_TYPES))}"
        )
    if asked.stream_structured and asked.expects_type is None:
        raise InvalidArgument("stream_structured needs expects_type", hint="name the type of the answer")
    if asked.provider in _KINDS and not asked.policy.allow_external_llms:
        raise ProviderDenied(
            f"{asked.provider} is a model of others, and the policy does not allow it",
            hint="set policy.allow_external_llms, or ask appleOnDevice, a model on this machine",
        )


def shown_arguments(asked: SeedLlmCall) -> JsonObject:
    """Return what updates show of a call: all but the words themselves."""
    rest = asked.model_dump(mode="json", exclude={"session_id", "prompt", "instructions"}, exclude_unset=True)
    return {**rest, "prompt_hash": prompt_hash(asked.prompt)}


class LlmCall:
    """One question, and the answer as it grows."""

    def __init__(self, door: AcpDoor, asked: SeedLlmCall, tell: Callable[[JsonValue], Awaitable[None]]) -> None:
        """`tell` is given each snapshot of a structured answer."""
        self._door = door
        self._asked = asked
        self._tell = tell
        self._text = ""
        self._snapshots = 0
        self._told_at = 0

    async def run(self) -> JsonValue:
        """Return the answer and what it used."""
        asked, finish = self._asked, JsonObject()
        async for item in self._door.stream("model.call", await self._question()):
            piece = item.model_dump(mode="json")
            match piece["kind"]:
                case "text":
                    self._text += str(piece.get("delta") or "")
                    await self._show_growth()
                case "retry" | "fallback":
                    self._text, self._told_at = "", 0
                case "finish":
                    finish = piece
        data = self._text.encode("utf-8", "replace")
        is_cut = len(data) > MAX_ANSWER_BYTES
        used: JsonObject = {
            name: finish.get(name) for name in ("model", "reason", "input_tokens", "output_tokens", "cost_usd")
        }
        cut: JsonObject = {"truncated": is_cut or bool(finish.get("truncated"))}
        if asked.expects_type is not None:
            return {"value": self._typed(asked.expects_type), **used, **cut}
        text = data[:MAX_ANSWER_BYTES].decode("utf-8", "ignore")
        return {"text": text, **used, **cut}

    async def _question(self) -> JsonObject:
        asked = self._asked
        messages: list[JsonValue] = [{"role": "system", "text": asked.instructions}] if asked.instructions else []
        question: JsonObject = {
            "model": await self._model(),
            "messages": [*messages, {"role": "user", "text": asked.prompt}],
            "reasoning": "off",
            "local_only": asked.provider not in _KINDS,
        }
        if asked.policy.temperature is not None:
            question["temperature"] = asked.policy.temperature
        if asked.policy.max_tokens is not None:
            question["max_output_tokens"] = asked.policy.max_tokens
        if asked.expects_type is not None:
            question["response_schema"] = _TYPES[asked.expects_type]
        return question

    async def _model(self) -> str:
        """Return the model that is meant, of those that the owner allows."""
        asked, kind = self._asked, _KINDS.get(self._asked.provider)
        listed = (await self._door.call("model.list", {}))["providers"]
        assert isinstance(listed, list)
        fitting = [one for one in listed if (one["kind"] == kind if kind else not one["external"])]
        names = [str(model["model"]) for one in fitting for model in one["models"] if model["allowed"]]
        if not names:
            raise ProviderUnavailable(f"no model is configured that stands for {asked.provider}", hint="see cpl models")
        wanted = asked.policy.model_id
        found = [name for name in names if not wanted or wanted in (name, name.partition("/")[2])]
        if not found:
            raise ProviderDenied(f"{wanted!r} is not among the models that may be asked as {asked.provider}")
        return found[0]

    async def _show_growth(self) -> None:
        if not self._asked.stream_structured or self._snapshots >= _MAX_SNAPSHOTS:
            return
        if self._told_at and len(self._text) - self._told_at < _SNAPSHOT_CHARACTERS:
            return
        try:
            value = from_json(self._text[max(self._text.find("{"), 0) :], allow_partial=True)
        except ValueError:
            return
        if isinstance(value, dict):
            self._snapshots, self._told_at = self._snapshots + 1, len(self._text)
            await self._tell({"value": value, "partial": True})

    def _typed(self, name: str) -> JsonObject:
        """Return the answer as the type; FailedModelOutput when it is none."""
        start, end = self._text.find("{"), self._text.rfind("}")
        try:
            value = json.loads(self._text[start : end + 1])
        except ValueError:
            raise FailedModelOutput(f"the answer is no JSON of the type {name}") from None
        required = _TYPES[name]["required"]
        assert isinstance(required, list)
        if not isinstance(value, dict) or (missing := [field for field in required if field not in value]):
            raise FailedModelOutput(f"the answer is no {name}: without {', '.join(map(str, missing))}")
        return value
