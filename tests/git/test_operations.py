"""The writing operations as a catalogue has them."""

from pathlib import Path

from codeplane.git.write.operations import GitWrites
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.operation import Budget, Risk
from tests.git.desk import simple
from tests.interaction.requirements import requirement

READS = {"git.rebase_plan", "git.worktree_open"}
OUTWARD = {"git.fetch", "git.pull", "git.push", "git.submodule_add", "git.submodule_update"}
ALWAYS_JUDGED = {
    "git.amend",
    "git.checkout",
    "git.cherrypick",
    "git.delete_branch",
    "git.delete_tag",
    "git.discard",
    "git.merge",
    "git.rebase_abort",
    "git.rebase_execute",
    "git.rebase_skip",
    "git.reset",
    "git.revert",
    "git.stash_drop",
    "git.submodule_deinit",
    "git.submodule_remove",
    "git.worktree_remove",
}


@requirement("GIT-08")
def test_every_mutation_counts_and_what_can_lose_something_is_judged_and_previewed(tmp_path: Path) -> None:
    catalogue = Catalogue(GitWrites.over(simple(tmp_path).writer).all)
    names = {operation.name for operation in catalogue}
    assert len(names) == 39
    for operation in catalogue:
        assert operation.mark.timeout_sec == 0 or operation.name in READS, "git's own limits end it"
        if operation.name in READS:
            assert operation.mark.risk is Risk.READ
            continue
        assert operation.mark.budget is Budget.MUTATION
        assert operation.mark.capability == ("execute_tools" if operation.name in OUTWARD else "write_files")
        assert (operation.mark.risk is Risk.EXFILTRATION) is (operation.name in OUTWARD)
    for name in ALWAYS_JUDGED:
        found = catalogue.get(name)
        assert found.assess is not None and found.preview is not None, name
    assert all(catalogue.get(name).assess is not None for name in OUTWARD)
