"""Which files the modules of a repository are; each family that has modules says so in its package."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Read = Callable[[str], bytes | None]


class Modules(ABC):
    """The modules of a repository in one family of languages."""

    @abstractmethod
    def find(self, source: str, importer: str) -> tuple[str, ...]:
        """The files or folders that an import may mean; none when it means nothing of this repository."""

    @abstractmethod
    def outside(self, source: str) -> bool:
        """Whether a module that was not found is certainly not of this repository."""

    def is_guess(self, source: str, importer: str) -> bool:
        """Whether an import may mean another module than the one that is found."""
        return False

    def beside(self, path: str) -> Sequence[str]:
        """The files that share their outermost names with a file, itself included; none where files do not."""
        return ()

    def files_of(self, package: str) -> Sequence[str]:
        """The files that an import of a package brings; none where a module is a file."""
        return ()

    def outside_package(self, source: str, importer: str) -> str:
        """The third-party package that an import names; empty for what the language brings along."""
        return source

    def missing_configs(self) -> Mapping[str, Sequence[str]]:
        """The files that say how modules are named, each with those that it builds on and that are not here."""
        return {}

    def entry_files(self, path: str) -> Mapping[str, tuple[str, ...]] | None:
        """By what users import, the files they get from the package of a file; None where they may import any."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleLayout:
    """How the modules of a family are found, and what they are found by."""

    find_all: Callable[[Iterable[str], Read], Modules]
    manifests: Callable[[Iterable[str]], Sequence[str]] | None
    """Of all paths, those whose content decides as well; None where that of any file may."""


def is_package(place: str) -> bool:
    """Whether the place of a module is a folder whose files are one package, not a file."""
    return place.endswith("/")
