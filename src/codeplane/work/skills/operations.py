"""The operations on skills."""

from codeplane.kernel.call import Call
from codeplane.kernel.errors import InvalidArgument, SkillNotFound, SkillNotTrusted
from codeplane.kernel.operation import Risk, operation
from codeplane.work.skills.library import SkillLibrary
from codeplane.work.skills.models import (
    LoadedSkill,
    NoRequest,
    SkillPage,
    SkillRequest,
    SkillView,
    TrustSkillRequest,
    WholeSkill,
)
from codeplane.work.skills.table import DISTRUSTED, STREAM, TRUSTED


class SkillOperations:
    """What clients can do with skills."""

    def __init__(self, library: SkillLibrary) -> None:
        self._library = library

    @operation("skill.list", risk=Risk.READ)
    async def list(self, call: Call, request: NoRequest) -> SkillPage:
        """The skills of this repository and of its owner, with what each is for."""
        skills = await self._library.skills()
        return SkillPage(skills=tuple([SkillView.of(skill, await self._library.state(skill)) for skill in skills]))

    @operation("skill.show", risk=Risk.READ)
    async def show(self, call: Call, request: SkillRequest) -> WholeSkill:
        """A skill as it is now: what it says, its files, its hash and whether it may be used."""
        skill = await self._library.skill(request.name)
        view = SkillView.of(skill, await self._library.state(skill))
        return WholeSkill(**view.model_dump(), instructions=skill.instructions, files=skill.files)

    @operation("skill.load", risk=Risk.READ)
    async def load(self, call: Call, request: SkillRequest) -> LoadedSkill:
        """What a skill tells you to do. Follow it for the task at hand."""
        chosen = await self._library.choose(request.name)
        if chosen.allowed_tools is not None:
            raise InvalidArgument(
                f"{chosen.name} restricts the tools of a turn, so a person chooses it before the turn begins",
                hint="ask for it to be chosen: turn_send skills=[…], or cpl ask --skill",
            )
        skill = await self._library.skill(request.name)
        return LoadedSkill(
            name=chosen.name, location=chosen.location, instructions=chosen.instructions, files=skill.files
        )

    @operation("skill.trust", risk=Risk.WRITE, people=True)
    async def trust(self, call: Call, request: TrustSkillRequest) -> SkillView:
        """Let a skill of the repository be used as it is now; any change of it asks again."""
        skill = await self._library.skill(request.name)
        if skill.problem:
            raise SkillNotFound(f"{skill.location} cannot be used: {skill.problem}")
        if not skill.hash.startswith(request.hash):
            raise SkillNotTrusted(
                f"{skill.name} is not what was looked at: its hash is {skill.hash[:12]} now",
                hint=f"look again: cpl skills show {skill.name}",
            )
        await call.record([(STREAM, TRUSTED, {"name": skill.name, "hash": skill.hash, "location": skill.location})])
        return SkillView.of(skill, await self._library.state(skill))

    @operation("skill.distrust", risk=Risk.WRITE, people=True)
    async def distrust(self, call: Call, request: SkillRequest) -> SkillView:
        """Let a skill of the repository not be used any more; turns that were given it keep it to their end."""
        skill = await self._library.skill(request.name)
        if not skill.is_project:
            raise InvalidArgument(f"{skill.location} is the owner's own", hint="delete its folder")
        await call.record([(STREAM, DISTRUSTED, {"name": skill.name})])
        return SkillView.of(skill, await self._library.state(skill))
