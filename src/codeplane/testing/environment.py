"""The environment variables that tested code gets: where tools are, and no secrets."""

import re
from collections.abc import Mapping

_ALLOWED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|VIRTUAL_ENV|PYTHON(?:UTF8|HASHSEED|IOENCODING|PATH)"
    r"|CONDA_PREFIX|PYENV_\w+|NVM_\w+|NODE_(?:PATH|OPTIONS|ENV)|GO(?:PATH|ROOT|FLAGS|PROXY|MODCACHE|TOOLCHAIN|OS|ARCH)"
    r"|CARGO_(?:HOME|TARGET_DIR)|RUSTUP_(?:HOME|TOOLCHAIN|AUTO_INSTALL)|RUSTC|RUSTFLAGS|CC|CXX|LD_LIBRARY_PATH|PKG_CONFIG_PATH"
    r"|JAVA_HOME|M2_HOME|MAVEN_HOME|GRADLE_HOME|DOTNET_(?:ROOT|CLI_HOME)|GEM_(?:HOME|PATH)|BUNDLE_(?:PATH|GEMFILE)"
    r"|(?:RBENV|NODENV|GOENV|JENV|ASDF|MISE|FNM|VOLTA)_\w+|SDKMAN_DIR|BUN_INSTALL|PNPM_HOME|UV_PYTHON_INSTALL_DIR|MIX_(?:HOME|ENV)|HEX_HOME|CI|DISPLAY|XDG_RUNTIME_DIR"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|(?:^|_)(?:API_?)?KEYS?(?:$|_)|AUTH", re.I)
_PROXIES = re.compile(r"(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)", re.I)


def clean_environment(environment: Mapping[str, str], *, network: bool) -> dict[str, str]:
    """Return the variables for tests: a list of known ones, and the proxies if tests may use the network."""
    allowed = {
        name: value
        for name, value in environment.items()
        if (_ALLOWED.fullmatch(name) or (network and _PROXIES.fullmatch(name))) and not _SECRET.search(name)
    }
    allowed.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    allowed.setdefault("LANG", "C.UTF-8")
    # Python compares the times of bytecode by the second, and agents edit faster than that.
    return allowed | {"NO_COLOR": "1", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "RUST_BACKTRACE": "0"}
