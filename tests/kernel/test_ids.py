"""Identifiers and the time."""

import os
import time
import uuid
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from codeplane.kernel.clock import SECOND_NS, SystemClock, rfc3339
from codeplane.kernel.ids import derived_event_id, digest, new_id, uuid7
from tests.interaction.requirements import requirement

LAST_NS = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * SECOND_NS
FIRST_NS = int(datetime(1, 1, 1, tzinfo=UTC).timestamp()) * SECOND_NS


@requirement("DOOR-10")
def test_uuid7_has_its_version_and_variant() -> None:
    for text in (uuid7() for _ in range(1000)):
        parsed = uuid.UUID(text)
        assert str(parsed) == text
        assert parsed.version == 7
        assert parsed.variant == uuid.RFC_4122


def test_uuid7_begins_with_the_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7()).int >> 80
    assert before <= made <= time.time_ns() // 1_000_000


def test_ids_are_unique_and_say_what_they_name() -> None:
    made = [new_id("task") for _ in range(5000)]
    assert len(set(made)) == len(made)
    assert all(name.startswith("task_") and len(name) == 25 for name in made)


def test_a_forked_process_makes_other_ids() -> None:
    new_id("x")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, new_id("x").encode())
        os._exit(0)
    os.waitpid(pid, 0)
    with os.fdopen(reader, "rb") as pipe:
        os.close(writer)
        assert pipe.read().decode() not in {new_id("x") for _ in range(300)}


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\x1f", exclude_categories=["Cs"])), min_size=1))
def test_a_derived_id_depends_on_its_parts_alone(parts: list[str]) -> None:
    assert derived_event_id(*parts) == derived_event_id(*parts)
    assert derived_event_id(*parts) != derived_event_id(*parts, "more")
    namespace = uuid.UUID("8b0c7a5e-3f6d-5d1e-9c57-0d8b1d1f6a10")
    assert derived_event_id(*parts) == str(uuid.uuid5(namespace, "\x1f".join(parts)))


def test_a_digest_is_sha256() -> None:
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@requirement("DOOR-10")
@given(st.integers(FIRST_NS, LAST_NS))
def test_times_have_one_width_and_sort_as_they_are(at_ns: int) -> None:
    text = rfc3339(at_ns)
    assert len(text) == 30
    assert text.endswith("Z")
    assert text <= rfc3339(at_ns + 1)


def test_a_time_is_exact_to_the_nanosecond() -> None:
    assert rfc3339(1_700_000_000_000_000_001) == "2023-11-14T22:13:20.000000001Z"
    assert rfc3339(0) == "1970-01-01T00:00:00.000000000Z"
    assert rfc3339(-1) == "1969-12-31T23:59:59.999999999Z"


def test_the_system_clock_tells_both_times() -> None:
    clock = SystemClock()
    assert abs(clock.now_ns() - time.time_ns()) < 60 * SECOND_NS
    assert clock.monotonic_ns() <= clock.monotonic_ns()
