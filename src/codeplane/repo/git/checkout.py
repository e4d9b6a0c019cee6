"""`git.checkout`: another branch or commit, or files as another commit has them."""

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, RefNotFound
from codeplane.kernel.operation import Assessment, Budget, Preview, Risk, assesses, operation, previews
from codeplane.kernel.place import InWorkspace
from codeplane.repo.git.answered import Changed
from codeplane.repo.git.branches import HEADS
from codeplane.repo.git.losses import Losses, judged, lost_commits, lost_files, previewed
from codeplane.repo.git.revision import MAX_REF, checked, commit_now, commit_of, fresh_name
from codeplane.repo.git.writing import Writer, Writing
from codeplane.repo.truth.paths import canonical


class CheckoutRequest(InWorkspace):
    """What to check out."""

    ref: str = Field(
        min_length=1, max_length=MAX_REF, description="branch, tag or commit; with create a new branch's name"
    )
    create: bool = False
    start: str = Field("", max_length=MAX_REF, description="where a created branch begins; else HEAD")
    paths: tuple[str, ...] = Field((), max_length=5000, description="only make these files what they are in ref")


class Checkout:
    """Switches branches and restores files."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._git = writer.git
        self._losses = Losses(writer.git)

    @operation("git.checkout", risk=Risk.WRITE, budget=Budget.MUTATION, capability="write_files", timeout_sec=0)
    async def checkout(self, call: Call, request: CheckoutRequest) -> Changed:
        """Switch to a branch or commit, or with paths restore files from it; work in the way is never overwritten
        by a switch, and kept under a recovery ref when paths overwrite it."""
        if request.start and not request.create:
            raise InvalidArgument("start is for create", hint="leave start out, or set create")
        if request.paths:
            if request.create:
                raise InvalidArgument("paths and create do not go together", hint="do one after the other")
            return await self._restore(call, request)
        if request.create:
            return await self._create(call, request)
        target = await self._target(request.ref)
        async with self._writer.writing(call, "checkout") as writing:
            await self._reach(writing, target)
            await self._git.run("checkout", "--quiet", request.ref, "--")
            return Changed(delta=await writing.finished())

    @assesses("git.checkout")
    def assess_checkout(self, request: CheckoutRequest) -> Assessment:
        """Files restored over changes lose them; so does a head without a branch that is left with commits."""
        return judged(self._lost(request))

    @previews("git.checkout")
    async def preview_checkout(self, request: CheckoutRequest) -> Preview:
        """The changes or commits that go."""
        return previewed(f"Check out {request.ref}", self._lost(request))

    async def _create(self, call: Call, request: CheckoutRequest) -> Changed:
        name = await fresh_name(self._git, HEADS, request.ref)
        start = await commit_of(self._git, request.start) if request.start else None
        async with self._writer.writing(call, "checkout") as writing:
            if start is not None:
                await self._reach(writing, start)
            await self._git.run("checkout", "--quiet", "-b", name, *([request.start] if start else []), "--")
            return Changed(delta=await writing.finished())

    async def _restore(self, call: Call, request: CheckoutRequest) -> Changed:
        paths = self._writer.paths(call, request.paths)
        commit = await commit_of(self._git, request.ref)
        async with self._writer.writing(call, "checkout") as writing:
            below = [] if "." in paths else paths
            listed = await self._git.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", *below)
            await writing.reaches(listed.fields)
            await writing.loses()
            await self._git.run("checkout", "--quiet", commit, "--", *paths)
            return Changed(delta=await writing.finished())

    async def _reach(self, writing: Writing, target: str) -> None:
        before = writing.before
        await writing.reaches_between((before.head, target))
        left = [before.head] if before.symbolic is None and before.head else []
        await writing.loses(commits=left, work=False)

    async def _target(self, ref: str) -> str:
        try:
            return await commit_of(self._git, ref)
        except RefNotFound:
            # Git makes a branch of that name when exactly one remote has it.
            pattern = f"refs/remotes/*/{checked(ref)}"
            found = (await self._git.run("for-each-ref", "--format=%(objectname)", pattern)).line.split()
            if len(found) != 1:
                raise
            return found[0]

    def _lost(self, request: CheckoutRequest) -> list[str]:
        checked(request.ref)
        if request.paths:
            for path in request.paths:
                canonical(path, root=self._git.root)
            commit_now(self._git, request.ref)
            head = self._losses.head
            return lost_files(self._losses.edited(request.paths, against=head), "changes") if head else []
        head, branch = self._losses.head, self._losses.head_ref
        if head is None or branch is not None or request.create:
            return []
        target = self._git.ask("rev-parse", "--verify", "--quiet", f"{request.ref}^{{commit}}", check=False).line
        commits = self._losses.commits(head, kept=[target] if target else [])
        return lost_commits(commits, "that only HEAD reaches, which is on no branch")
