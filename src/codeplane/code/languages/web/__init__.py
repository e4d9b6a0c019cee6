"""HTML and CSS."""

from codeplane.code.languages.comment_syntax import MARKUP, CommentSyntax
from codeplane.code.languages.language import Language

HTML = Language(
    name="html",
    package="web",
    title="HTML",
    kind="markup",
    extensions=("html", "htm", "xhtml"),
    members=(),
    members_in=frozenset({"file"}),
    comments=MARKUP,
)
CSS = Language(
    name="css",
    package="web",
    title="CSS",
    kind="markup",
    extensions=("css",),
    members=(),
    identifier=r"[^\W\d][\w-]*|--[\w-]+",
    import_binds="none",
    members_in=frozenset({"file"}),
    comments=CommentSyntax(blocks=((b"/*", b"*/"),)),
)
LANGUAGES = (HTML, CSS)
