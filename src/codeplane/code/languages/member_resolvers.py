"""The groups of languages whose members are resolved by declared types, and what resolves them."""

from collections.abc import Callable, Mapping

from codeplane.code.languages.c.names import CNames
from codeplane.code.languages.dotnet.members import CSharpMembers
from codeplane.code.languages.go.members import GoMembers
from codeplane.code.languages.jvm.members import JvmMembers
from codeplane.code.languages.member_resolver import CodeView, MemberResolver
from codeplane.code.languages.rust.members import RustMembers

MEMBER_RESOLVERS: Mapping[str, Callable[[CodeView], MemberResolver]] = {
    "c": CNames,
    "dotnet": CSharpMembers,
    "go": GoMembers,
    "jvm": JvmMembers,
    "rust": RustMembers,
}
