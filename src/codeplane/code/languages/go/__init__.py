"""Go."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.go.function_types import unnamed_function_types
from codeplane.code.languages.go.keywords import GO_RESERVED
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words

GO = Language(
    name="go",
    package="go",
    title="Go",
    family="go",
    extensions=("go",),
    aliases=("golang",),
    linked="go",
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    members_in=frozenset({"class"}),
    receiver_scopes=True,
    explicit_members=True,
    reserved=GO_RESERVED,
    names=NameRules(
        declared_first=True,
        folder_packages=True,
        follows_packages=True,
        system_twins=True,
        unused_imports_fail=True,
        called_by_language=words("init main"),
    ),
    classes=ClassRules(implicit_interfaces=True),
    contract=Contract(
        visible="capital",
        module="folder",
        modifiers=words("func type var const"),
        shape="grouped",
        calls="exact",
        typed=True,
        returns="after",
        bases_follow=False,
        whole_interfaces=True,
        pointer_receivers=True,
        embedding=True,
        type_aliases=True,
        canonical_type=unnamed_function_types,
    ),
    patterns=("go",),
    pattern_contexts=(("package p\nfunc f() { ", " }"),),
)
LANGUAGES = (GO,)
PROJECT = project_family(
    "go",
    languages="go",
    include="*.go",
    fences="go.work",
    packages="go.mod",
    fronts="{name}.go doc.go",
)
