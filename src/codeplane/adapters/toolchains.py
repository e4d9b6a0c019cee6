"""The folders of toolchains that a sandbox mounts read-only."""

import re
from collections.abc import Mapping
from pathlib import Path

# Below the home, where no variable says otherwise. Beside these lie keys, and settings with passwords in them.
_BELOW_HOME = (
    *(".rustup", ".pyenv", ".local/bin", ".local/lib", ".local/share/uv", ".local/share/pipx", ".local/pipx"),
    *(".local/share/mise", ".local/share/fnm", ".nvm", ".volta", ".fnm", ".bun/bin", ".deno/bin", ".asdf"),
    *(".rbenv", ".rvm", ".nodenv", ".goenv", ".jenv", "go", "sdk", ".m2/repository", ".m2/wrapper", ".sdkman"),
    *(".nuget/packages", ".dotnet", ".mix", ".hex/packages", ".gem/ruby", ".conda", "miniconda3", "anaconda3"),
)
# Folders that a variable names and that hold nothing but programs and packages.
_WHOLE = (
    *("PYENV_ROOT", "RBENV_ROOT", "NODENV_ROOT", "GOENV_ROOT", "JENV_ROOT", "ASDF_DIR", "ASDF_DATA_DIR"),
    *("MISE_DATA_DIR", "NVM_DIR", "FNM_DIR", "VOLTA_HOME", "SDKMAN_DIR", "RUSTUP_HOME", "GOROOT", "GOPATH"),
    *("GOMODCACHE", "JAVA_HOME", "DOTNET_ROOT", "CONDA_PREFIX", "VIRTUAL_ENV", "MIX_HOME", "PNPM_HOME"),
    *("UV_PYTHON_INSTALL_DIR", "UV_TOOL_DIR", "PIPX_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME"),
)
# Homes of tools that also hold credentials: by variable and by default, and what of them is shown.
_PARTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("CARGO_HOME", ".cargo"): ("bin", "registry", "git", "env", "config.toml", "config"),
    ("GRADLE_USER_HOME", ".gradle"): ("caches", "wrapper", "native"),
    ("GEM_HOME", ""): ("bin", "gems", "specifications", "extensions", "build_info"),
    ("BUN_INSTALL", ".bun"): ("bin",),
    ("HEX_HOME", ".hex"): ("packages",),
}
_CREDENTIALS = (
    *("credentials", "credentials.toml", ".credentials", ".npmrc", "etc/npmrc", ".netrc", ".pypirc", "pip.conf"),
    *("gradle.properties", "settings.xml", "settings-security.xml", "auth.json"),
)
_SECRET = re.compile(r"token|passw|secret|credential|auth", re.I)
_MAX_SETTINGS = 100_000
_SHIMMED = ("versions", "installs", "libexec")


def toolchains_in_home(home: Path) -> list[Path]:
    """Return the toolchain folders in a home, at their default places."""
    folders = [home / name for name in _BELOW_HOME]
    for (_, usual), parts in _PARTS.items():
        folders += _harmless_parts(home / usual, parts) if usual else ()
    return folders


def toolchains_in_environment(environment: Mapping[str, str]) -> list[Path]:
    """Return the toolchain folders that environment variables name."""
    folders = [Path(named) for variable in _WHOLE for named in environment.get(variable, "").split(":")]
    folders += [Path(environment.get(variable, "")) for variable, _ in _PARTS]
    return [folder for folder in folders if folder.is_absolute()]


def without_credentials(tool: Path, home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return a tool's folder, or only its parts where credentials lie beside them."""
    for (variable, usual), parts in _PARTS.items():
        if tool in (Path(environment.get(variable) or "."), home / usual if usual else None):
            return _harmless_parts(tool, parts)
    if tool in (home / ".local", home / ".local/share"):
        return [folder for folder in toolchains_in_home(home) if tool in folder.parents]
    return [tool]


def credential_files(tool: Path) -> list[Path]:
    """Return the credential files in a tool's folder."""
    return [tool / name for name in _CREDENTIALS if (tool / name).is_file()]


def shim_root(folder: Path) -> Path | None:
    """Return the root of the version manager whose shims are in a folder."""
    root = folder.parent
    return root if folder.name == "shims" and any((root / name).is_dir() for name in _SHIMMED) else None


def _harmless_parts(tool: Path, parts: tuple[str, ...]) -> list[Path]:
    return [tool / part for part in parts if not part.startswith("config") or _is_harmless(tool / part)]


def _is_harmless(settings: Path) -> bool:
    """Return whether a settings file holds package sources and no credentials."""
    try:
        if settings.is_symlink() or settings.stat().st_size > _MAX_SETTINGS:
            return False
        return _SECRET.search(settings.read_text(errors="replace")) is None
    except OSError:
        return False
