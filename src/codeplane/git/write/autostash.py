"""Keeps git from storing changed secrets files when it stashes changes before a merge or rebase."""

from collections.abc import Sequence

from codeplane.git.safety.command import Git
from codeplane.git.write.git_snapshot import GitSnapshot
from codeplane.git.write.write_permission import WritePermission, describe_secrets
from codeplane.kernel.call import Call


class Autostash:
    """Choose the stash options of one call's merge or rebase."""

    def __init__(self, git: Git, permission: WritePermission, call: Call, before: GitSnapshot) -> None:
        self._git = git
        self._permission = permission
        self._call = call
        self._before = before

    async def rebase_options(self) -> list[str]:
        """Return options that keep an agent's rebase from stashing changed secrets files; a person is warned."""
        secrets = self._permission.changed_secrets(self._before.changed)
        if secrets and not self._call.actor.is_person:
            return ["--no-autostash"]
        if secrets and await self._read_setting("rebase.autoStash") == "true":
            self._warn(secrets)
        return []

    async def merge_options(self, target: str, ff: list[str]) -> list[str]:
        """Return `ff` with stash options for a merge; PathDenied when git would store an agent's changed secrets file.

        Git stores changed files before every merge that is no fast-forward, autostash or not.
        """
        secrets = self._permission.changed_secrets(self._before.changed)
        if not secrets:
            return ff
        is_stored = ff != ["--ff-only"] and not (ff == [] and await self._is_fast_forward(target))
        if self._call.actor.is_person:
            if is_stored or await self._read_setting("merge.autoStash") == "true":
                self._warn(secrets)
            return ff
        if is_stored:
            hint = (
                "git stores changed files before a merge; only move forward (ff=only, mode=ff-only), or ask the owner"
            )
            self._permission.refuse_secrets(self._call, secrets, hint=hint)
        return ["--no-autostash", *(ff or ["--ff"])]

    async def _is_fast_forward(self, target: str) -> bool:
        if await self._read_setting("merge.ff") == "false":
            return False
        head = self._before.head
        done = head and await self._git.run("merge-base", "--is-ancestor", head, target, check=False)
        return not done or done.code == 0

    async def _read_setting(self, name: str) -> str:
        return (await self._git.run("config", "--type=bool-or-str", "--get", name, check=False)).line

    def _warn(self, secrets: Sequence[str]) -> None:
        """Warn a person that git stores the content of secrets files."""
        holds = "it holds" if len(secrets) == 1 else "they hold"
        self._call.warn(
            f"{describe_secrets(secrets)}: git put aside what {holds}, and a sandbox can read what git stores"
        )
