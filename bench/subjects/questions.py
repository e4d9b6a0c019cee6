"""Questions in plain English about public repositories, each with the files that answer it.

They were written from reading the repositories, not from what a search returned. Those of `DEV` may be looked at
while ranking is changed; those of `HELD` only say whether a change holds elsewhere, and those of `FRESH` were
written after the last change and asked once.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and the files of which any one answers it."""

    text: str
    answers: tuple[str, ...]


def _ask(text: str, *answers: str) -> Question:
    return Question(text=text, answers=answers)


_GSON = "gson/src/main/java/com/google/gson"

DEV: Mapping[str, tuple[Question, ...]] = {
    "fd": (
        _ask("how does fd decide whether colors are on", "src/main.rs"),
        _ask("how are size limits like +10k parsed", "src/filter/size.rs"),
        _ask("where are dangerous escape sequences in file names made harmless", "src/sanitize.rs"),
        _ask("how are the placeholders of exec commands parsed", "src/fmt/mod.rs"),
        _ask("when is a search case sensitive by itself", "src/regex_helper.rs", "src/main.rs"),
        _ask("how many threads are used by default", "src/cli.rs"),
        _ask("what makes a directory count as empty", "src/filesystem.rs"),
        _ask("where are results sorted before they are printed", "src/walk.rs"),
    ),
    "hono": (
        _ask("where is the ETag computed", "src/middleware/etag/digest.ts"),
        _ask("how are preflight requests answered", "src/middleware/cors/index.ts"),
        _ask("where is the signature of a token verified", "src/utils/jwt/jws.ts", "src/utils/jwt/jwt.ts"),
        _ask("how are signed cookies parsed", "src/utils/cookie.ts"),
        _ask("which content type does a static file get by its extension", "src/utils/mime.ts"),
        _ask("how is a request from AWS API gateway turned into a web request", "src/adapter/aws-lambda/handler.ts"),
        _ask("how does the server send events to the browser", "src/helper/streaming/sse.ts"),
        _ask("how are strings compared in constant time", "src/utils/buffer.ts"),
    ),
    "cobra": (
        _ask("how are similar commands suggested when one is mistyped", "command.go"),
        _ask("where are mutually exclusive flags checked", "flag_groups.go"),
        _ask("what happens when the program is started by a double click on Windows", "command_win.go"),
        _ask("how are man pages generated", "doc/man_docs.go"),
        _ask("how is the number of positional arguments checked", "args.go"),
        _ask("which environment variable turns active help off", "active_help.go"),
        _ask("where is the fish completion script written", "fish_completions.go"),
    ),
    "httpx": (
        _ask("which proxies are taken from the environment", "httpx/_utils.py"),
        _ask("when is the authorization header dropped on a redirect", "httpx/_client.py"),
        _ask("how is the digest authentication response built", "httpx/_auth.py"),
        _ask("how are files encoded in a multipart upload", "httpx/_multipart.py"),
        _ask("how are brotli responses decompressed", "httpx/_decoders.py"),
        _ask("how are exceptions of httpcore translated", "httpx/_transports/default.py"),
        _ask("what are the default timeouts", "httpx/_config.py"),
        _ask("how are international host names encoded", "httpx/_urlparse.py"),
    ),
}

HELD: Mapping[str, tuple[Question, ...]] = {
    "jq": (
        _ask("where are imported modules searched for", "src/linker.c"),
        _ask("in which order are values of different types sorted", "src/jv_aux.c"),
        _ask("how are the output colors set", "src/jv_print.c", "src/main.c"),
        _ask("how deep may arrays be nested in the input", "src/jv_parse.c"),
        _ask("which calls are optimized as tail calls", "src/execute.c"),
        _ask("how is invalid UTF-8 replaced", "src/jv_unicode.c"),
        _ask("how are command line options read", "src/main.c"),
        _ask("which builtins are written in jq itself", "src/builtin.jq"),
    ),
    "gson": (
        _ask("how are enum constants written", f"{_GSON}/internal/bind/EnumTypeAdapter.java"),
        _ask("where are field names turned into lower case with underscores", f"{_GSON}/FieldNamingPolicy.java"),
        _ask(
            "how is an object created when its class has no constructor without arguments",
            f"{_GSON}/internal/ConstructorConstructor.java",
            f"{_GSON}/internal/UnsafeAllocator.java",
        ),
        _ask("how are ISO dates parsed", f"{_GSON}/internal/bind/util/ISO8601Utils.java"),
        _ask("which fields are left out because of their version", f"{_GSON}/internal/Excluder.java"),
        _ask("how are HTML characters escaped in the output", f"{_GSON}/stream/JsonWriter.java"),
        _ask(
            "how is the subclass chosen by a type label",
            "extras/src/main/java/com/google/gson/typeadapters/RuntimeTypeAdapterFactory.java",
        ),
        _ask("how does the parser skip comments in lenient mode", f"{_GSON}/stream/JsonReader.java"),
    ),
    "gin": (
        _ask("where is a panic of a handler caught", "recovery.go"),
        _ask("how is the address of the client found behind proxies", "context.go", "gin.go"),
        _ask("how do conflicting wildcards in routes show up", "tree.go"),
        _ask("how are form values mapped to struct fields", "binding/form_mapping.go"),
        _ask("which color does a status code get in the log", "logger.go"),
        _ask("how is directory listing switched off for static files", "fs.go"),
        _ask("how are user name and password checked", "auth.go"),
    ),
    "bat": (
        _ask("how is the pager chosen", "src/pager.rs"),
        _ask("how is the version of less found out", "src/less.rs"),
        _ask("which lines have changed since the last commit", "src/diff.rs"),
        _ask("how is a range of lines parsed", "src/line_range.rs"),
        _ask("how is it detected whether the terminal is dark or light", "src/theme.rs"),
        _ask("where is the configuration file looked for", "src/bin/bat/config.rs", "src/bin/bat/directories.rs"),
        _ask("how are tabs expanded", "src/preprocessor.rs"),
        _ask("where are long lines wrapped", "src/printer.rs"),
    ),
}

_JSOUP = "src/main/java/org/jsoup"

FRESH: Mapping[str, tuple[Question, ...]] = {
    "jinja": (
        _ask("how does the sandbox keep templates from reaching dangerous attributes", "src/jinja2/sandbox.py"),
        _ask("where is compiled template code cached on disk", "src/jinja2/bccache.py"),
        _ask("how are tracebacks rewritten so that they point into the template", "src/jinja2/debug.py"),
        _ask("which variables does a template need from outside", "src/jinja2/meta.py"),
        _ask("where does a for loop know that it is at its first or last round", "src/jinja2/runtime.py"),
    ),
    "chi": (
        _ask("how are too many simultaneous requests held back", "middleware/throttle.go"),
        _ask("which forwarded address of a client is trusted", "middleware/client_ip.go", "middleware/realip.go"),
        _ask("how are url parameters with regular expressions matched in the routing tree", "tree.go"),
        _ask("what answers when no route fits or the method is not allowed", "mux.go", "tree.go"),
        _ask("how is the best encoding for compressing a response chosen", "middleware/compress.go"),
    ),
    "hyperfine": (
        _ask("how is the time that the shell takes to start subtracted", "src/benchmark/executor.rs"),
        _ask("when is a warning shown about statistical outliers", "src/output/warnings.rs", "src/benchmark/mod.rs"),
        _ask("how are comma separated parameter values split", "src/parameter/tokenize.rs"),
        _ask("how is user and system time of a process measured on unix", "src/timer/unix_timer.rs"),
        _ask(
            "how is it computed how many times faster one command was than another", "src/benchmark/relative_speed.rs"
        ),
    ),
    "jsoup": (
        _ask("how is the charset of a downloaded document detected", f"{_JSOUP}/helper/DataUtil.java"),
        _ask("which tags and attributes are allowed when html is cleaned", f"{_JSOUP}/safety/Safelist.java"),
        _ask("how is a css selector parsed", f"{_JSOUP}/select/QueryParser.java"),
        _ask("where are named entities such as nbsp escaped on output", f"{_JSOUP}/nodes/Entities.java"),
        _ask(
            "what happens to redirects and cookies of a request",
            f"{_JSOUP}/helper/HttpConnection.java",
            f"{_JSOUP}/helper/CookieUtil.java",
        ),
    ),
}
