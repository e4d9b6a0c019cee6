"""The objects of an approved push, by their ids, so that refs that moved since are not sent instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from codeplane.git.safety.command import Git
from codeplane.git.write.exchange import Exchange
from codeplane.kernel.errors import GitRefused

_REF, _TIP, _TARGET, _SEEN, _PLUS, _TAGS = "ref", "tip", "target", "seen", "plus", "tags"
_HEADS, _TAG_REFS = "refs/heads/", "refs/tags/"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushSpec:
    """The object that is pushed, its name on the remote, what was last seen there, and a digest of pushed tags."""

    ref: str
    tip: str
    target: str
    seen: str
    plus: bool
    tags: str

    @classmethod
    def of(cls, git: Git, exchange: Exchange, ref: str, *, tags: bool) -> "PushSpec":
        """Return what a push of the ref would send now."""
        target = exchange.destination(ref)
        return cls(
            ref=ref,
            tip=git.ask("rev-parse", "--verify", "--quiet", ref).line,
            target=target,
            seen=exchange.tracking_id(target) or "",
            plus=exchange.is_forced(ref),
            tags=_digest(_tags(git)) if tags else "",
        )

    @classmethod
    def from_pins(cls, pins: Mapping[str, str]) -> "PushSpec | None":
        """Return what a person approved, or None when no approval was needed."""
        if not pins.get(_TIP):
            return None
        return cls(
            ref=pins[_REF],
            tip=pins[_TIP],
            target=pins[_TARGET],
            seen=pins[_SEEN],
            plus=bool(pins[_PLUS]),
            tags=pins[_TAGS],
        )

    @property
    def pins(self) -> dict[str, str]:
        """The values that an approval pins."""
        return {
            _REF: self.ref,
            _TIP: self.tip,
            _TARGET: self.target,
            _SEEN: self.seen,
            _PLUS: "+" if self.plus else "",
            _TAGS: self.tags,
        }

    def specs(self, git: Git, *, all_tags: bool, along: bool) -> list[str]:
        """Return the refspecs; `along` means that git adds tags by itself. GitRefused when the tags have changed."""
        tags = _tags(git) if all_tags or along else []
        if (all_tags or along) and _digest(tags) != self.tags:
            raise GitRefused("the tags are not those that were shown", hint="git_push again: it is asked about again")
        own = [f"{'+' if self.plus else ''}{self.tip}:{self.target}"]
        sent = [f"{oid}:{ref}" for oid, ref in tags if all_tags and ref != self.target]
        return [*own, *sent]

    def lease(self) -> str:
        """Return the option that replaces the remote's ref only if it is as last seen, or still missing."""
        return f"--force-with-lease={self.target}:{self.seen}"

    async def tracks(self, git: Git, remote: str) -> None:
        """Set the pushed ref as the upstream of the branch, as git does for a push by name."""
        if not (self.ref.startswith(_HEADS) and self.target.startswith(_HEADS)):
            return
        section = f"branch.{self.ref.removeprefix(_HEADS)}"
        await git.run("config", "--local", "--replace-all", f"{section}.remote", remote)
        await git.run("config", "--local", "--replace-all", f"{section}.merge", self.target)
        asked = await git.run("config", "--get", "branch.autoSetupRebase", check=False)
        if asked.line in ("always", "remote"):
            await git.run("config", "--local", "--replace-all", f"{section}.rebase", "true")


def _tags(git: Git) -> list[tuple[str, str]]:
    listed = git.ask("for-each-ref", "--format=%(objectname) %(refname)", _TAG_REFS)
    return [(oid, ref) for oid, _, ref in (line.partition(" ") for line in listed.line.splitlines())]


def _digest(tags: list[tuple[str, str]]) -> str:
    return sha256(repr(tags).encode("utf-8", "surrogateescape")).hexdigest()
