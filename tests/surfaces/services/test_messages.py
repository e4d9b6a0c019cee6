"""Messages and JSON: what has a field of its name goes there, nothing else breaks."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeplane._gen import approvals_pb2, events_pb2, system_pb2, types_pb2
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.events import event_message, gap_message
from codeplane.surfaces.services.messages import fill_message, message_arguments
from codeplane.surfaces.services.operation_response import OperationResponse
from codeplane.surfaces.services.services import SERVICES
from codeplane.surfaces.services.structs import from_struct, to_struct
from codeplane.surfaces.services.typed_methods import METHODS
from codeplane.surfaces.services.typed_streams import STREAMS
from codeplane.trust.audit.table import AUDITED
from tests.interaction.requirements import requirement

pytestmark = requirement("RPC-01")

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def as_message(wire: JsonObject) -> events_pb2.Event:
    return event_message(events_pb2.Event, wire)


class TestFilled:
    def test_names_enums_times_and_structs_find_their_fields(self) -> None:
        found = fill_message(
            approvals_pb2.Approval,
            {
                "action_id": "act_1",
                "status": "PENDING",
                "risk_class": "HIGH",
                "identity": "bot",
                "created_at": "2025-06-30T12:00:00.000000001Z",
                "expires_ns": 1_000_000_007,
                "preview": "rm -rf build",
                "reasons": ["one", "two"],
                "outcome_unknown": True,
                "unheard_of": {"x": 1},
            },
        )
        assert (found.status, found.risk_class) == (types_pb2.PENDING, types_pb2.HIGH)
        assert found.identity == types_pb2.IDENTITY_BOT
        assert found.created_at.nanos == 1 and found.expires_at.seconds == 1 and found.expires_at.nanos == 7
        assert found.preview["text"] == "rm -rf build" and found.reasons == "one; two" and found.outcome_unknown

    def test_an_enum_is_known_without_its_prefix(self) -> None:
        found = fill_message(system_pb2.Notification, {"type": "APPROVAL_EXPIRING_SOON"})
        assert found.type == types_pb2.NOTIFICATION_APPROVAL_EXPIRING_SOON

    @example({"decided_at": -62135596800000000001, "decided_ns": 2**80})
    @given(st.dictionaries(st.sampled_from([f.name for f in approvals_pb2.Approval.DESCRIPTOR.fields]), ANY_JSON))
    def test_whatever_a_result_holds_there_is_a_message(self, values: dict[str, JsonValue]) -> None:
        assert fill_message(approvals_pb2.Approval, values).SerializeToString() is not None

    def test_a_number_that_no_field_can_hold_is_left_out(self) -> None:
        found = fill_message(system_pb2.ListNotificationsRequest, {"page_size": 2**32})
        assert (
            not found.page_size and fill_message(system_pb2.ListNotificationsRequest, {"page_size": 7}).page_size == 7
        )

    def test_only_what_was_set_is_an_argument(self) -> None:
        request = approvals_pb2.ListApprovalsRequest(status=types_pb2.REJECTED, page_size=5)
        assert message_arguments(request) == {"status": "REJECTED", "page_size": 5}


class TestNumbers:
    @given(st.dictionaries(st.text(max_size=5), ANY_JSON, max_size=5))
    def test_a_struct_gives_back_what_a_double_can_hold(self, values: dict[str, JsonValue]) -> None:
        once = from_struct(to_struct(values))
        assert json.dumps(from_struct(to_struct(once)), sort_keys=True) == json.dumps(once, sort_keys=True)

    def test_whole_numbers_stay_whole_and_large_ones_exact(self) -> None:
        found = from_struct(to_struct({"small": 5, "large": 2**60, "deep": [{"at_ns": 1751284800000000001}]}))
        assert found == {"small": 5, "large": str(2**60), "deep": [{"at_ns": "1751284800000000001"}]}
        assert isinstance(found["small"], int)

    def test_half_a_character_is_escaped(self) -> None:
        found = fill_message(approvals_pb2.Approval, {"tool": "a\udcff", "preview": {"b\udcff": ["c\udcff"]}})
        assert (found.tool, from_struct(found.preview)) == ("a\\udcff", {"b\\udcff": ["c\\udcff"]})

    def test_json_has_the_numbers_themselves(self) -> None:
        answer = OperationResponse(streamed=False, result_json='{"at_ns":1751284800000000001}', meta={"a": 1})
        assert answer.to_json() == b'{"result":{"at_ns":1751284800000000001},"meta":{"a":1}}'


class TestEvents:
    def test_an_action_that_is_proposed(self) -> None:
        event = as_message(
            {
                "type": "action.created",
                "sequence": 1,
                "stream": "action/act_1",
                "payload": {
                    "action_id": "act_1",
                    "operation": "git.push",
                    "actor_kind": "agent",
                    "risk": "EXFILTRATION",
                    "idempotency_key": "k",
                    "summary": "push main to origin",
                    "body": "main → origin/main",
                    "expires_ns": 5_000_000_000,
                },
            },
        )
        made = event.proposed_action_created
        assert (made.tool, made.risk_class, made.identity) == (
            "git.push",
            types_pb2.EXFILTRATION,
            types_pb2.IDENTITY_BOT,
        )
        assert made.deterministic_summary == "push main to origin" and made.expires_at.seconds == 5
        assert made.preview["text"] == "main → origin/main" and event.data["operation"] == "git.push"

    def test_what_became_of_it(self) -> None:
        event = as_message({"type": "action.rejected", "payload": {"action_id": "act_1", "reason": "expired"}})
        changed = event.proposed_action_status_changed
        assert (changed.status, changed.reason) == (types_pb2.REJECTED, "expired")

    def test_a_commands_output(self) -> None:
        payload: JsonObject = {
            "execution_id": "e",
            "stream": "STDERR",
            "chunk": "größer\n",
            "offset_bytes": 7,
            "utf8": True,
        }
        delta = as_message({"type": "shell.output", "payload": payload}).tool_execution_output_delta
        assert (delta.stream, delta.chunk, delta.offset_bytes) == (types_pb2.STDERR, "größer\n".encode(), 7)

    @requirement("RPC-22")
    @pytest.mark.parametrize(("raw", "sent"), [("Yf8=", b"a\xff"), ("Yf8", b"a\\xff"), ("[redacted]", b"a\\xff")])
    def test_output_that_is_not_utf8_has_the_bytes_that_were_printed(self, raw: str, sent: bytes) -> None:
        payload: JsonObject = {"execution_id": "e", "stream": "STDOUT", "chunk": "a\\xff", "utf8": False, "raw": raw}
        delta = as_message({"type": "shell.output", "payload": payload}).tool_execution_output_delta
        # What is no base64 any more is shown by its text.
        assert (delta.chunk, delta.utf8) == (sent, False)

    def test_any_other_is_told_as_it_is(self) -> None:
        event = as_message({"type": "call.finished", "payload": {"status": "ok"}})
        assert event.WhichOneof("payload") is None and event.data["status"] == "ok"

    def test_a_gap(self) -> None:
        gap = gap_message(events_pb2.Event, {"stream": "s", "requested_after": 3, "first_available": 9}).stream_gap
        assert (gap.requested_from_sequence, gap.next_available_sequence) == (3, 9)
        assert isinstance(gap, events_pb2.StreamGap)


class TestTable:
    @requirement("RPC-06")
    def test_every_method_of_every_service_is_there(self) -> None:
        ours = {f"{found.service}/{found.method}" for found in METHODS}
        ours |= {f"{found.service}/{found.method}" for found in STREAMS}
        all_ = {f"{service.name}/{method.name}" for service in SERVICES for method in service.methods}
        assert all_ - ours == {f"OperationService/{name}" for name in ("Call", "Stream", "Exchange", "CallAll")}
        assert ours <= all_

    def test_a_page_is_asked_for_and_found_in_the_operations_words(self) -> None:
        (listing,) = [found for found in METHODS if found.operation == "approval.list"]
        request = approvals_pb2.ListApprovalsRequest(page_size=2, page_token="t", task_id="task_1")
        assert listing.arguments(request) == {"limit": 2, "cursor": "t", "for_task_id": "task_1"}
        result = {
            "items": [{"action_id": "act_1", "status": "REJECTED", "reason": "no"}],
            "pending": 3,
            "pagination": {"next_cursor": "u"},
        }
        answer = listing.answer(json.dumps(result))
        assert isinstance(answer, approvals_pb2.ListApprovalsResponse)
        assert (answer.next_page_token, answer.pending) == ("u", 3)
        assert answer.items[0].rejection_reason == "no"

    def test_a_single_result_can_be_the_item(self) -> None:
        (showing,) = [found for found in METHODS if found.operation == "approval.show"]
        answer = showing.answer('{"action_id": "act_1", "preview": "the diff"}')
        assert isinstance(answer, approvals_pb2.GetApprovalResponse)
        assert answer.item.preview["text"] == "the diff"


class TestMessagesOfEvents:
    def test_what_becomes_of_an_action_is_a_change_of_its_status(self) -> None:
        def changed(kind: str, outcome: str) -> events_pb2.ProposedActionStatusChanged:
            wire: JsonObject = {"type": kind, "payload": {"action_id": "act_1", "outcome": outcome}}
            return as_message(wire).proposed_action_status_changed

        done, cut_off = changed("action.executed", "ok"), changed("action.interrupted", "OUTCOME_UNKNOWN")
        assert (done.status, done.outcome, done.outcome_unknown) == (types_pb2.EXECUTED, "ok", False)
        assert (cut_off.status, cut_off.outcome_unknown) == (types_pb2.APPROVED, True)

    def test_a_reminder_is_a_notification_under_the_id_it_is_listed_by(self) -> None:
        event = as_message({"type": "action.expiring", "event_id": "e1", "payload": {"action_id": "act_1"}})
        queued = event.notification_queued
        assert (queued.notification_id, queued.type) == ("note_e1", "NOTIFICATION_APPROVAL_EXPIRING_SOON")

    def test_all_that_is_audited_has_a_message(self) -> None:
        for kind in sorted(AUDITED - {"call.finished", "call.replayed", "action.expired"}):
            event = as_message({"type": kind, "event_id": "e1", "payload": {}})
            assert event.WhichOneof("payload") is not None, kind
            if event.HasField("audit_event_recorded"):
                assert (event.audit_event_recorded.entry_id, event.audit_event_recorded.event_type) == ("e1", kind)
