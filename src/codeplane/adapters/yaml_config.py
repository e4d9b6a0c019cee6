"""Settings from the command line, the environment and two YAML files, with their origins."""

import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from codeplane.adapters.agent_settings import NAME as AGENTS_FILE
from codeplane.adapters.changed_settings import ChangedSettings
from codeplane.adapters.model_settings import NAME as MODELS_FILE
from codeplane.adapters.provider_keys import load_provider_keys
from codeplane.adapters.setting_layers import SettingLayers
from codeplane.adapters.tool_secrets import SecretValues, load_tool_secrets
from codeplane.adapters.tool_settings import NAME as TOOLS_FILE
from codeplane.adapters.yaml_document import Document, Origin
from codeplane.kernel.config import Config
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.workspace import Workspace

MAX_FILE_BYTES = 1024 * 1024
ENV_PREFIX = "CODEPLANE__"
_OPTION = "--set"
_OWNERS_ALONE = ("models", "mcp.servers", "tools", "notifications", "agents.acp")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedConfig:
    """The settings in force, their origins, and the files that were read."""

    config: Config
    origins: Mapping[str, str]
    sources: tuple[str, ...]
    # Keys of model providers by name; settings name them and never hold them.
    provider_keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    # Likewise, what the placeholders in the settings of outside tools stand for.
    tool_secrets: SecretValues = field(default_factory=SecretValues)
    # Where the owner's own settings are, and their sealed secrets.
    folder: Path | None = None
    # Reads all of it again.
    reload: "Callable[[], LoadedConfig] | None" = None
    # What tells of changes since; the files alone change, all else is this process's own.
    changed: ChangedSettings | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """Return the origins in use: files, then variables and options."""
        elsewhere = [
            f"{origin} {key}" if origin == _OPTION else origin
            for key, origin in self.origins.items()
            if origin == _OPTION or origin.upper().startswith(ENV_PREFIX)
        ]
        return (*self.sources, *dict.fromkeys(elsewhere))

    def without_terminal(self) -> "LoadedConfig":
        """Return the same settings without logging to a terminal."""
        logging = self.config.logging
        outputs = tuple(output for output in logging.outputs if output.destination not in ("stderr", "stdout"))
        quiet = self.config.model_copy(update={"logging": logging.model_copy(update={"outputs": outputs})})
        return replace(self, config=quiet)


def load_workspace_config(workspace: Workspace, overrides: Sequence[str], environ: Mapping[str, str]) -> LoadedConfig:
    """Load the settings of a workspace for the user of this environment."""
    folder = user_folder(environ)
    user = folder / "config.yaml" if folder is not None else None
    return load_config(workspace=workspace, user_config=user, environ=environ, overrides=overrides)


def user_folder(environ: Mapping[str, str]) -> Path | None:
    """The folder of the settings of the user of this environment; None when they have no home."""
    base = environ.get("XDG_CONFIG_HOME") or (Path(environ["HOME"]) / ".config" if "HOME" in environ else None)
    return Path(base) / "codeplane" if base else None


def load_config(
    *, workspace: Workspace, user_config: Path | None, environ: Mapping[str, str], overrides: Sequence[str]
) -> LoadedConfig:
    """Load the settings: `--set` over environment over repository over user over defaults.

    Misspelt keys are refused in every source; values are judged where they are in force.
    """
    layers, environment = SettingLayers(), dict(environ)
    sources: list[str] = []
    files = [*_of_user(user_config), workspace.config]
    for path in files:
        if (text := _read(path)) is not None:
            sources.append(str(path))
            document = Document.parse(text, Origin(name=str(path), is_file=True))
            # Agents write files in the work tree: none of those may say where prompts and keys are sent, or which
            # programs are started.
            layers.add_document(document, refused=_OWNERS_ALONE if _is_inside(path, workspace.root) else ())
    for name, key in _variables(environ):
        layers.add(Origin(name=name, spell=_as_variable), key, environ[name])
    for override in overrides:
        key, _, value = override.partition("=")
        if not value.strip():
            raise ConfigInvalid(f"--set {override}: no value is given", hint="write it as: --set server.port=8080")
        layers.add(Origin(name=_OPTION), key.strip(), value)
    config = layers.config()

    def reload() -> LoadedConfig:
        return load_config(
            workspace=workspace, user_config=user_config, environ=environment, overrides=tuple(overrides)
        )

    changed = ChangedSettings(in_force=config, files=files, read=lambda: reload().config)
    origins = MappingProxyType(layers.origins())
    folder = user_config.parent if user_config is not None and not _is_inside(user_config, workspace.root) else None
    keys = MappingProxyType(load_provider_keys(config.models, environ, folder))
    return LoadedConfig(
        config=config,
        origins=origins,
        sources=tuple(sources),
        provider_keys=keys,
        tool_secrets=load_tool_secrets(config, environ, folder),
        folder=folder,
        reload=reload,
        changed=changed,
    )


def _of_user(config: Path | None) -> list[Path]:
    """The user's own files, the one that counts more last: what `cpl models`, `cpl tools` and `cpl agents` wrote, and
    what they write themselves."""
    if config is None:
        return []
    return [*map(config.with_name, (MODELS_FILE, TOOLS_FILE, AGENTS_FILE)), config]


def _is_inside(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _as_variable(key: str) -> str:
    return ENV_PREFIX + key.replace(".", "__").upper()


def _variables(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return our variables and their keys, sections before single settings; empty variables are ignored."""
    variables: dict[str, str] = {}
    for name in sorted(environ):
        if not name.upper().startswith(ENV_PREFIX) or not environ[name].strip():
            continue
        key = name[len(ENV_PREFIX) :].lower().replace("__", ".")
        if key in variables:
            raise ConfigInvalid(f"{variables[key]} and {name} are the same setting", hint=f"unset {name}")
        variables[key] = name
    return sorted(((name, key) for key, name in variables.items()), key=lambda pair: pair[1].count("."))


def _read(path: Path) -> str | None:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ConfigInvalid(f"{path}: is a directory, where a file of settings is expected")
        if not stat.S_ISREG(status.st_mode):
            raise ConfigInvalid(f"{path}: is not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be read: {error.strerror}", hint="make it readable for this user, or remove it"
        ) from error
    if len(data) > MAX_FILE_BYTES:
        raise ConfigInvalid(f"{path}: larger than {MAX_FILE_BYTES:,} bytes: this is not a file of settings")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigInvalid(f"{path}:{line}: not UTF-8 text", hint="save the file as UTF-8") from None
