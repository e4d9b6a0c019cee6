"""HCL, the language of Terraform."""

from codeplane.code.languages.comment_syntax import CommentSyntax
from codeplane.code.languages.language import Language
from codeplane.code.languages.project_family import project_family

HCL = Language(
    name="hcl",
    package="terraform",
    title="HCL",
    family="terraform",
    kind="configuration",
    extensions=("tf", "tfvars", "hcl"),
    identifier=r"[^\W\d][\w-]*",
    import_binds="none",
    members_in=frozenset({"file", "block"}),
    comments=CommentSyntax(lines=(b"#", b"//"), blocks=((b"/*", b"*/"),)),
)
LANGUAGES = (HCL,)
PROJECT = project_family(
    "terraform",
    languages="terraform hcl",
    include="*.tf *.hcl",
    code=False,
    fences=".terraform.lock.hcl",
    packages="main.tf versions.tf",
)
