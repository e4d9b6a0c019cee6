"""Every operation of a running CodePlane, by name and by tool."""

import asyncio
import difflib
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import cast, get_args, get_origin, get_type_hints

from codeplane.kernel.call import Assess, Foresee, Handler, Operation, PreviewMaker
from codeplane.kernel.declared_operation import until_removed
from codeplane.kernel.errors import InvalidArgument, OperationDisabled, TooLarge, UnknownOperation
from codeplane.kernel.operation import OperationMark, Request, Result, Risk

_MAX_NAME = 100
# What other programs call what an operation does.
_FOREIGN = {
    **dict.fromkeys(("grep", "rg", "ripgrep"), ("search",)),
    **dict.fromkeys(("ls", "find", "glob"), ("list_dir", "map_repo")),
    **dict.fromkeys(("cat", "read", "read_file", "view"), ("read_files",)),
    **dict.fromkeys(("sed", "edit", "edit_file", "str_replace", "write", "write_file"), ("write_files",)),
    **dict.fromkeys(("bash", "shell"), ("run_bash",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Disabled:
    """A stand-in for an object whose operations a setting disables."""

    owner: type
    setting: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueChange:
    """The operations that were added and removed; a replaced one is in both."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


Listener = Callable[[CatalogueChange], None]
MAX_DECLARED = 1000


class Catalogue:
    """The operations found on the given objects."""

    def __init__(
        self,
        owners: Iterable[object] = (),
        *,
        around: Callable[[Handler], Handler] | None = None,
    ) -> None:
        """`around` wraps every handler; of a stream it has to make a stream."""
        self._by_name: dict[str, Operation] = {}
        self._by_tool: dict[str, Operation] = {}
        self._setting_by_name: dict[str, str] = {}
        self._around = around
        self._removals: dict[str, asyncio.Event] = {}
        self._listeners: list[Listener] = []
        self.version = 0
        self.add(owners)

    def add(self, owners: Iterable[object]) -> None:
        """Add the operations found on further objects, such as those that need the catalogue themselves."""
        for owner in owners:
            if isinstance(owner, Disabled):
                self._setting_by_name |= dict.fromkeys(_names_on(owner.owner), owner.setting)
                continue
            kind: type = type(owner)
            for found in (definition.on(owner) for definition in definitions_on(kind)):
                if found.name in self._by_name:
                    raise ValueError(f"two operations are called {found.name}")
                if self._around is not None:
                    found = replace(found, handler=self._around(found.handler))
                other = self._by_tool.setdefault(found.tool, found)
                if other is not found:
                    raise ValueError(f"{other.name} and {found.name} would be the same tool, {found.tool}")
                self._by_name[found.name] = found

    def change(self, *, add: Iterable[Operation] = (), remove: Iterable[str] = ()) -> CatalogueChange:
        """Remove and add declared operations, all or none; calls of those that are removed end with OperationGone.

        InvalidArgument for a name that is taken or was not declared, TooLarge when there would be too many.
        """
        added, removed = tuple(add), tuple(dict.fromkeys(remove))
        if unknown := [name for name in removed if name not in self._removals]:
            raise InvalidArgument(f"{', '.join(unknown[:5])} was not declared", hint="cpl call lists what there is")
        left = self._removals.keys() - set(removed)
        if len(left) + len(added) > MAX_DECLARED:
            raise TooLarge(f"at most {MAX_DECLARED} operations can be declared", details={"max": MAX_DECLARED})
        tools = {tool: found.name for tool, found in self._by_tool.items() if found.name not in removed}
        for operation in added:
            if operation.tool in tools:
                raise InvalidArgument(f"{operation.name} would be the same tool as {tools[operation.tool]}")
            tools[operation.tool] = operation.name
        for name in removed:
            self._removals.pop(name).set()
            del self._by_tool[self._by_name.pop(name).tool]
        for operation in added:
            gone = self._removals[operation.name] = asyncio.Event()
            declared = until_removed(operation, gone)
            self._by_name[operation.name] = self._by_tool[operation.tool] = declared
        change = CatalogueChange(added=tuple(operation.name for operation in added), removed=removed)
        self.version += 1
        for listener in tuple(self._listeners):
            listener(change)
        return change

    def listen(self, listener: "Listener") -> Callable[[], None]:
        """Call a listener after every change; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def __iter__(self) -> Iterator[Operation]:
        return iter(sorted(self._by_name.values(), key=lambda found: found.name))

    def get(self, name: str) -> Operation:
        """The operation of that name, dotted or as a tool; otherwise an error with the nearest names, or with the
        setting that switches it off."""
        found = self._by_name.get(name) or self._by_tool.get(name)
        if found is None:
            for disabled, setting in self._setting_by_name.items():
                if name in (disabled, disabled.replace(".", "_")):
                    raise disabled_operation(disabled, setting)
            raise self.unknown_operation(name, for_people=True)
        return found

    def unknown_operation(self, name: str, *, for_people: bool) -> UnknownOperation:
        """The error for an unknown name; operations for people are suggested only to people."""
        name = name[:_MAX_NAME]
        known = [found.name for found in self._by_name.values() if for_people or not found.mark.people]
        near = [meant for meant in _FOREIGN.get(name.lower(), ()) if meant in known]
        near = near or difflib.get_close_matches(name.replace("_", "."), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else None
        return UnknownOperation(f"there is no operation {name!r}", hint=hint, details={"nearest": near})

    @property
    def disabled(self) -> Mapping[str, str]:
        """The disabled operations, each with the setting that disables it."""
        return self._setting_by_name

    def risk_of(self, name: str) -> Risk | None:
        """The risk of an operation, or None if there is no such operation."""
        found = self._by_name.get(name)
        return found.mark.risk if found is not None else None

    def families(self) -> tuple[str, ...]:
        """The first parts of the names, as in `git` of `git.status`, of disabled operations too."""
        return tuple(sorted({name.partition(".")[0] for name in (*self._by_name, *self._setting_by_name)}))

    def toolset(self, names: Iterable[str], *, thread_id: str | None = None) -> tuple[Operation, ...]:
        """The operations of the named toolsets, families and parts of those, as in `ext.mail`; `all` is every one.

        Those for one thread alone belong to every toolset of that thread, and to none of others.
        """
        wanted = set(names)
        parts = tuple(f"{name}." for name in wanted)
        return tuple(
            found
            for found in self
            if (
                "all" in wanted or found.mark.toolset in wanted or found.name.startswith(parts) or found.name in wanted
                if found.mark.thread_id is None
                else found.mark.thread_id == thread_id
            )
        )

    def has_thread(self, thread_id: str) -> bool:
        """Whether there are operations for this thread alone."""
        return any(self._by_name[name].mark.thread_id == thread_id for name in self._removals)


def disabled_operation(name: str, setting: str) -> OperationDisabled:
    """The error for an operation, or a family of operations, that a setting disables."""
    return OperationDisabled(
        f"{name} is switched off by {setting}: false",
        hint=f"the owner switches it on: set {setting}: true in .codeplane/config.yaml, then cpl down and cpl up",
        details={"setting": setting},
    )


def _names_on(owner: type) -> Iterator[str]:
    for attribute in dir(owner):
        mark = getattr(inspect.getattr_static(owner, attribute), OperationMark.MARK, None)
        if isinstance(mark, OperationMark):
            yield mark.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _Method:
    """A method that assesses or previews an operation; most use only the request."""

    attribute: str
    takes_call: bool

    def on(self, owner: object) -> Callable[..., object]:
        """The owner's method, which is given the call in any case."""
        method: Callable[..., object] = getattr(owner, self.attribute)
        return method if self.takes_call else lambda call, request: method(request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Definition:
    """One operation as its class declares it."""

    attribute: str
    mark: OperationMark
    description: str
    request: type[Request]
    result: type[Result]
    streaming: bool
    assess: _Method | None
    preview: _Method | None
    foresee: _Method | None

    def on(self, owner: object) -> Operation:
        """The operation of an object of that class."""
        return Operation(
            mark=self.mark,
            summary=self.description.partition("\n")[0],
            description=self.description,
            request=self.request,
            result=self.result,
            streaming=self.streaming,
            handler=cast(Handler, getattr(owner, self.attribute)),
            assess=cast(Assess, self.assess.on(owner)) if self.assess else None,
            preview=cast(PreviewMaker, self.preview.on(owner)) if self.preview else None,
            foresee=cast(Foresee, self.foresee.on(owner)) if self.foresee else None,
        )


def operation_names(owners: Iterable[object]) -> frozenset[str]:
    """The names of the operations found on objects; not of those that are disabled."""
    kinds: list[type] = [type(owner) for owner in owners if not isinstance(owner, Disabled)]
    return frozenset(definition.mark.name for kind in kinds for definition in definitions_on(kind))


# Every workspace has objects of the same classes, and to look through a class takes longer than all else here.
@cache
def definitions_on(owner: type) -> tuple[_Definition, ...]:
    """Return the operations that a class declares."""
    marked: list[tuple[OperationMark, str]] = []
    judges: dict[str, dict[str, _Method]] = {
        OperationMark.ASSESSES: {},
        OperationMark.PREVIEWS: {},
        OperationMark.FORESEES: {},
    }
    for attribute in dir(owner):
        function = inspect.getattr_static(owner, attribute)
        if isinstance(mark := getattr(function, OperationMark.MARK, None), OperationMark):
            marked.append((mark, attribute))
        for kind, methods in judges.items():
            if isinstance(name := getattr(function, kind, None), str):
                # Beside the object itself.
                takes_call = len(inspect.signature(function).parameters) > 2
                methods[name] = _Method(attribute=attribute, takes_call=takes_call)
    # An assessment for a misspelt name would never be asked, in silence.
    for name in {name for methods in judges.values() for name in methods} - {mark.name for mark, _ in marked}:
        raise ValueError(f"{owner.__name__} judges or previews {name}, which is not one of its operations")
    return tuple(_definition(owner, attribute, mark, judges) for mark, attribute in marked)


def _definition(
    owner: type, attribute: str, mark: OperationMark, judges: Mapping[str, Mapping[str, _Method]]
) -> _Definition:
    handler = cast(Handler, getattr(owner, attribute))
    request, result, streaming = _types_of(mark.name, handler)
    text = inspect.getdoc(handler) or ""
    if not text:
        raise TypeError(f"operation {mark.name} needs a docstring: it is what an agent reads")
    return _Definition(
        attribute=attribute,
        mark=mark,
        description=text,
        request=request,
        result=result,
        streaming=streaming,
        assess=judges[OperationMark.ASSESSES].get(mark.name),
        preview=judges[OperationMark.PREVIEWS].get(mark.name),
        foresee=judges[OperationMark.FORESEES].get(mark.name),
    )


def _types_of(name: str, handler: Handler) -> tuple[type[Request], type[Result], bool]:
    hints = get_type_hints(handler)
    answer = hints.pop("return", None)
    request = next((hint for hint in hints.values() if inspect.isclass(hint) and issubclass(hint, Request)), None)
    streaming = get_origin(answer) is AsyncIterator
    result = get_args(answer)[0] if streaming else answer
    if request is None or not (inspect.isclass(result) and issubclass(result, Result)):
        raise TypeError(f"operation {name} must be typed (call: Call, request: Request) -> Result")
    if not (inspect.isasyncgenfunction(handler) if streaming else inspect.iscoroutinefunction(handler)):
        raise TypeError(f"operation {name} must be {'an async generator' if streaming else 'a coroutine'} function")
    return request, result, streaming
