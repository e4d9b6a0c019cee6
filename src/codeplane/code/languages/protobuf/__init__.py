"""Protocol Buffers."""

from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

PROTO = Language(
    name="proto",
    package="protobuf",
    title="Protocol Buffers",
    family="protobuf",
    extensions=("proto",),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class"}),
    import_binds="none",
)
LANGUAGES = (PROTO,)
PROJECT = project_family(
    "protobuf",
    languages="protobuf proto",
    include="*.proto",
    code=False,
    fences="buf.work.yaml",
    packages="buf.yaml",
    ambient=True,
    ambient_unless="buf.yaml",
)
