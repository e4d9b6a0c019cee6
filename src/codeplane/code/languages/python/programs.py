"""Files of Python that are run, and never imported by users of a package."""

import re
from collections.abc import Callable, Container, Iterator

from codeplane.code.languages.expression import InComment

_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
_RUN = frozenset({"setup.py", "noxfile.py", "conftest.py", "fabfile.py", "tasks.py"})
# Folders that are searched for modules, and those that setuptools takes for no packages.
_ROOTS = frozenset({"src", "lib", "python"})
_TOOLS = frozenset(
    {
        *("benchmark", "benchmarks", "bin", "ci", "debian", "doc", "docs", "example", "examples", "exercises", "maint"),
        *("misc", "script", "scripts", "tasks", "tool", "tools", "util", "utils"),
    }
)
_LISTED = re.compile(rb"packages|modules|\bflit|\bhatch|\bpoetry")
_IF_RUN = re.compile(rb"""^if[ \t(]+__name__[ \t]*==[ \t]*(["'])__main__\1[ \t)]*:""", re.MULTILINE)
_NAME = re.compile(rb"""\bname["']?\s*[=:]\s*["']?([\w.-]+)""")
_NAMESPACES = re.compile(rb"namespace|\bnamespaces\s*=\s*true")


def is_program(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a file is a script of the repository's own tools, or of a repository that has no packages of Python."""
    folder, _, name = path.rpartition("/")
    if name == "__main__.py" or _is_beside_sources(path, files, read):
        return True
    if f"{folder}/__init__.py".lstrip("/") in files:
        return False
    if name in _RUN:
        return True
    project = next(
        (above for above in _upwards(folder) if any(_file(above, each) in files for each in _MANIFESTS)), None
    )
    if project is None:
        return bool(folder)
    own = path.removeprefix(f"{project}/") if project else path
    return not _is_installed(own, project, files, read)


def _is_beside_sources(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a package at the root belongs to the repository's own tools: what is installed is in `src`."""
    top, _, inside = path.partition("/")
    if not inside or top in _ROOTS or f"{top}/__init__.py" not in files:
        return False
    texts = [text for name in _MANIFESTS if (text := read(name)) is not None]
    names = {match[1].decode("utf-8", "replace") for text in texts if (match := _NAME.search(text)) is not None}
    spelled = {re.sub(r"[-.]+", "_", each) for name in names for each in (name, name.lower())}
    return any(f"src/{name}/__init__.py" in files for name in spelled)


def run_only_spans(text: bytes, in_text: InComment) -> tuple[tuple[int, int], ...]:
    """The blocks of a module that run when it is a program, and not when it is imported."""
    spans = []
    for found in _IF_RUN.finditer(text) if b"__main__" in text else ():
        end = text.find(b"\n", found.end()) + 1 or len(text)
        while end < len(text) and (text[end : end + 1] in b" \t\r\n#)]}" or in_text(end)):
            end = text.find(b"\n", end) + 1 or len(text)
        spans.append((found.start(), end))
    return tuple(spans)


def _is_installed(own: str, project: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a module outside of packages may be installed with a project; `own` is its path in that."""
    folders = own.split("/")[:-1]
    if any(_file(project, "/".join([*folders[:depth], "__init__.py"])) in files for depth in range(1, len(folders))):
        # Data of a package, or a package without the file that makes it one.
        return True
    if folders[:1] and folders[0] in _ROOTS:
        return True
    if folders and not _TOOLS.isdisjoint(folders):
        return False
    texts = [text for name in _MANIFESTS if (text := read(_file(project, name))) is not None]
    if not texts:
        return True
    named = folders[0] if folders else own.rpartition(".")[0]
    pattern = re.compile(rb"(?<![\w./])" + re.escape(named.encode()).replace(b"_", b"[-_]") + rb"(?!\w)")
    if any(pattern.search(text) for text in texts):
        return True
    # What nobody lists is looked for.
    return bool(folders) and (not any(map(_LISTED.search, texts)) or any(map(_NAMESPACES.search, texts)))


def _file(folder: str, name: str) -> str:
    return f"{folder}/{name}".lstrip("/")


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder
