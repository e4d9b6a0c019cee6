"""Scripts of the shell."""

from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.language import Language
from codeplane.code.languages.shell.keywords import BASH_RESERVED

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
)
LANGUAGES = (BASH,)
