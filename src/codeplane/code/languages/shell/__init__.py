"""Scripts of the shell."""

from collections.abc import Callable, Container

from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language
from codeplane.code.languages.shell.keywords import BASH_RESERVED


def is_run(path: str, files: Container[str], read: Callable[[str], bytes | None]) -> bool:
    """Whether a script is a program: it names what runs it, and its functions are its own."""
    return (read(path) or b"").startswith(b"#!")


BASH = Language(
    name="bash",
    package="shell",
    title="Bash",
    extensions=("sh", "bash", "zsh", "ksh", "bats"),
    filenames=(".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD"),
    shebangs=("sh", "bash", "zsh", "ksh", "dash"),
    aliases=("sh", "shell"),
    variables_in=frozenset({"file"}),
    members=(),
    import_binds="none",
    comments=HASH,
    reserved=BASH_RESERVED,
    patterns=("bash",),
    contract=Contract(is_program=is_run),
)
LANGUAGES = (BASH,)
