"""What an exploration is about, before it starts: the repository, a folder of it, a clone or another folder."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.call import Call
from codeplane.kernel.errors import ExploreNetworkDenied, InvalidArgument, NotFound, PathDenied
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.reserved_folders import is_reserved
from codeplane.work.explore.models import StartRequest
from codeplane.work.explore.target import Target
from codeplane.work.items.kind import Door


class Preflight:
    """Finds the target of an exploration; what has to be attached or cloned is so by its caller, through the door."""

    def __init__(self, *, root: Path, door: Door) -> None:
        self._root = root
        self._door = door

    async def target(self, call: Call, request: StartRequest) -> Target:
        """The target; raises what keeps it from being explored."""
        if request.remote_url:
            if request.root:
                raise InvalidArgument("root and remote_url name two repositories", hint="send one of them")
            if not request.policy.network:
                raise ExploreNetworkDenied("remote_url is on the network, and policy.network is false")
            return await self._clone(call, request)
        if request.branch:
            raise InvalidArgument("branch goes with remote_url", hint="leave it out to explore the files as they are")
        if "\0" in request.root:
            raise PathDenied("a path cannot hold NUL")
        serving, real = _resolve(self._root, request.root)
        if real == serving:
            return Target(name=serving.name)
        if serving in real.parents:
            return self._folder(serving, real)
        return await self._attach(call, real)

    def _folder(self, serving: Path, real: Path) -> Target:
        folder = real.relative_to(serving).as_posix()
        if is_reserved(folder):
            raise PathDenied(f"{folder!r} belongs to git or to CodePlane", hint="explore the folder around it")
        try:
            is_folder = real.is_dir()
        except OSError:
            # A longer name than there can be.
            is_folder = False
        if not is_folder:
            raise NotFound(f"there is no folder {folder!r}", hint="name a folder of the repository")
        return Target(name=real.name, folder=folder)

    async def _attach(self, call: Call, real: Path) -> Target:
        for attached in await self._attached(call):
            if attached["root"] == str(real):
                return Target(name=real.name, workspace=str(attached["name"]))
        found = await self._call(call, "workspace.attach", {"path": str(real), "temporary": True})
        return Target(name=real.name, workspace=str(found["name"]))

    async def _clone(self, call: Call, request: StartRequest) -> Target:
        wanted = request.remote_url.rstrip("/").removesuffix(".git")
        for attached in await self._attached(call):
            if str(attached.get("url") or "").rstrip("/").removesuffix(".git") == wanted and not request.branch:
                return Target(name=str(attached["name"]), workspace=str(attached["name"]))
        arguments: JsonObject = {"url": request.remote_url, "branch": request.branch, "temporary": True}
        found = await self._call(call, "git.clone", arguments)
        return Target(name=str(found["name"]), workspace=str(found["name"]))

    async def _attached(self, call: Call) -> list[Mapping[str, JsonValue]]:
        found = await self._call(call, "workspace.list", {})
        workspaces = found["workspaces"]
        return [each for each in workspaces if isinstance(each, dict)] if isinstance(workspaces, list) else []

    async def _call(self, call: Call, name: str, arguments: JsonObject) -> JsonObject:
        """A call by the caller themselves, with their rights and their answer where a person is asked."""
        own: Caller = replace(call.caller, request_id=None)
        outcome = await self._door.call(name, arguments, own)
        if outcome.error is not None:
            raise outcome.error
        assert outcome.result is not None
        found: JsonObject = outcome.result.model_dump(mode="json")
        return found


def _resolve(root: Path, wanted: str) -> tuple[Path, Path]:
    """The repository and the folder, by where they really lie: a link out of the repository is another folder."""
    serving = Path(os.path.realpath(root))
    try:
        named = Path(wanted).expanduser()
    except RuntimeError:
        raise NotFound(f"there is no home {wanted.partition('/')[0]!r}", hint="write the path out") from None
    return serving, Path(os.path.realpath(serving / named))
