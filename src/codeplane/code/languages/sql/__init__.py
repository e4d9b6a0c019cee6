"""SQL."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

SQL = Language(
    name="sql",
    package="sql",
    title="SQL",
    family="sql",
    extensions=("sql",),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class"}),
    comments=CommentSyntax(lines=(b"--",), blocks=((b"/*", b"*/"),)),
)
LANGUAGES = (SQL,)
PROJECT = project_family(
    "sql",
    languages="sql",
    include="*.sql",
    code=False,
    ambient=True,
)
