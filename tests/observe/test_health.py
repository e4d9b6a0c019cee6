"""Health remembers a failed write until a good one."""

from codeplane.kernel.errors import StorageFull
from codeplane.observe.health import Health
from tests.interaction.requirements import requirement


@requirement("SRV-04")
def test_ready_until_a_record_is_lost_and_again_after_one_is_written() -> None:
    health = Health()
    assert health.problems() == []
    health.note_failure(StorageFull("the disk is full"))
    health.note_failure(StorageFull("the disk is full"))
    assert health.problems() == ["STORAGE_FULL: the disk is full"]
    health.note_commit()
    assert health.problems() == []


def test_what_was_lost_is_remembered_until_it_is_recorded() -> None:
    health = Health()
    health.note_failure(StorageFull("the disk is full"))
    health.note_failure(StorageFull("the disk is full"))
    health.note_commit()
    assert health.lost_records == 2
    health.note_failure(StorageFull("the disk is full again"))
    health.note_losses(2)
    assert health.lost_records == 1
    assert health.problems() == ["STORAGE_FULL: the disk is full again"]
