"""Operations that come and go while the plane runs: through the door like all others, refused where they must be."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.call import Call, Operation
from codeplane.kernel.catalogue import MAX_DECLARED, Catalogue, CatalogueChange
from codeplane.kernel.declared_operation import DeclaredResult, declare
from codeplane.kernel.declared_schema import DeclaredSchema
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, SchemaRefused, TooLarge
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Risk
from codeplane.trust.policy.lint import InputVocabulary
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, events, plane
from tests.trust.approvals.agent_calls import action_of, refused, result

pytestmark = requirement("EXT-01")

NAME = "ext.tracker.create_issue"
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 20},
        "labels": {"type": "array", "items": {"$ref": "#/$defs/label"}},
        "priority": {"enum": ["low", "high"]},
        "session_id": {"type": "string"},
        "options": {"type": "object", "properties": {"depth": {"type": "integer", "maximum": 3}}},
    },
    "required": ["title"],
    "additionalProperties": False,
    "$defs": {"label": {"type": "string"}},
}


def tool(name: str = NAME, *, risk: Risk = Risk.READ, schema: JsonObject = SCHEMA) -> Operation:
    async def handler(call: Call, arguments: JsonObject) -> DeclaredResult:
        return DeclaredResult(content=arguments, source="tracker")

    return declare(name, description="Create an issue.\nMore of it.", schema=schema, risk=risk, handler=handler)


class TestThroughTheDoor:
    async def test_it_is_called_listed_recorded_counted_and_known_to_rules_until_it_is_removed(
        self, tmp_path: Path
    ) -> None:
        async with plane(tmp_path) as opened:
            catalogue, ask = opened.conveyor.catalogue, opened.conveyor.call
            assert refused(await ask(NAME, {"title": "x"}, OWNER)) == "UNKNOWN_OPERATION"
            catalogue.change(add=[tool()])
            given: JsonObject = {"title": "x", "labels": ["bug"], "session_id": "theirs", "options": {"depth": 2}}
            answered = result(await ask(NAME, given, OWNER))
            assert answered["content"] == given
            assert result(await ask("ext_tracker_create_issue", {"title": "x"}, AGENT))["content"] == {"title": "x"}
            ends = [event for event in await events(opened) if event.type == "call.finished"]
            assert [end.payload["operation"] for end in ends if end.payload["operation"] == NAME] == [NAME] * 2
            listed = result(await ask("operation.list", {"name": NAME}, OWNER))["operations"]
            assert isinstance(listed, list) and isinstance(listed[0], dict)
            assert str(listed[0]["usage"]).startswith(f"{NAME}(title: string, labels?: [string], priority?: low|high")
            assert f'operation="{NAME}"' in opened.metrics.render()[0].decode()
            assert NAME in InputVocabulary.of(catalogue).values["operation", "name"]
            catalogue.change(remove=[NAME])
            assert refused(await ask(NAME, {"title": "x"}, OWNER)) == "UNKNOWN_OPERATION"
            assert NAME not in InputVocabulary.of(catalogue).values["operation", "name"]

    async def test_what_it_answers_is_not_trusted(self, tmp_path: Path) -> None:
        async with plane(tmp_path, operations=[FixtureOps()]) as opened:
            opened.conveyor.catalogue.change(add=[tool()])
            result(await opened.conveyor.call(NAME, {"title": "x"}, AGENT))
            marks = [event for event in await events(opened) if event.type.startswith("content.")]
            assert marks and marks[0].payload["source"] == "tool"

    async def test_one_that_reaches_out_asks_a_person(self, tmp_path: Path) -> None:
        async with plane(tmp_path) as opened:
            opened.conveyor.catalogue.change(add=[tool(risk=Risk.EXFILTRATION)])
            assert action_of(await opened.conveyor.call(NAME, {"title": "x"}, AGENT))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({}, "'title' is required"),
            ({"title": 7}, "title: must be string"),
            ({"title": ""}, "title: at least 1 characters"),
            ({"title": "x" * 21}, "title: at most 20 characters"),
            ({"title": "x", "tilte": "y"}, "unknown argument 'tilte'; did you mean 'title'?"),
            ({"title": "x", "labels": ["a", 7]}, "labels[1]: must be string"),
            ({"title": "x", "priority": "mid"}, 'priority: must be one of "low", "high"'),
            ({"title": "x", "options": {"depth": 9}}, "options.depth: at most 3"),
            ({"title": "x", "options": {"depth": True}}, "options.depth: must be integer"),
        ],
    )
    async def test_wrong_arguments_are_explained(self, tmp_path: Path, arguments: JsonObject, message: str) -> None:
        async with plane(tmp_path) as opened:
            opened.conveyor.catalogue.change(add=[tool()])
            error = (await opened.conveyor.call(NAME, arguments, OWNER)).error
            assert isinstance(error, InvalidArgument) and message in error.message
            assert error.hint.startswith(f"send: {NAME}(")

    async def test_one_that_vanishes_while_it_runs_ends_with_a_typed_error(self, tmp_path: Path) -> None:
        started, ended = asyncio.Event(), asyncio.Event()

        async def handler(call: Call, arguments: JsonObject) -> DeclaredResult:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            raise AssertionError("it waits")

        async with plane(tmp_path) as opened:
            added = declare(NAME, description="Wait.", schema={}, risk=Risk.WRITE, handler=handler)
            opened.conveyor.catalogue.change(add=[added])
            waiting = asyncio.create_task(opened.conveyor.call(NAME, {}, OWNER))
            await started.wait()
            # Another of the same name does not keep it.
            opened.conveyor.catalogue.change(remove=[NAME], add=[tool()])
            outcome = await waiting
            assert refused(outcome) == "OPERATION_GONE" and ended.is_set()
            assert result(await opened.conveyor.call(NAME, {"title": "x"}, OWNER))["content"] == {"title": "x"}

    async def test_a_setting_may_name_one_that_comes_later(self, tmp_path: Path) -> None:
        async with plane(tmp_path, f'trust.allow=["{NAME}"]') as opened:
            opened.conveyor.catalogue.change(add=[tool(risk=Risk.EXFILTRATION)])
            outcome: Outcome = await opened.conveyor.call(NAME, {"title": "x"}, AGENT)
            assert outcome.error is None or outcome.error.name == "APPROVAL_PENDING"


class TestCatalogue:
    def test_a_change_is_all_or_none_and_told_once(self) -> None:
        catalogue, heard = Catalogue(), list[CatalogueChange]()
        end = catalogue.listen(heard.append)
        catalogue.change(add=[tool(), tool("ext.tracker.list")])
        with pytest.raises(InvalidArgument, match="same tool"):
            catalogue.change(add=[tool("ext.tracker.show"), tool()])
        with pytest.raises(InvalidArgument, match="not declared"):
            catalogue.change(remove=[NAME, "search"])
        assert [found.name for found in catalogue] == [NAME, "ext.tracker.list"] and catalogue.version == 1
        catalogue.change(remove=[NAME], add=[tool()])
        end()
        catalogue.change(remove=["ext.tracker.list"])
        assert heard == [
            CatalogueChange(added=(NAME, "ext.tracker.list"), removed=()),
            CatalogueChange(added=(NAME,), removed=(NAME,)),
        ]

    def test_names_that_would_be_one_tool_are_refused(self) -> None:
        catalogue = Catalogue()
        with pytest.raises(InvalidArgument, match="same tool"):
            catalogue.change(add=[tool("ext.a.b_c"), tool("ext.a.b.c")])
        assert not list(catalogue)

    def test_too_many_are_refused(self) -> None:
        catalogue = Catalogue()
        with pytest.raises(TooLarge):
            catalogue.change(add=[tool(f"ext.s.t{number}", schema={}) for number in range(MAX_DECLARED + 1)])

    @pytest.mark.parametrize("name", ["search", "ext.tool", "git.x.y", "ext.a.b c", "ext..b", "ext.a." + "b" * 100])
    def test_a_name_that_could_be_ours_is_refused(self, name: str) -> None:
        with pytest.raises(InvalidArgument, match="no name"):
            tool(name)


class TestSchemas:
    @pytest.mark.parametrize(
        ("schema", "message"),
        [
            ({"type": "string"}, "not that of an object"),
            ([], "not a JSON object"),
            ({"properties": {"a": {"$ref": "#"}}}, "recursive"),
            ({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}}, "recursive"),
            ({"properties": {"a": {"$ref": "https://example.org/schema"}}}, "refers to"),
            ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "does not have"),
            ({"properties": {"a": {"description": "x" * 70_000}}}, "bytes"),
            ({"properties": {f"a{number}": {} for number in range(2001)}}, "parts"),
            ({"properties": {"a": 7}}, "where a schema belongs"),
        ],
    )
    def test_a_schema_that_cannot_be_read_is_refused(self, schema: object, message: str) -> None:
        with pytest.raises(SchemaRefused, match=message) as caught:
            DeclaredSchema.parse(schema)
        assert caught.value.hint

    def test_depth_and_growth_by_references_are_bounded(self) -> None:
        deep: JsonObject = {}
        for _ in range(20):
            deep = {"properties": {"a": deep}}
        with pytest.raises(SchemaRefused, match="deeper"):
            DeclaredSchema.parse(deep)
        laughs: dict[str, JsonValue] = {"d0": {"type": "string"}}
        for number in range(1, 12):
            reference: JsonValue = {"$ref": f"#/$defs/d{number - 1}"}
            laughs[f"d{number}"] = {"anyOf": [reference] * 4}
        with pytest.raises(SchemaRefused):
            DeclaredSchema.parse({"properties": {"a": {"$ref": "#/$defs/d11"}}, "$defs": laughs})

    ANYTHING = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "items", "anyOf", "$ref", "required", "enum", "a"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )

    @given(schema=ANYTHING, arguments=st.dictionaries(st.text(max_size=3), ANYTHING, max_size=3))
    def test_any_document_is_a_schema_or_refused(self, schema: JsonValue, arguments: dict[str, JsonValue]) -> None:
        try:
            parsed = DeclaredSchema.parse(schema)
        except CodePlaneError as error:
            assert error.name == "SCHEMA_REFUSED"
            return
        assert len(parsed.problems(arguments)) <= 8 and isinstance(parsed.usage(), str)
