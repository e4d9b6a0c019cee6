"""The operations on proposals."""

import asyncio
import difflib
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack

from codeplane.kernel.arguments import parse
from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import InvalidArgument, Overloaded, ProposalNotFound
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger, ScopeOf
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.short_ids import match_stored_id
from codeplane.kernel.skill import SkillSource
from codeplane.ledger.rows import Cell
from codeplane.work.admission import Admission
from codeplane.work.items.kind import Door
from codeplane.work.proposals.models import (
    CloseProposalRequest,
    CreateProposalRequest,
    ListProposalsRequest,
    ProposalPage,
    ProposalRequest,
    ProposalView,
    WholeProposal,
)
from codeplane.work.proposals.proposal import CALLS, COLUMNS, FILES, OPEN, SKILL, Proposal
from codeplane.work.proposals.table import (
    IMPROVEMENT_PROPOSED,
    PROPOSAL_APPLIED,
    PROPOSAL_REJECTED,
    SKILL_PROPOSED,
    proposal_stream,
)

# Of one who proposes, and of all agents together.
_MAX_OPEN, _MAX_OPEN_OF_ALL = 20, 200
# The text of a file below `.codeplane/`, or an empty one; blocks.
ReadOwnFile = Callable[[str], str]


class ProposalOperations:
    """What clients can do with proposals."""

    def __init__(
        self,
        *,
        log: Ledger,
        catalogue: Catalogue,
        cursors: Cursors,
        redactor: Redactor,
        skills: SkillSource,
        read_own_file: ReadOwnFile,
        scope_of: ScopeOf,
        has_read_untrusted: Callable[[Call], bool],
        door: Door,
    ) -> None:
        self._log = log
        self._catalogue = catalogue
        self._cursors = cursors
        self._redactor = redactor
        self._skills = skills
        self._read_own_file = read_own_file
        self._scope_of = scope_of
        self._has_read_untrusted = has_read_untrusted
        self._door = door
        self._applying = asyncio.Lock()
        self._admission = Admission()

    @operation("proposal.create", risk=Risk.WRITE)
    async def create(self, call: Call, request: CreateProposalRequest) -> ProposalView:
        """Propose a skill, a policy, a grant, or a change of a schedule or a job's budget. Nothing of it takes effect
        before the owner applies it."""
        self._check(request)
        proposal_id = new_id("prp")
        payload: JsonObject = {
            **request.model_dump(mode="json"),
            "proposal_id": proposal_id,
            "summary": f"proposed {request.kind}: {request.title}",
            "requires_owner_approval": True,
            "untrusted": self._has_read_untrusted(call),
        }
        kind = SKILL_PROPOSED if request.kind == SKILL else IMPROVEMENT_PROPOSED
        with ExitStack() as places:
            places.enter_context(self._admit(str(call.actor), proposal_id, _MAX_OPEN, "proposed_by = ?1"))
            if not call.actor.is_person:
                # Names cost nothing: who is kept out by its own bound could take another one.
                places.enter_context(self._admit("", proposal_id, _MAX_OPEN_OF_ALL, "?1 = ''"))
            await self._append(call, proposal_id, kind, payload)
        return ProposalView.of(await self._find(call, proposal_id))

    def _admit(self, place: str, proposal_id: str, limit: int, condition: str) -> AbstractContextManager[None]:
        def stored(but: Collection[str]) -> int:
            others = "proposal_id NOT IN (SELECT value FROM json_each(?3))"
            statement = f"SELECT count(*) FROM proposals WHERE state = ?2 AND {condition} AND {others}"
            ((count,),) = self._log.lookup(statement, (place, OPEN, dumps([*but])))
            return int(str(count))

        return self._admission.enter(
            place,
            proposal_id,
            limit=limit,
            stored=stored,
            refuse=lambda _: Overloaded(
                f"{limit} proposals{' of yours' if place else ''} wait for the owner already",
                hint="wait until some are decided",
            ),
        )

    @operation("proposal.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListProposalsRequest) -> ProposalPage:
        """Proposals that wait for the owner, the newest first; agents see their own."""
        conditions, values = ["(?1 = '' OR state = ?1)"], list[Cell]([request.state])
        if (scope := self._scope_of(call)) is not None:
            conditions.append("proposed_by = ?2")
            values.append(scope.actor)
        name = f"proposal.list:{call.task.session_id if call.task else ''}:{request.state}"
        before = int(str(self._cursors.open(request.cursor, scope=name)["before"])) if request.cursor else 2**62
        found = await self._select(
            f"{' AND '.join(conditions)} AND position < {before} ORDER BY position DESC LIMIT {request.limit + 1}",
            values,
        )
        page, following = found[: request.limit], None
        if len(found) > request.limit:
            following = self._cursors.issue(scope=name, state={"before": page[-1].position})
        return ProposalPage(results=tuple(map(ProposalView.of, page)), pagination=Pagination(next_cursor=following))

    @operation("proposal.show", risk=Risk.READ)
    async def show(self, call: Call, request: ProposalRequest) -> WholeProposal:
        """A proposal with its reasons and what it would change."""
        proposal = await self._find(call, request.proposal_id)
        return WholeProposal(
            **ProposalView.of(proposal).model_dump(),
            rationale=proposal.rationale,
            reason=proposal.reason,
            target=proposal.target,
            content=proposal.content,
            # Files of `.codeplane/` are for people: a proposal of the same name would show them to who made it.
            diff=await asyncio.to_thread(self._diff, proposal) if proposal.target and call.actor.is_person else "",
            operation=proposal.operation,
            arguments=proposal.arguments,
        )

    @operation("proposal.apply", risk=Risk.WRITE, people=True)
    async def apply(self, call: Call, request: ProposalRequest) -> ProposalView:
        """Make the call that was proposed, as yourself. No operation writes files of `.codeplane/`: cpl proposals apply
        does, on this machine."""
        proposal = await self._open(call, request.proposal_id)
        if proposal.target:
            raise InvalidArgument(
                f"{proposal.proposal_id} would write .codeplane/{proposal.target}, which no operation does",
                hint=f"on this machine: cpl proposals apply {proposal.proposal_id}",
            )
        async with self._applying:
            # Of two at once, the second finds it decided; after a crash, the key finds what was done before it.
            proposal = await self._open(call, proposal.proposal_id)
            arguments = {**proposal.arguments, "idempotency_key": proposal.proposal_id}
            outcome = await self._door.call(proposal.operation, arguments, call.caller)
            if outcome.error is not None:
                raise outcome.error
            await self._append(call, proposal.proposal_id, PROPOSAL_APPLIED, {"call_id": outcome.meta.call_id})
        return ProposalView.of(await self._find(call, proposal.proposal_id))

    @operation("proposal.close", risk=Risk.WRITE, people=True)
    async def close(self, call: Call, request: CloseProposalRequest) -> ProposalView:
        """Record that a proposal was applied by hand, or reject it."""
        proposal = await self._open(call, request.proposal_id)
        kind = PROPOSAL_APPLIED if request.outcome == "applied" else PROPOSAL_REJECTED
        await self._append(call, proposal.proposal_id, kind, {"reason": request.reason})
        return ProposalView.of(await self._find(call, proposal.proposal_id))

    def _check(self, request: CreateProposalRequest) -> None:
        """Raise when a proposal could not be applied."""
        if request.kind in FILES:
            if not request.name or not request.content.strip() or request.operation:
                raise InvalidArgument(f"a {request.kind} is a file", hint="send name and content, and no operation")
        elif CALLS.get(request.operation) != request.kind or request.name or request.content:
            named = ", ".join(name for name, kind in CALLS.items() if kind == request.kind)
            raise InvalidArgument(
                f"a change of {request.kind} is a call", hint=f"send operation and arguments: {named}"
            )
        else:
            parse(self._catalogue.get(request.operation), request.arguments)
        if request.kind == SKILL and (problem := self._skills.parse_skill(request.name, request.content).problem):
            raise InvalidArgument(f"this is no skill: {problem}")
        whole = request.content + dumps(request.arguments)
        if self._redactor.text(whole) != whole:
            raise InvalidArgument(
                "it holds what looks like a secret, which the log does not keep", hint="leave the secret out"
            )

    def _diff(self, proposal: Proposal) -> str:
        now = self._read_own_file(proposal.target)
        name = f".codeplane/{proposal.target}"
        lines = difflib.unified_diff(
            now.splitlines(),
            proposal.content.splitlines(),
            f"a/{name}" if now else "/dev/null",
            f"b/{name}",
            lineterm="",
        )
        return "\n".join(lines)

    async def _find(self, call: Call, proposal_id: str) -> Proposal:
        """A proposal that the caller may see; ProposalNotFound for those of others."""
        scope = self._scope_of(call)
        try:
            whole_id = await match_stored_id(
                self._log, "proposals.proposal_id", proposal_id, "proposal", ProposalNotFound
            )
        except ProposalNotFound:
            if scope is None:
                raise
            # Not as it was raised: that names the proposals of others whose ids are similar.
            raise ProposalNotFound(f"there is no proposal {proposal_id!r}") from None
        (proposal,) = await self._select("proposal_id = ?", [whole_id])
        if scope is not None and scope.actor != proposal.proposed_by:
            raise ProposalNotFound(f"there is no proposal {proposal_id!r}")
        return proposal

    async def _open(self, call: Call, proposal_id: str) -> Proposal:
        proposal = await self._find(call, proposal_id)
        if proposal.state != OPEN:
            raise ProposalNotFound(f"{proposal.proposal_id} is {proposal.state} already")
        return proposal

    async def _select(self, where: str, values: Sequence[Cell]) -> Sequence[Proposal]:
        rows = await self._log.select(f"SELECT {COLUMNS} FROM proposals WHERE {where}", values)
        return [Proposal.from_row(row) for row in rows]

    async def _append(self, call: Call, proposal_id: str, kind: str, payload: JsonObject) -> None:
        # A decision expects the proposal alone in its stream: of two that are made at once, one holds.
        stream, expected = proposal_stream(proposal_id), int(kind in (PROPOSAL_APPLIED, PROPOSAL_REJECTED))
        draft = Draft(
            stream=stream,
            type=kind,
            payload=payload,
            actor=str(call.actor),
            source=Source.SYSTEM if expected else Source.MODEL_UNTRUSTED,
            correlation=call.correlation,
        )
        await self._log.append([draft], expect={stream: expected})
