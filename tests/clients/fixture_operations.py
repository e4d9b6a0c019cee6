"""The operations and resources that the conformance suite calls by name."""

from __future__ import annotations

import asyncio
import base64
import json
from copy import deepcopy
from typing import Final

import mcp_types as types
from pydantic import Field
from pydantic.json_schema import JsonSchemaValue

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.surfaces.mcp.resources import Content

PIXEL: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SCHEMA_2020_12: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class Nothing(Request):
    """No arguments."""


class Region(Request):
    """An argument that clients of the modern era repeat in a header."""

    region: str = Field(json_schema_extra={"x-mcp-header": "Region"})


class Contact(Request):
    """A schema that uses what JSON Schema 2020-12 has and Pydantic does not write by itself."""

    @classmethod
    def model_json_schema(cls, *args: object, **kwargs: object) -> JsonSchemaValue:
        return deepcopy(SCHEMA_2020_12)


class Greeting(Request):
    """Whom to greet."""

    name: str


class Deletion(Request):
    """What would be deleted."""

    filename: str


class Computation(Request):
    """How long a computation takes."""

    seconds: float = Field(ge=0, le=120)
    label: str = ""


class Sentence(Result):
    """A sentence."""

    said: str

    def text(self) -> str:
        return self.said


class ConformanceOperations:
    """What the suite calls; the names are its own."""

    @operation("test_simple_text", risk=Risk.READ)
    async def simple_text(self, call: Call, request: Nothing) -> Sentence:
        """Say one sentence."""
        return Sentence(said="This is a simple text response for testing.")

    @operation("test_error_handling", risk=Risk.READ)
    async def error_handling(self, call: Call, request: Nothing) -> Sentence:
        """Fail."""
        raise InvalidArgument("This tool intentionally returns an error for testing")

    @operation("test_tool_with_progress", risk=Risk.READ)
    async def with_progress(self, call: Call, request: Nothing) -> Sentence:
        """Tell how far it has come, three times."""
        for done in (0, 50, 100):
            await call.progress(done, 100, f"Completed step {done} of 100")
        return Sentence(said="done")

    @operation("test_logging_tool", risk=Risk.READ)
    async def logging(self, call: Call, request: Nothing) -> Sentence:
        """Answer without log messages, which nobody asked for."""
        return Sentence(said="nothing was logged")

    @operation("test_streaming_elicitation", risk=Risk.READ)
    async def streaming_elicitation(self, call: Call, request: Nothing) -> Sentence:
        """Answer without asking the client anything."""
        return Sentence(said="nothing was asked")

    @operation("json_schema_2020_12_tool", risk=Risk.READ)
    async def schema_2020_12(self, call: Call, request: Contact) -> Sentence:
        """Take a contact."""
        return Sentence(said="taken")

    @operation("greet", risk=Risk.READ)
    async def greet(self, call: Call, request: Greeting) -> Sentence:
        """Greet somebody, at once."""
        return Sentence(said=f"Hello, {request.name}!")

    @operation("slow_compute", risk=Risk.WRITE, timeout_sec=0)
    async def slow_compute(self, call: Call, request: Computation) -> Sentence:
        """Compute for some seconds."""
        await asyncio.sleep(request.seconds)
        return Sentence(said=f"{request.label} took {request.seconds:g} seconds")

    @operation("failing_job", risk=Risk.WRITE, timeout_sec=0)
    async def failing_job(self, call: Call, request: Nothing) -> Sentence:
        """Fail after a while."""
        await asyncio.sleep(1.5)
        raise InvalidArgument("This job intentionally fails for testing")

    @operation("confirm_delete", risk=Risk.WRITE, timeout_sec=0)
    async def confirm_delete(self, call: Call, request: Deletion) -> Sentence:
        """Take a while, without asking the client anything."""
        await asyncio.sleep(1.5)
        return Sentence(said=f"{request.filename} stays")

    @operation("test_x_mcp_header", risk=Risk.READ)
    async def x_mcp_header(self, call: Call, request: Region) -> Sentence:
        """Say which region was asked for."""
        return Sentence(said=f"region {request.region}")


class ConformanceResources:
    """What the suite reads: text, bytes and a template."""

    def list_resources(self) -> list[types.Resource]:
        return [
            types.Resource(name="text", uri="test://static-text", description="some text", mime_type="text/plain"),
            types.Resource(name="binary", uri="test://static-binary", description="a pixel", mime_type="image/png"),
        ]

    def templates(self) -> list[types.ResourceTemplate]:
        return [
            types.ResourceTemplate(
                name="template",
                uri_template="test://template/{id}/data",
                description="data by its id",
                mime_type="application/json",
            )
        ]

    async def read(self, uri: str, caller: Caller) -> Content | None:
        if uri == "test://static-text":
            text = "This is the content of the static text resource."
            return types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        if uri == "test://static-binary":
            return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=base64.b64encode(PIXEL).decode())
        if uri.startswith("test://template/") and uri.endswith("/data"):
            found = json.dumps({"id": uri.split("/")[3], "templateTest": True})
            return types.TextResourceContents(uri=uri, mime_type="application/json", text=found)
        return None
