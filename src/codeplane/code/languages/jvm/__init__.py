"""Java, Kotlin and Scala."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.jvm.contract import JAVA_CONTRACT, KOTLIN_CONTRACT, SCALA_CONTRACT
from codeplane.code.languages.jvm.keywords import (
    JAVA_RESERVED,
    JAVA_SOFT,
    KOTLIN_RESERVED,
    KOTLIN_SOFT,
    SCALA_RESERVED,
    SCALA_SOFT,
)
from codeplane.code.languages.jvm.kotlin_source_repair import break_lines, write_heads
from codeplane.code.languages.language import Language, SourceRepair
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words

# Called without their names: by applications, patterns, assignments and `for`.
_SCALA_MEMBERS = words(
    "apply applyDynamic flatMap foreach main map selectDynamic unapply unapplySeq update updateDynamic withFilter"
)

JAVA = Language(
    name="java",
    package="jvm",
    title="Java",
    family="jvm",
    extensions=("java",),
    methods_in=frozenset({"class"}),
    bare_members=True,
    identifier=r"(?:[^\W\d]|[$])[\w$]*",
    calls_apart=True,
    soft_keywords=JAVA_SOFT,
    reserved=JAVA_RESERVED,
    names=NameRules(folder_packages=True, files_named_by_types=True, types_behind="dots", types_named_in_texts=True),
    classes=ClassRules(members_by_kind=True, components=True),
    contract=JAVA_CONTRACT,
    patterns=("java",),
    pattern_contexts=(("class C { void m() { ", "; } }"), ("class C { void m() { ", " } }"), ("class C { ", " }")),
)
KOTLIN = Language(
    name="kotlin",
    package="jvm",
    title="Kotlin",
    family="jvm",
    extensions=("kt", "kts"),
    aliases=("kt",),
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    members=(".", "?.", "::"),
    bare_members=True,
    soft_keywords=KOTLIN_SOFT,
    reserved=KOTLIN_RESERVED,
    source_repair=SourceRepair(before_parsing=write_heads, after_errors=break_lines, version=2),
    names=NameRules(
        folder_packages=True,
        argument_mark="=",
        sign_before="$",
        operator_word="operator",
        property_accessors=True,
        types_named_in_texts=True,
        declared_by_platform=True,
        called_by_language=frozenset({"main"}),
    ),
    contract=KOTLIN_CONTRACT,
    patterns=("kotlin",),
)
SCALA = Language(
    name="scala",
    package="jvm",
    title="Scala",
    family="jvm",
    extensions=("scala", "sc"),
    variables_in=frozenset({"file"}),
    methods_in=frozenset({"class"}),
    bare_members=True,
    soft_keywords=SCALA_SOFT,
    reserved=SCALA_RESERVED,
    names=NameRules(folder_packages=True, argument_mark="=", sign_before="$", special_members=_SCALA_MEMBERS),
    classes=ClassRules(unmarked_overrides=True),
    contract=SCALA_CONTRACT,
    patterns=("scala",),
)
LANGUAGES = (JAVA, KOTLIN, SCALA)
PROJECT = project_family(
    "jvm",
    languages="java kotlin scala",
    include="*.java *.kt *.kts *.scala *.sc",
    fences="settings.gradle settings.gradle.kts .mvn/",
    packages="build.gradle build.gradle.kts pom.xml build.sbt",
    fronts="src/main/**/{name}.java src/main/**/{name}.kt src/**/{name}.kt src/**/{name}.scala",
    in_types=True,
    brings="java javax jdk sun kotlin scala",
)
