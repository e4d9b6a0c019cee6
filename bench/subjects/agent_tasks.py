"""What agents do all day, as a table: each task with the commands of a shell and the calls of our tools that do it.

A step may speak of the first hit of the step before it: `{path}`, `{line}`. A task is done when every fact is in what
its steps said. Of the shell the short way is taken: the right word at once, and no more lines than are needed.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["definition", "read", "uses", "issue", "understand", "list", "config", "entry points", "change"]
Call = tuple[str, dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task; `facts` must be in the answers of either side, whose changes are taken back before the other's turn."""

    kind: Kind
    asks: str
    facts: tuple[str, ...]
    shell: tuple[str, ...]
    ours: tuple[Call, ...]


def _search(query: str, **more: object) -> Call:
    return "search", {"query": query, **more}


def _read(*paths: str) -> Call:
    return "read_files", {"paths": list(paths)}


def _explain(symbol: str) -> Call:
    return "explain_symbol", {"symbol": symbol}


def _write(*edits: tuple[str, str, str]) -> Call:
    return "write_files", {"edits": [{"path": path, "old_text": old, "new_text": new} for path, old, new in edits]}


def _rename(word: str, symbol: str, new: str, *files: str) -> Task:
    there = f"$(rg -lw {word} .)"
    return Task(
        kind="change",
        asks=f"{symbol} renamed wherever it is used, and what that changed",
        facts=files,
        shell=(f"rg -nw {word} .", f"sed -i 's/\\b{word}\\b/{new}/g' {there}", "git diff --stat=160"),
        ours=(("refactor_rename", {"symbol": symbol, "new_name": new, "apply": True}),),
    )


def _issue(text: str, file: str, *shell: str) -> Task:
    return Task(kind="issue", asks=text, facts=(file,), shell=shell, ours=(_search(text, mode="hybrid", limit=5),))


DJANGO = (
    Task(
        kind="definition",
        asks="where Paginator is defined",
        facts=("django/core/paginator.py",),
        shell=("rg -n 'class Paginator\\b' .",),
        ours=(_search("Paginator", mode="definitions"),),
    ),
    Task(
        kind="definition",
        asks="the signature of the urlize that templates do not call, and who uses it",
        facts=("def urlize(text, trim_url_limit=None", "tests/utils_tests/test_html.py"),
        shell=("rg -n 'def urlize\\b' django", "rg -nw urlize django/utils tests/utils_tests"),
        ours=(_explain("django.utils.html.urlize"),),
    ),
    Task(
        kind="definition",
        asks="where a cookie is set on a response, and with which arguments",
        facts=("def set_cookie(", "samesite=None"),
        shell=("rg -n 'def set_cookie\\b' django", "sed -n '{line},+30p' {path}"),
        ours=(_read("symbol:HttpResponseBase.set_cookie"),),
    ),
    Task(
        kind="definition",
        asks="what classes there are to validate passwords",
        facts=("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator"),
        shell=("rg -n 'class \\w+PasswordValidator|class \\w+LengthValidator' django",),
        ours=(_search("class \\w+(Password|Length)Validator", mode="regex", paths=["django"]),),
    ),
    Task(
        kind="read",
        asks="the body of QuerySet.get_or_create",
        facts=("def get_or_create(self, defaults=None, **kwargs):", "except IntegrityError:"),
        shell=("rg -n 'def get_or_create' django/db/models/query.py", "sed -n '{line},+34p' django/db/models/query.py"),
        ours=(_read("symbol:QuerySet.get_or_create"),),
    ),
    Task(
        kind="read",
        asks="the body of slugify",
        facts=("def slugify(value, allow_unicode=False):", "value).strip("),
        shell=("rg -n 'def slugify' django/utils", "sed -n '{line},+25p' django/utils/text.py"),
        ours=(_read("symbol:django.utils.text.slugify"),),
    ),
    Task(
        kind="read",
        asks="how Model.save begins",
        facts=("def save(", "self._prepare_related_fields_for_save(operation_name"),
        shell=("rg -n '    def save\\(' django/db/models/base.py", "sed -n '{line},+60p' django/db/models/base.py"),
        ours=(_read("symbol:Model.save"),),
    ),
    Task(
        kind="read",
        asks="escape and conditional_escape side by side",
        facts=("SafeString(html.escape(str(text)))", 'if hasattr(text, "__html__"):'),
        shell=(
            "rg -n 'def escape\\(|def conditional_escape\\(' django/utils/html.py",
            "sed -n '{line},+12p' django/utils/html.py",
            "rg -n -A 16 'def conditional_escape\\(' django/utils/html.py",
        ),
        ours=(_read("symbol:django.utils.html.escape", "symbol:conditional_escape"),),
    ),
    Task(
        kind="read",
        asks="how a signal is sent and received robustly",
        facts=("def send_robust(self, sender, **named):", "responses.append((receiver, err))"),
        shell=(
            "rg -n 'def send_robust' django",
            "sed -n '{line},+60p' {path}",
        ),
        ours=(_read("symbol:Signal.send_robust"),),
    ),
    Task(
        kind="read",
        asks="the lines around an error message",
        facts=("didn't return an HttpResponse object", "if response is None:", "asyncio.iscoroutine(response)"),
        shell=('rg -n "didn\'t return an HttpResponse" django', "sed -n '320,345p' {path}"),
        ours=(_search("didn't return an HttpResponse", paths=["django"], context=10),),
    ),
    Task(
        kind="read",
        asks="three settings files at once",
        facts=("[tox]", "[project]", "include AUTHORS"),
        shell=("sed -n '1,30p' tox.ini", "sed -n '1,30p' pyproject.toml", "cat MANIFEST.in"),
        ours=(_read("tox.ini:1-30", "pyproject.toml:1-30", "MANIFEST.in"),),
    ),
    Task(
        kind="uses",
        asks="every use of lazystr",
        facts=("tests/utils_tests/test_safestring.py", "django/utils/functional.py"),
        shell=("rg -nw lazystr .",),
        ours=(_search("lazystr", mode="references", limit=100),),
    ),
    Task(
        kind="uses",
        asks="who calls make_password outside of tests",
        facts=("django/contrib/auth/base_user.py", "django/contrib/auth/models.py"),
        shell=("rg -nw make_password django",),
        ours=(_search("make_password", mode="references", tests="exclude"),),
    ),
    Task(
        kind="uses",
        asks="where SuspiciousFileOperation is raised or caught",
        facts=("django/core/files/utils.py", "django/utils/_os.py", "django/core/files/storage/base.py"),
        shell=("rg -nw SuspiciousFileOperation django",),
        ours=(_search("SuspiciousFileOperation", paths=["django"]),),
    ),
    Task(
        kind="uses",
        asks="which code reads DATA_UPLOAD_MAX_MEMORY_SIZE",
        facts=("django/http/request.py", "django/http/multipartparser.py"),
        shell=("rg -n DATA_UPLOAD_MAX_MEMORY_SIZE django",),
        ours=(_search("DATA_UPLOAD_MAX_MEMORY_SIZE", paths=["django"]),),
    ),
    Task(
        kind="uses",
        asks="what builds on BaseDatabaseWrapper",
        facts=("django/db/backends/postgresql/base.py", "django/db/backends/sqlite3/base.py"),
        shell=("rg -n 'class \\w+\\(BaseDatabaseWrapper\\)' django",),
        ours=(_search("class \\w+\\(BaseDatabaseWrapper\\)", mode="regex", paths=["django"]),),
    ),
    Task(
        kind="uses",
        asks="what slugify is tested by",
        facts=("tests/utils_tests/test_text.py",),
        shell=("rg -nw slugify tests",),
        ours=(_search("django.utils.text.slugify", mode="references", tests="only"),),
    ),
    _issue(
        "Elided page range of the paginator shows an ellipsis where only one page is left out",
        "django/core/paginator.py",
        "rg -il 'elided' django",
        "rg -n 'ELLIPSIS|def get_elided_page_range' django/core/paginator.py",
    ),
    _issue(
        "The development server does not restart when a file in a template directory changes",
        "django/template/autoreload.py",
        "rg -il 'autoreload' django",
        "rg -n 'template' django/utils/autoreload.py",
        "rg -n 'def ' django/template/autoreload.py",
    ),
    _issue(
        "CSRF check rejects the referer of a subdomain although CSRF_TRUSTED_ORIGINS has a wildcard",
        "django/middleware/csrf.py",
        "rg -il 'CSRF_TRUSTED_ORIGINS' django",
        "rg -n 'referer' django/middleware/csrf.py",
    ),
    _issue(
        "makemigrations asks whether a field was renamed although it was not",
        "django/db/migrations/questioner.py",
        "rg -il 'renamed' django/core/management django/db/migrations",
        "rg -n 'def ask_rename' django/db/migrations/questioner.py",
    ),
    _issue(
        "ModelChoiceField ignores limit_choices_to when it is a callable",
        "django/forms/models.py",
        "rg -l 'limit_choices_to' django",
        "rg -n 'limit_choices_to' django/forms/models.py",
    ),
    Task(
        kind="understand",
        asks="what is in django/core/signing.py",
        facts=("TimestampSigner", "b64_decode", "get_cookie_signer"),
        shell=("rg -n '^(class|def|    def) ?' django/core/signing.py", "sed -n '1,60p' django/core/signing.py"),
        ours=(_explain("django/core/signing.py"),),
    ),
    Task(
        kind="understand",
        asks="what Signal is and can do, and who uses it",
        facts=("def connect", "send_robust", "django/db/models/signals.py"),
        shell=(
            "rg -n 'class Signal\\b' django",
            "rg -n '    (async )?def |^class ' {path}",
            "rg -n '= Signal\\(|\\(Signal\\)' django",
        ),
        ours=(_explain("Signal"),),
    ),
    Task(
        kind="understand",
        asks="what ModelForm builds on and where it is used",
        facts=("class ModelForm(BaseModelForm", "django/contrib/auth/forms.py"),
        shell=("rg -n 'class ModelForm\\b' django", "rg -nw 'ModelForm' django"),
        ours=(_explain("ModelForm"),),
    ),
    Task(
        kind="list",
        asks="what is in the folder of the session backends",
        facts=("signed_cookies.py", "cached_db.py"),
        shell=("ls django/contrib/sessions/backends",),
        ours=(("map_repo", {"focus": ["django/contrib/sessions/backends"], "include": ["languages"], "budget": 1000}),),
    ),
    Task(
        kind="config",
        asks="the default of SESSION_COOKIE_AGE",
        facts=("SESSION_COOKIE_AGE = 60 * 60 * 24 * 7 * 2",),
        shell=("rg -n SESSION_COOKIE_AGE django/conf",),
        ours=(_search("SESSION_COOKIE_AGE", paths=["django/conf"]),),
    ),
    Task(
        kind="config",
        asks="which Python it needs and what it depends on",
        facts=("requires-python", "asgiref"),
        shell=("ls", "sed -n '1,40p' pyproject.toml"),
        ours=(_read("pyproject.toml:1-40"),),
    ),
    Task(
        kind="entry points",
        asks="which command is installed, and what it does first",
        facts=("django-admin", "utility = ManagementUtility(argv)"),
        shell=(
            "rg -n -A 3 'project.scripts' pyproject.toml",
            "rg -n 'def execute_from_command_line' django",
            "sed -n '{line},+5p' {path}",
        ),
        ours=(("map_repo", {"include": ["entry_points"], "budget": 500}),),
    ),
    Task(
        kind="entry points",
        asks="a first look at the repository: languages, folders, tests, what runs",
        facts=("contrib", "django-admin", "tests"),
        shell=(
            "ls",
            "cat pyproject.toml",
            "ls django django/*",
            "ls tests | head -60",
        ),
        ours=(("map_repo", {}),),
    ),
)
_WHO = "git -c user.name=b -c user.email=b@example.org"
CHANGES = (
    Task(
        kind="change",
        asks="a new default in one function, and see that it is right",
        facts=("django/core/paginator.py",),
        shell=(
            "sed -i 's/allow_empty_first_page=True/allow_empty_first_page=False/' django/core/paginator.py",
            "git diff",
        ),
        ours=(
            _write(
                (
                    "django/core/paginator.py",
                    "        allow_empty_first_page=True,",
                    "        allow_empty_first_page=False,",
                )
            ),
        ),
    ),
    Task(
        kind="change",
        asks="the same word in three files, checked",
        facts=("django/utils/html.py", "django/utils/text.py", "django/utils/timesince.py"),
        shell=(
            "sed -i '0,/import/s//import  /' django/utils/html.py django/utils/text.py django/utils/timesince.py",
            "git diff --stat",
            "python3 -m py_compile django/utils/html.py django/utils/text.py django/utils/timesince.py && echo ok",
        ),
        ours=(
            _write(
                ("django/utils/html.py", "import html\n", "import html  # kept\n"),
                ("django/utils/text.py", "import gzip\n", "import gzip  # kept\n"),
                ("django/utils/timesince.py", "import datetime\n", "import datetime  # kept\n"),
            ),
        ),
    ),
    Task(
        kind="change",
        asks="a new file, committed",
        facts=("django/utils/plain.py",),
        shell=(
            "printf 'def plain(value):\\n    return str(value)\\n' > django/utils/plain.py",
            "git add django/utils/plain.py",
            f"{_WHO} commit -m 'Add plain'",
            "git log -1 --stat",
        ),
        ours=(
            (
                "write_files",
                {"edits": [{"path": "django/utils/plain.py", "content": "def plain(value):\n    return str(value)\n"}]},
            ),
            ("checkpoint", {"message": "Add plain", "tests": "none"}),
        ),
    ),
    Task(
        kind="change",
        asks="an edit that turns out wrong, taken back",
        facts=("django/shortcuts.py",),
        shell=(
            "sed -i 's/def redirect(/def redirected(/' django/shortcuts.py",
            "git diff",
            "git checkout -- django/shortcuts.py",
            "git status --short",
        ),
        ours=(_write(("django/shortcuts.py", "def redirect(", "def redirected(")), ("undo", {})),
    ),
    _rename(
        "lazystr",
        "django.utils.functional.lazystr",
        "lazy_text",
        "django/utils/functional.py",
        "tests/utils_tests/test_safestring.py",
    ),
    _rename(
        "SuspiciousFileOperation",
        "django.core.exceptions.SuspiciousFileOperation",
        "UnsafeFileOperation",
        "django/core/files/utils.py",
        "django/utils/_os.py",
        "django/core/files/storage/base.py",
    ),
)
