"""An agent that writes a hook and has git run it comes no nearer to the token, the policies or the settings of git."""

from pathlib import Path

from tests.git.test_guarded_programs import needs_bubblewrap
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, plane

pytestmark = requirement("TRUST-48")

HOOK = """#!/bin/sh
cp .codeplane/owner.token taken.txt
mkdir -p .codeplane/policy && cp README.md .codeplane/policy/mine.rego
cp README.md .codeplane/config.yaml
cp README.md .git/hooks/post-commit
git config core.fsmonitor ./README.md
echo ran > ran.txt
"""


@needs_bubblewrap
async def test_a_planted_hook_takes_nothing(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"README.md": "# shop\n", ".husky/pre-commit": "#!/bin/sh\n"})
    (repo / ".husky" / "pre-commit").chmod(0o755)
    git(repo, "commit", "--quiet", "--all", "--message", "executable")
    for name, value in (("core.hooksPath", ".husky"), ("user.name", "Test"), ("user.email", "test@example.com")):
        git(repo, "config", name, value)
    settings = (repo / ".git" / "config").read_bytes()
    async with plane(repo) as opened:
        edits = [{"path": ".husky/pre-commit", "content": HOOK}]
        wrote = await opened.conveyor.call("write_files", {"edits": edits}, AGENT)
        assert wrote.error is None
        made = await opened.conveyor.call("git.commit", {"message": "x", "paths": [".husky/pre-commit"]}, AGENT)
        assert made.error is None
    assert (repo / "ran.txt").exists()
    assert not (repo / "taken.txt").exists()
    assert not list((repo / ".codeplane").glob("policy/*"))
    assert not (repo / ".codeplane" / "config.yaml").exists()
    assert not (repo / ".git" / "hooks" / "post-commit").exists()
    assert (repo / ".git" / "config").read_bytes() == settings
