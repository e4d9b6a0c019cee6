"""Dockerfiles."""

from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

DOCKERFILE = Language(
    name="dockerfile",
    package="docker",
    title="Dockerfile",
    family="docker",
    kind="configuration",
    extensions=("dockerfile", "containerfile"),
    filenames=("Dockerfile", "Containerfile"),
    members=(),
    import_binds="none",
    members_in=frozenset({"file"}),
    comments=HASH,
)
LANGUAGES = (DOCKERFILE,)
PROJECT = project_family(
    "docker",
    languages="docker dockerfile",
    include="Dockerfile *.Dockerfile docker-compose.yml docker-compose.yaml",
    code=False,
    ambient=True,
)
