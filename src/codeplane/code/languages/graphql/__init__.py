"""GraphQL."""

from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

GRAPHQL = Language(
    name="graphql",
    package="graphql",
    title="GraphQL",
    family="graphql",
    extensions=("graphql", "gql"),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class"}),
    identifier=r"[$]?[^\W\d]\w*",
    comments=HASH,
)
LANGUAGES = (GRAPHQL,)
PROJECT = project_family(
    "graphql",
    languages="graphql",
    include="*.graphql *.gql",
    code=False,
    ambient=True,
)
