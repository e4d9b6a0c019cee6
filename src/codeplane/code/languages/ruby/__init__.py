"""Ruby."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.contract import Contract
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.reserved_words import words
from codeplane.code.languages.ruby.keywords import RUBY_RESERVED, RUBY_SOFT

RUBY = Language(
    name="ruby",
    package="ruby",
    title="Ruby",
    family="ruby",
    extensions=("rb", "rake", "gemspec", "ru"),
    filenames=("Rakefile", "Gemfile", "Vagrantfile", "Guardfile", "Podfile", "Fastfile"),
    shebangs=("ruby",),
    aliases=("rb",),
    variables_in=frozenset({"file", "class"}),
    methods_in=frozenset({"class"}),
    members=(".", "&.", "::"),
    identifier=r"@{0,2}[^\W\d]\w*[?!]?",
    import_binds="none",
    linked="ruby",
    calls_apart=True,
    comments=CommentSyntax(lines=(b"#",), blocks=((b"=begin", b"=end"),)),
    soft_keywords=RUBY_SOFT,
    reserved=RUBY_RESERVED,
    names=NameRules(
        private_sign="@",
        argument_mark=":",
        marked_parameters=True,
        symbols=True,
        named_in_texts=True,
        special_members=words(
            """call coerce const_missing deconstruct deconstruct_keys each eql? extended hash included inherited
            initialize initialize_copy inspect marshal_dump marshal_load method_missing prepended respond_to_missing?
            succ to_a to_ary to_h to_hash to_proc to_s to_str to_sym"""
        ),
    ),
    classes=ClassRules(mixin_words=("extend", "include", "prepend")),
    contract=Contract(
        visible="underscore",
        visibility_sections=True,
        modifiers=words("def class module self"),
        shape="bare",
    ),
    patterns=("ruby",),
)
LANGUAGES = (RUBY,)
PROJECT = project_family(
    "ruby",
    languages="ruby",
    include="*.rb *.rake Gemfile",
    fences="Gemfile.lock",
    packages="Gemfile",
    fronts="lib/{name}.rb",
)
