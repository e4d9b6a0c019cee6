"""Protocol Buffers."""

from codeplane.code.languages.language import Language

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
