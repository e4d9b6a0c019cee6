"""Whatever a person may be asked about shows what it would do, in words of its own."""

from pathlib import Path

from codeplane.kernel.operation import Risk
from tests.interaction.requirements import requirement
from tests.kernel.plane import plane

pytestmark = requirement("TRUST-41")

GRAVE = frozenset({Risk.DESTRUCTIVE, Risk.EXFILTRATION, Risk.HIGH})
# Operations that may be asked about and show their arguments alone, each with the reason.
EXCEPTIONS: dict[str, str] = {}


async def test_every_operation_that_is_grave_or_judged_by_its_arguments_has_a_preview_of_its_own(
    tmp_path: Path,
) -> None:
    async with plane(tmp_path, "embeddings.model=none", "index.watch=false") as opened:
        found = list(opened.conveyor.catalogue)
        asked = {one.name for one in found if one.mark.risk in GRAVE or one.assess is not None}
        assert {"git.push", "run_bash", "write_files", "ledger.retain", "git.clone"} <= asked, "the whole catalogue"
        bare = {one.name for one in found if one.name in asked and one.preview is None}
        assert bare == EXCEPTIONS.keys()
        assert all(EXCEPTIONS.values())
