"""Which files belong to projects of a family of languages, and which files mark the root of one."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family; a marker `*.x` means any file so named, `x/` any folder so named."""

    name: str
    code: bool
    languages: tuple[str, ...]
    include: tuple[str, ...]
    fences: tuple[str, ...] = ()
    """Files that mark the root of several packages: workspaces and lock files."""
    packages: tuple[str, ...] = ()
    """Files that mark the root of one package."""
    ambient: bool = False
    """A context at the root of the repository is there without any marker."""
    ambient_unless: tuple[str, ...] = ()
    """The same, unless one of these is found."""
    fronts: tuple[str, ...] = ()
    """The files by which users of a library enter it, the likeliest first: globs below the root of its package, in
    which `{name}` is the package's name in any case and with any dashes."""
    in_types: bool = False
    """All code is in types: programs start in methods, and a library without a front file is entered by the types that
    its README and most of its tests speak of."""
    brings: frozenset[str] = frozenset()
    """The first parts of the names of packages that the languages bring along."""


def project_family(
    name: str,
    *,
    languages: str,
    include: str,
    code: bool = True,
    fences: str = "",
    packages: str = "",
    ambient: bool = False,
    ambient_unless: str = "",
    fronts: str = "",
    in_types: bool = False,
    brings: str = "",
) -> Family:
    """A family from texts in which blanks part the names."""
    return Family(
        name=name,
        code=code,
        languages=tuple(languages.split()),
        include=tuple(f"**/{pattern}" for pattern in include.split()),
        fences=tuple(fences.split()),
        packages=tuple(packages.split()),
        ambient=ambient,
        ambient_unless=tuple(ambient_unless.split()),
        fronts=tuple(fronts.split()),
        in_types=in_types,
        brings=frozenset(brings.split()),
    )
