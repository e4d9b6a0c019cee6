"""The code that annotation processors generate from the members of a Java class, by the names of these members."""

from codeplane.code.languages.jvm.java_classes import Node, text
from codeplane.code.languages.member_resolver import CodeView
from codeplane.code.languages.reserved_words import words

# Lombok's annotations of a class or field: methods named by fields, and those under the field's own name.
_ACCESSORS = words("@Data @Getter @Setter @Value @With @Wither")
_BUILDERS = words("@Accessors @Builder @Delegate @FieldNameConstants @SuperBuilder")
# Annotations of a class whose abstract methods AutoValue or Immutables read.
_PROPERTIES = words("@AutoOneOf @AutoValue @Builder @Immutable @Modifiable")
_PREFIXES = ("get", "is", "set", "with")
_LOMBOK = "code that Lombok generates"


def modifiers(declaration: Node | None) -> set[str]:
    """Return the modifiers of a declaration: keywords, and annotations as `@Name`."""
    children = declaration.children if declaration is not None else []
    listed = next((child for child in children if child.type == "modifiers"), None)
    if listed is None:
        return set()
    names = [child.child_by_field_name("name") for child in listed.named_children]
    # Kotlin's grammar has a node around each keyword.
    plain = {text(child) if child.type.endswith("_modifier") else child.type for child in listed.children}
    return plain | {f"@{text(name).rpartition('.')[2]}" for name in names if name}


def generator_of_field(view: CodeView, path: str, name: str, marks: set[str]) -> str:
    """Return what generates methods from a field that code may call; `marks`: modifiers of the field and its class."""
    if "static" in marks or b"lombok" not in view.text(path):
        return ""
    if marks & _BUILDERS:
        return _LOMBOK
    # A boolean `isOpen` is set by `setOpen()`.
    stem = name[2:] if name.startswith("is") and name[2:3].isupper() else ""
    called = [f"{prefix}{suffix}" for prefix in _PREFIXES for suffix in (name[:1].upper() + name[1:], stem) if suffix]
    return _LOMBOK if marks & _ACCESSORS and any(view.files_with(accessor) for accessor in called) else ""


def generator_of_method(marks: set[str], owner: set[str]) -> str:
    """Return what implements an abstract method by its name; `marks` and `owner`: modifiers of it and its class."""
    found = sorted(owner & _PROPERTIES) if "abstract" in marks else []
    return f"code that is generated for {found[0]}" if found else ""
