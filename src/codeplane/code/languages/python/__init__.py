"""Python."""

from codeplane.code.languages.class_rules import ClassRules
from codeplane.code.languages.comment_syntax import HASH
from codeplane.code.languages.language import Language
from codeplane.code.languages.name_rules import NameRules
from codeplane.code.languages.project_family import project_family
from codeplane.code.languages.python.contract import PYTHON_CONTRACT
from codeplane.code.languages.python.keywords import PYTHON_RESERVED, PYTHON_SOFT

PYTHON = Language(
    name="python",
    package="python",
    title="Python",
    family="python",
    extensions=("py", "pyi", "pyw"),
    shebangs=("python", "python3"),
    aliases=("py",),
    variables_in=frozenset({"file", "class"}),
    methods_in=frozenset({"class"}),
    hidden_from_functions=frozenset({"class"}),
    implicit_exports=True,
    import_binds="first",
    explicit_members=True,
    indented=True,
    docstrings=True,
    comments=HASH,
    soft_keywords=PYTHON_SOFT,
    reserved=PYTHON_RESERVED,
    names=NameRules(
        follows_imports=True,
        reads_module_early=True,
        binds_stars=True,
        dotted_modules=True,
        lists_exports=True,
        follows_values=True,
        open_modules=True,
        untyped=True,
        flow_sensitive=True,
        outer_assignment="declared",
        named_arguments=True,
        names_in_strings=True,
        evaluates_text=True,
        fixtures=True,
        stubs=(".py", ".pyi"),
        special_names=True,
        is_identifier=True,
    ),
    classes=ClassRules(
        receiver_parameter=True,
        has_this=False,
        calls_super=True,
        rebindable=True,
        mangles_private=True,
        mixins=True,
        protocol_base="Protocol",
    ),
    contract=PYTHON_CONTRACT,
    patterns=("python",),
    pattern_contexts=(("", ""), ("", "\ndef f(): pass"), ("try:\n    pass\n", "")),
)
LANGUAGES = (PYTHON,)
PROJECT = project_family(
    "python",
    languages="python cython",
    include="*.py *.pyi *.pyw *.pyx *.pxd *.pxi",
    fences="uv.lock poetry.lock Pipfile.lock",
    packages="pyproject.toml setup.py setup.cfg requirements.txt Pipfile",
    fronts="{name}/__init__.py src/{name}/__init__.py {name}.py src/*/__init__.py",
)
