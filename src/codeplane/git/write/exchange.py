"""What would go to a remote or come from it, as far as is known here: refs, ids and commits."""

from collections.abc import Sequence

from codeplane.git.safety.command import Git
from codeplane.git.write.preview_facts import PreviewFacts, listing
from codeplane.index.files.paths import shown
from codeplane.kernel.counted import counted

_HEADS, _TAGS = "refs/heads/", "refs/tags/"
_NOWHERE = "not known here"


class Exchange:
    """Names what is exchanged with one remote; asks nobody but the repository."""

    def __init__(self, git: Git, remote: str) -> None:
        self._git = git
        self._foreseen = PreviewFacts(git)
        self._remote = remote

    def places(self, *, push: bool) -> list[str]:
        """The remote and where it leads."""
        found = self._foreseen.addresses(self._remote, push=push)
        return [f"{'to' if push else 'from'} {shown(self._remote)}: {address}" for address in found]

    def pushed(self, ref: str, *, force: bool, tags: bool) -> list[str]:
        """A ref of here, what it replaces there, and the commits that go along."""
        there = self.destination(ref)
        tip = self._foreseen.id_of(ref)
        facts = [f"{shown(ref)} at {tip}", f"becomes {shown(there)}, last seen at {self.tracked(there) or _NOWHERE}"]
        if self.is_forced(ref):
            facts.append(f"FORCED by remote.{shown(self._remote)}.push, whatever is there")
        else:
            facts.append("FORCED: what is there is replaced, if it is as last seen" if force else "not forced")
        facts += self._foreseen.commits(ref, f"--remotes={self._remote}", what="to send, as far as is known")
        if tags:
            facts += self._tags("all tags are sent")
        elif self.follows_tags:
            facts += self._tags("annotated tags on the way are sent too (push.followTags)", f"--merged={tip}")
        return facts

    @property
    def follows_tags(self) -> bool:
        """Whether annotated tags go along with what they mark."""
        return self._git.ask("config", "--type=bool", "--get", "push.followTags", check=False).line == "true"

    def deleted(self, ref: str) -> list[str]:
        """A ref of the remote that goes."""
        return [f"DELETES {shown(ref)} there, last seen at {self.tracked(ref) or _NOWHERE}"]

    def fetched(self, *, prune: bool, tags: bool) -> list[str]:
        """What a fetch asks for, and what it forgets."""
        asked = self._foreseen.settings(f"remote.{self._remote}.fetch")
        facts = listing("asks for", [shown(one) for one in asked] or ["HEAD"], len(asked) or 1)
        facts += ["and for all tags"] if tags else []
        if prune:
            known = self._refs(f"refs/remotes/{self._remote}/")
            facts += listing(
                f"forgets, of {counted(len(known), 'branch')}, those that are gone there", known, len(known)
            )
        return facts

    def pulled(self, ref: str, mode: str) -> list[str]:
        """What is brought into the branch, as far as was fetched before: more may come."""
        facts = [f"into {self._foreseen.head()}, by {mode}"]
        there = self.upstream(ref)
        known = self._foreseen.id_of(f"{there}^{{commit}}")
        facts.append(f"{shown(ref) or 'the upstream'}, last seen at {known or _NOWHERE}, as it is there by then")
        if known:
            facts += self._foreseen.commits(known, "HEAD", what="of it known so far, to bring in")
        if mode == "rebase" and known:
            facts += self._foreseen.commits("HEAD", known, what="of here to do again")
        return facts

    def upstream(self, ref: str) -> str:
        """The name under which what is pulled is known here."""
        return f"refs/remotes/{self._remote}/{ref}" if ref else "@{upstream}"

    def tracked(self, ref: str) -> str | None:
        """The id that a ref of the remote had when it was last seen."""
        full = ref if ref.startswith("refs/") else f"{_HEADS}{ref}"
        kept = [target for spec, target in self._matching(full, "fetch") if ":" in spec]
        return self._foreseen.id_of(kept[0]) if kept else None

    def is_forced(self, ref: str) -> bool:
        """Whether settings force a push of this ref that nobody asked to force."""
        return any(spec.startswith("+") for spec, _ in self._mapped(ref)[:1])

    def destination(self, ref: str) -> str:
        """What a pushed ref is called there: settings can say otherwise than it is here."""
        for _, target in self._mapped(ref):
            return target
        default = self._git.ask("config", "--get", "push.default", check=False).line
        if default in ("upstream", "tracking") and ref.startswith(_HEADS):
            merge = self._foreseen.settings(f"branch.{ref.removeprefix(_HEADS)}.merge")
            if len(merge) == 1:
                return merge[0]
        return ref

    def _mapped(self, ref: str) -> list[tuple[str, str]]:
        """The settings that send a ref somewhere, in their order, with where that is."""
        return self._matching(ref, "push")

    def _matching(self, ref: str, way: str) -> list[tuple[str, str]]:
        found = []
        for spec in self._foreseen.settings(f"remote.{self._remote}.{way}"):
            source, _, target = spec.removeprefix("+").partition(":")
            full = source if source.startswith("refs/") else f"{_HEADS}{source}"
            before, star, after = full.partition("*")
            if full == ref:
                found.append((spec, target or ref))
            elif star and ref.startswith(before) and ref.endswith(after):
                middle = ref[len(before) : len(ref) - len(after)]
                found.append((spec, target.replace("*", middle, 1) if target else ref))
        return found

    def _tags(self, head: str, *only: str) -> list[str]:
        found = self._refs(_TAGS, *only)
        return listing(f"{head}, {len(found)} of them", found, len(found))

    def _refs(self, prefix: str, *only: str) -> list[str]:
        listed = self._git.ask("for-each-ref", *only, "--format=%(objectname) %(refname)", prefix, check=False)
        return [shown(line) for line in listed.line.splitlines()]


def bound_to(git: Git, prefixes: Sequence[str]) -> list[bytes]:
    """Every ref below some prefixes with its id: lists name only some of them."""
    return [git.ask("for-each-ref", "--format=%(objectname) %(refname)", *prefixes).out] if prefixes else []
