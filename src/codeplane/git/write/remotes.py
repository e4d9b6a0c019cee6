"""`git.fetch`, `git.push` and `git.pull`."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from codeplane.git.read.git_error import git_error, redact_urls
from codeplane.git.read.repository import read_plain_file
from codeplane.git.safety.command import GitOutput
from codeplane.git.safety.loss import Loss, kinds_of, lost_commits, preview_losses
from codeplane.git.safety.loss_finder import ONELINE, LossFinder
from codeplane.git.write.exchange import Exchange, bound_to
from codeplane.git.write.git_delta import Changed
from codeplane.git.write.merge_source import message_of, ranges
from codeplane.git.write.merges import MergeResult, merge_result, stopped_or_raise
from codeplane.git.write.preview_facts import PreviewFacts
from codeplane.git.write.push_spec import PushSpec
from codeplane.git.write.remote_names import RemoteName, find_remote, remote_environment
from codeplane.git.write.revision import MAX_REF, check_ref, ref_not_found
from codeplane.git.write.writer import Writer
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused, InvalidArgument
from codeplane.kernel.operation import Assessment, Budget, Kind, Preview, Result, Risk, assesses, operation, previews
from codeplane.kernel.workspace_request import WorkspaceRequest

_HEADS = "refs/heads/"
_REMOTE = Field("", max_length=250, description="its name; the branch's own, or origin, without it")
_MAX_SAID = 1000


class FetchRequest(WorkspaceRequest):
    """From where."""

    remote: str = _REMOTE
    prune: bool = Field(False, description="forget branches that the remote has no longer")
    tags: bool = False
    complete: bool = Field(False, description="in a partial clone: also every object that was left out")


class PullRequest(WorkspaceRequest):
    """From where, and what becomes of commits on both sides."""

    remote: str = _REMOTE
    ref: str = Field("", max_length=MAX_REF, description="the remote's branch; else the upstream")
    mode: Literal["ff-only", "merge", "rebase"] = "ff-only"


class PushRequest(WorkspaceRequest):
    """What to push, and where."""

    remote: str = _REMOTE
    ref: str = Field("", max_length=MAX_REF, description="branch or tag; else the branch that is checked out")
    force: bool = Field(False, description="replace what is there, if it is as last fetched")
    set_upstream: bool = False
    tags: bool = Field(False, description="all tags, too")
    delete: bool = Field(False, description="remove ref on the remote")


class PushedRef(Result):
    """What became of one ref of the remote."""

    ref: str
    summary: str


class PushResult(Changed):
    """What the remote took; it cannot be undone from here."""

    remote: str
    pushed: tuple[PushedRef, ...]
    said: str = ""

    def text(self) -> str:
        lines = [
            f"pushed to {self.remote}, which cannot be undone",
            *(f"{ref.ref} {ref.summary}" for ref in self.pushed),
        ]
        return "\n".join([*lines, *([self.said] if self.said else [])])


class RemoteWrites:
    """Exchange commits with the configured remotes, with git's credentials and without prompting."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = LossFinder(writer.git)

    @operation("git.fetch", risk=Risk.EXFILTRATION, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=0)
    async def fetch(self, call: Call, request: FetchRequest) -> Changed:
        """Fetch a remote's branches; nothing that is checked out changes, and it cannot be undone."""
        remote = await asyncio.to_thread(find_remote, self._git, request.remote)
        async with self._writer.mutation(call, "fetch", undoable=False) as mutation:
            options = [*(["--prune"] if request.prune else []), *(["--tags"] if request.tags else [])]
            options += ["--refetch", "--no-filter"] if request.complete else []
            await self._run_remote("fetch", "--quiet", "--no-recurse-submodules", *options, "--", remote.name)
            return Changed(delta=await mutation.finish())

    @operation("git.pull", risk=Risk.EXFILTRATION, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=0)
    async def pull(self, call: Call, request: PullRequest) -> MergeResult:
        """Fetch and bring the branch forward: ff-only, merge, or rebase; undo takes back the local part."""
        remote = await asyncio.to_thread(find_remote, self._git, request.remote)
        ref = [_refspec(request.ref)] if request.ref else []
        async with self._writer.mutation(call, "pull", calm=True, undoes=(_HEADS,)) as mutation:
            await self._run_remote("fetch", "--quiet", "--no-recurse-submodules", "--", remote.name, *ref)
            target, what = await self._fetch_head()
            head = mutation.before.head
            await mutation.reach_between(*await ranges(self._git, head, target), (head, target))
            rebases = request.mode == "rebase" and head is not None
            await mutation.keep_losses(commits=[head] if rebases and head else [], work=False, replaced=True)
            if rebases:
                left = await self._git.run("rev-list", "--no-merges", "HEAD", f"^{target}")
                await self._writer.permission.admit_commits(call, left.line.split())
                aside = await mutation.autostash.rebase_options()
                done = await self._run_remote("rebase", "--quiet", *aside, target, check=False)
            else:
                only = request.mode == "ff-only"
                how = [] if only else ["-m", await message_of(self._git, target, what)]
                options = await mutation.autostash.merge_options(target, ["--ff-only"] if only else [])
                done = await self._run_remote("merge", "--quiet", *options, *how, target, check=False)
            delta = await mutation.finish()
            stopped_or_raise(done, delta, request.mode)
            return merge_result(delta, fastforward=delta.head == target and delta.head != delta.head_before)

    @operation("git.push", risk=Risk.EXFILTRATION, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=0)
    async def push(self, call: Call, request: PushRequest) -> PushResult:
        """Push a branch or tag; force replaces only what is as it was last fetched. It cannot be undone."""
        remote = await asyncio.to_thread(find_remote, self._git, request.remote, push=True)
        what = await asyncio.to_thread(self._push_ref, request)
        approved = PushSpec.from_pins(call.pins)
        options = ["--delete"] if request.delete else []
        if approved is None:
            options += ["--force-with-lease"] if request.force else []
            options += ["--set-upstream"] if request.set_upstream else []
            options += ["--tags"] if request.tags else []
        elif request.force:
            options.append(approved.lease())
        async with self._writer.mutation(call, "push", undoable=False) as mutation:
            specs = [what]
            if approved is not None:
                specs = await asyncio.to_thread(self._approved_specs, request, remote, approved)
            done = await self._run_remote(
                "push", "--porcelain", "--no-recurse-submodules", *options, "--", remote.name, *specs, check=False
            )
            if done.code != 0:
                raise git_error("push", "\n".join([*_rejected_refs(done), done.err]), done.code)
            if approved is not None and request.set_upstream:
                await approved.tracks(self._git, remote.name)
            return PushResult(
                delta=await mutation.finish(),
                remote=str(remote),
                pushed=_refs(done),
                said="\n".join(line for line in redact_urls(done.err).splitlines() if "remote:" in line)[:_MAX_SAID],
            )

    @assesses("git.fetch")
    def assess_fetch(self, request: FetchRequest) -> Assessment:
        """Assess the access to the remote."""
        return _outward(find_remote(self._git, request.remote), "fetches from")

    @previews("git.fetch")
    async def preview_fetch(self, request: FetchRequest) -> Preview:
        """Preview the address and what is fetched."""
        return await asyncio.to_thread(self._preview_fetch, request)

    @assesses("git.pull")
    def assess_pull(self, request: PullRequest) -> Assessment:
        """Assess the access to the remote, and the loss of ignored files in the way, as of the last fetch."""
        remote = find_remote(self._git, request.remote)
        return _outward(remote, "fetches from", lost=self._lost_by_pull(request, remote))

    @previews("git.pull")
    async def preview_pull(self, request: PullRequest) -> Preview:
        """Preview the address, the commits and the ignored files in the way, as of the last fetch."""
        return await asyncio.to_thread(self._preview_pull, request)

    @assesses("git.push")
    def assess_push(self, request: PushRequest) -> Assessment:
        """Assess a push; replacing or deleting what the remote has is destructive."""
        remote = find_remote(self._git, request.remote, push=True)
        return _outward(
            remote,
            "pushes to",
            lost=self._find_losses(request, remote),
            urls=PreviewFacts(self._git).addresses(remote.name, push=True),
            trusted_as=self._trust_scope(request, remote),
            kinds=self._kinds(request, remote),
        )

    @previews("git.push")
    async def preview_push(self, request: PushRequest) -> Preview:
        """Preview the commits, their name on the remote, and what the remote loses."""
        return await asyncio.to_thread(self._preview_push, request)

    def _preview_fetch(self, request: FetchRequest) -> Preview:
        remote = find_remote(self._git, request.remote)
        exchange = Exchange(self._git, remote.name)
        facts = [*exchange.places(push=False), *exchange.describe_fetch(prune=request.prune, tags=request.tags)]
        facts += ["with every object that this partial clone left out"] if request.complete else []
        bound = bound_to(self._git, [f"refs/remotes/{remote.name}/"] if request.prune else [])
        return preview_losses(f"Fetch from {remote}", [], facts, bound=bound)

    def _preview_pull(self, request: PullRequest) -> Preview:
        remote = find_remote(self._git, request.remote)
        lost = self._lost_by_pull(request, remote)
        exchange = Exchange(self._git, remote.name)
        facts = [*exchange.places(push=False), *exchange.describe_pull(request.ref, request.mode)]
        return preview_losses(f"Pull {f'{request.ref} ' if request.ref else ''}from {remote}", lost, facts)

    def _preview_push(self, request: PushRequest) -> Preview:
        remote = find_remote(self._git, request.remote, push=True)
        what, lost = self._push_ref(request), self._find_losses(request, remote)
        exchange = Exchange(self._git, remote.name)
        facts = exchange.places(push=True)
        if request.delete:
            facts += exchange.describe_delete(what)
            return preview_losses(f"Delete {what} on {remote}", lost, facts, kept=False)
        facts += exchange.describe_push(what, force=request.force, tags=request.tags)
        facts += ["and it becomes the branch's upstream"] if request.set_upstream else []
        tags = request.tags or exchange.follows_tags
        bound = bound_to(self._git, ["refs/tags/"] if tags else [])
        forced = "Force-push" if request.force else "Push"
        preview = preview_losses(f"{forced} {what} to {remote}", lost, facts, bound=bound, kept=False)
        return replace(preview, pins=PushSpec.of(self._git, exchange, what, tags=tags).pins)

    def _approved_specs(self, request: PushRequest, remote: RemoteName, approved: PushSpec) -> list[str]:
        along = Exchange(self._git, remote.name).follows_tags
        return approved.specs(self._git, all_tags=request.tags, along=along)

    def _lost_by_pull(self, request: PullRequest, remote: RemoteName) -> list[Loss]:
        there = Exchange(self._git, remote.name).upstream(_refspec(request.ref) if request.ref else "")
        done = self._git.ask("rev-parse", "--verify", "--quiet", f"{there}^{{commit}}", check=False)
        if done.code != 0 or not done.line:
            return []
        ignored = self._losses.list_ignored(self._losses.changed_paths(self._losses.head, done.line))
        return self._losses.files(ignored, "everything")

    def _find_losses(self, request: PushRequest, remote: RemoteName) -> list[Loss]:
        what = self._push_ref(request)
        if request.delete:
            return [Loss(text=f"{path_text(what)} on {remote}", kind="delete")]
        exchange = Exchange(self._git, remote.name)
        if not request.force and not exchange.is_forced(what):
            return []
        there = exchange.destination(what).removeprefix(_HEADS)
        between = f"{what}..refs/remotes/{remote.name}/{there}"
        done = self._git.ask("log", "-z", "--max-count=1000", *ONELINE, between, "--", check=False)
        commits = done.fields if done.code == 0 else []
        replaced = Loss(text=f"what {remote} has there now would be LOST", kind="history")
        return lost_commits(commits, f"on {remote} that this branch has not would be LOST there") or [replaced]

    def _kinds(self, request: PushRequest, remote: RemoteName) -> tuple[Kind, ...]:
        if request.delete:
            return ("delete",)
        forced = request.force or Exchange(self._git, remote.name).is_forced(self._push_ref(request))
        return ("force",) if forced else ()

    def _trust_scope(self, request: PushRequest, remote: RemoteName) -> tuple[str, ...]:
        """Describe the kind of push that a person trusts: which ref goes where and how, whatever its commits."""
        what = self._push_ref(request)
        if request.delete:
            return (f"deletes {path_text(what)} on {remote}",)
        exchange = Exchange(self._git, remote.name)
        forced = request.force or exchange.is_forced(what)
        there = exchange.destination(what)
        named = path_text(what) if there == what else f"{path_text(what)} as {path_text(there)}"
        text = f"force-pushes {named} to {remote}, replacing what is there" if forced else f"pushes {named} to {remote}"
        tags = ("with all tags",) if request.tags else ("with tags on the way",) if exchange.follows_tags else ()
        return (text, *tags)

    def _push_ref(self, request: PushRequest) -> str:
        """Return the full name of the ref to push."""
        if not request.ref:
            head = self._losses.head_ref
            if head is None or request.delete:
                raise InvalidArgument("ref is required", hint="name the branch or tag")
            return head
        name = _refspec(request.ref)
        if request.delete:
            return name
        for full in (f"{_HEADS}{name}", f"refs/tags/{name}", name):
            if full.startswith("refs/") and self._git.ask("rev-parse", "--verify", "--quiet", full, check=False).line:
                return full
        raise ref_not_found(name, self._git.ask("for-each-ref", "--format=%(refname:lstrip=2)").line.splitlines())

    async def _run_remote(self, *arguments: str, check: bool = True) -> GitOutput:
        env = await remote_environment(self._git)
        limit = self._git.config.remote_timeout_sec
        return await self._git.run(*arguments, env=env, timeout=limit, check=check, remote=True)

    async def _fetch_head(self) -> tuple[str, str]:
        """Return the commit or tag that was fetched to be merged, and git's description of it."""
        lines = await asyncio.to_thread(read_plain_file, self._git.folder / "FETCH_HEAD")
        wanted = [line for line in os.fsdecode(lines).splitlines() if "\tnot-for-merge\t" not in line]
        if len(wanted) != 1:
            raise GitRefused(
                "the branch has no upstream" if not wanted else "the branch has several upstreams",
                hint="name the remote's branch with ref, or git_push with set_upstream",
            )
        oid, _, what = wanted[0].split("\t", 2)
        return oid, what


def _refspec(ref: str) -> str:
    if any(sign in check_ref(ref) for sign in ":+*^~?@["):
        raise InvalidArgument(f"{path_text(ref[:100])!r} is no branch or tag", hint="one name, without : + * or ^")
    return ref


def _outward(
    remote: RemoteName,
    verb: str,
    lost: Sequence[Loss] = (),
    urls: tuple[str, ...] | None = None,
    trusted_as: tuple[str, ...] = (),
    kinds: tuple[Kind, ...] = (),
) -> Assessment:
    return Assessment(
        risk=Risk.DESTRUCTIVE if lost else Risk.EXFILTRATION,
        effects=(f"it {verb} {remote}", *(loss.text for loss in lost)),
        remotes=urls or (remote.url,),
        remote_names=(remote.name,),
        kinds=kinds_of(lost, *kinds),
        trusted_as=trusted_as,
    )


def _refs(done: GitOutput) -> tuple[PushedRef, ...]:
    rows = [line.split("\t") for line in os.fsdecode(done.out).splitlines() if line.count("\t") == 2]
    return tuple(PushedRef(ref=path_text(row[1].partition(":")[2]), summary=redact_urls(row[2])) for row in rows)


def _rejected_refs(done: GitOutput) -> list[str]:
    rows = [line.split("\t") for line in os.fsdecode(done.out).splitlines() if line.startswith("!\t")]
    return [f"{path_text(row[1].partition(':')[2])}: {row[2]}" for row in rows if len(row) == 3]
