"""What users of a Python definition depend on."""

from codeplane.code.languages.contract import Contract
from codeplane.code.languages.python.library_classes import PythonBuiltins
from codeplane.code.languages.python.programs import is_program, run_only_spans
from codeplane.code.languages.reserved_words import words

PYTHON_CONTRACT = Contract(
    visible="underscore",
    is_program=is_program,
    run_only=run_only_spans,
    uncalled=words("__del__ __cmp__ __nonzero__ __unicode__ __div__ __long__ __getslice__ __setslice__ __delslice__"),
    private_modules=True,
    module="file",
    package_marker="__init__.py",
    re_exports="package",
    modifiers=words("async def class type"),
    decorators=True,
    added=words("async"),
    removed=words("async"),
    shape="marked",
    calls="keywords",
    names_count=True,
    returns="->",
    lambda_values=True,
    generators_by_body=True,
    overloads="decorated",
    one_name=True,
    type_parentheses="bases",
    bases_follow=False,
    builtins=PythonBuiltins(),
    implied_base="object",
    generic_base="Generic",
    protocols=True,
    field_classes=True,
    constructors="inherited",
)
