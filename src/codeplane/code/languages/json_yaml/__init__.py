"""JSON, YAML and TOML."""

from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

_MEMBERS_IN = frozenset({"file", "object"})

JSON = Language(
    name="json",
    package="json_yaml",
    title="JSON",
    family="json_yaml",
    kind="data",
    extensions=("json", "jsonc", "webmanifest"),
    members=(),
    members_in=_MEMBERS_IN,
)
YAML = Language(
    name="yaml",
    package="json_yaml",
    title="YAML",
    family="json_yaml",
    kind="data",
    extensions=("yaml", "yml"),
    aliases=("yml",),
    members=(),
    members_in=_MEMBERS_IN,
    comments=HASH,
)
TOML = Language(
    name="toml",
    package="json_yaml",
    title="TOML",
    family="json_yaml",
    kind="data",
    extensions=("toml",),
    filenames=("Pipfile",),
    members_in=_MEMBERS_IN,
    comments=HASH,
)
LANGUAGES = (JSON, YAML, TOML)
PROJECT = project_family(
    "json_yaml",
    languages="json yaml toml jsonc",
    include="*.json *.yaml *.yml *.toml *.jsonc",
    code=False,
    ambient=True,
)
