"""The families whose members are resolved by declared types, and what resolves them."""

from collections.abc import Callable, Mapping

from codeplane.code.languages.go.members import GoMembers
from codeplane.code.languages.member_resolver import CodeView, MemberResolver
from codeplane.code.languages.rust.members import RustMembers

MEMBER_RESOLVERS: Mapping[str, Callable[[CodeView], MemberResolver]] = {
    "go": GoMembers,
    "rust": RustMembers,
}
