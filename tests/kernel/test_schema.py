"""Schemas: all that an agent needs to know, and not a byte more."""

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Request, Result, Risk, operation
from codeplane.kernel.schema import input_schema, output_schema
from tests.interaction.requirements import requirement


class Part(Request):
    """A part of the request."""

    title: str = Field(description="what it is called")
    size: int | None = None


class Wanted(Request):
    """Said elsewhere."""

    paths: tuple[str, ...] = ()
    default: str | None = Field(None, description="a field of that name")
    either: int | str | None = None
    limit: int = Field(20, ge=1, le=100)
    deep: bool = False
    part: Part | None = None


class Found(Result):
    """What was found."""

    name: str
    note: str | None = None


class Ops:
    @operation("find", risk=Risk.READ)
    async def find(self, call: Call, request: Wanted) -> Found:
        """Find."""
        return Found(name="")

    @operation("change", risk=Risk.WRITE)
    async def change(self, call: Call, request: Wanted) -> Found:
        """Change."""
        return Found(name="")


CATALOGUE = Catalogue([Ops()])


def properties(schema: JsonObject) -> JsonObject:
    found = schema["properties"]
    assert isinstance(found, dict)
    return found


@requirement("DOOR-04")
def test_titles_null_branches_and_empty_defaults_are_left_out() -> None:
    schema = input_schema(CATALOGUE.get("find"))
    assert schema["type"] == "object"
    assert "description" not in schema
    assert "additionalProperties" not in dumps(schema)
    assert '"null"' not in dumps(schema)
    assert properties(schema)["paths"] == {"items": {"type": "string"}, "type": "array"}
    assert properties(schema)["limit"] == {"default": 20, "maximum": 100, "minimum": 1, "type": "integer"}
    assert properties(schema)["deep"] == {"type": "boolean"}
    assert properties(schema)["either"] == {"anyOf": [{"type": "integer"}, {"type": "string"}]}


def test_fields_whose_names_are_words_of_the_schema_stay() -> None:
    schema = input_schema(CATALOGUE.get("find"))
    assert properties(schema)["default"] == {"type": "string", "description": "a field of that name"}
    parts = schema["$defs"]
    assert isinstance(parts, dict)
    assert properties(parts["Part"])["title"] == {"type": "string", "description": "what it is called"}
    assert parts["Part"]["required"] == ["title"]


def test_only_what_changes_something_takes_a_key() -> None:
    assert "idempotency_key" not in properties(input_schema(CATALOGUE.get("find")))
    assert properties(input_schema(CATALOGUE.get("change")))["idempotency_key"] == {"type": "string"}


def test_it_is_a_third_smaller_than_what_pydantic_writes() -> None:
    assert len(dumps(input_schema(CATALOGUE.get("find")))) * 3 < len(dumps(Wanted.model_json_schema())) * 2


def test_an_output_says_what_can_be_null() -> None:
    schema = output_schema(CATALOGUE.get("find"))
    assert properties(schema)["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema["required"] == ["name"]
