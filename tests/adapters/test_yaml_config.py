"""Settings come from four places, the strongest wins, and every mistake is named with its place."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.adapters.yaml_config import MAX_FILE_BYTES, LoadedConfig, load_config
from codeplane.kernel.config import Config
from codeplane.kernel.errors import ConfigInvalid
from codeplane.kernel.workspace import Workspace
from tests.interaction.requirements import requirement


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A repository and a user's home to write settings into."""

    root: Path

    @property
    def repo_file(self) -> Path:
        return self.root / "repo" / ".codeplane" / "config.yaml"

    @property
    def user_file(self) -> Path:
        return self.root / "home" / "config.yaml"

    def load(self, *overrides: str, environ: Mapping[str, str] | None = None) -> LoadedConfig:
        return load_config(
            workspace=Workspace(root=self.root / "repo"),
            user_config=self.user_file,
            environ=environ or {},
            overrides=overrides,
        )

    def refused(self, *overrides: str, environ: Mapping[str, str] | None = None) -> ConfigInvalid:
        with pytest.raises(ConfigInvalid) as caught:
            self.load(*overrides, environ=environ)
        assert caught.value.hint
        return caught.value


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(root=tmp_path)
    made.repo_file.parent.mkdir(parents=True)
    made.user_file.parent.mkdir(parents=True)
    return made


def test_without_any_source_everything_is_default(desk: Desk) -> None:
    loaded = desk.load()
    assert loaded.config == Config()
    assert loaded.sources == ()
    assert set(loaded.origins.values()) == {"default"}
    assert {"server.port", "logging.outputs", "trust.allow", "mcp.toolset"} <= set(loaded.origins)


def test_no_user_file_at_all(tmp_path: Path) -> None:
    loaded = load_config(workspace=Workspace(root=tmp_path), user_config=None, environ={}, overrides=())
    assert loaded.config == Config()


@requirement("CLI-08")
def test_each_source_is_stronger_than_the_one_before(desk: Desk) -> None:
    variable = {"CODEPLANE__SERVER__PORT": "3"}
    desk.user_file.write_text("server:\n  port: 1\n")
    assert desk.load().config.server.port == 1
    desk.repo_file.write_text("server:\n  port: 2\n")
    assert desk.load().config.server.port == 2
    assert desk.load(environ=variable).config.server.port == 3
    assert desk.load("server.port=4", environ=variable).config.server.port == 4
    assert desk.load("server.port=4", "server.port=5", environ=variable).config.server.port == 5


def test_origins_say_which_source_won_and_sections_merge(desk: Desk) -> None:
    desk.user_file.write_text("server: {port: 1, max_connections: 7}\n")
    desk.repo_file.write_text("server:\n  port: 2\n  host: localhost\n")
    loaded = desk.load("limits.max_mutations=9", environ={"CODEPLANE__LOGGING__LEVEL": "DEBUG", "OTHER": "x"})
    assert (loaded.config.server.port, loaded.config.server.max_connections) == (2, 7)
    assert loaded.config.logging.level == "DEBUG"
    assert loaded.origins["server.port"] == str(desk.repo_file)
    assert loaded.origins["server.max_connections"] == str(desk.user_file)
    assert loaded.origins["logging.level"] == "CODEPLANE__LOGGING__LEVEL"
    assert loaded.origins["limits.max_mutations"] == "--set"
    assert loaded.origins["trust.mode"] == "default"
    assert loaded.sources == (str(desk.user_file), str(desk.repo_file))
    output = (*loaded.sources, "CODEPLANE__LOGGING__LEVEL", "--set limits.max_mutations")
    assert set(loaded.given) == set(output) and desk.load().given == loaded.sources


def test_lists_replace_and_do_not_merge(desk: Desk) -> None:
    desk.user_file.write_text("trust: {allow: [git.push, shell.run]}\n")
    desk.repo_file.write_text("trust: {allow: [git.reset]}\n")
    assert desk.load().config.trust.allow == ("git.reset",)
    assert desk.load("trust.allow=[]").config.trust.allow == ()


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        ('["a","b"]', ("a", "b")),
        ("git.push", ("git.push",)),
        ("on", ("on",)),
        ("12", ("12",)),
        ("[]", ()),
    ],
)
def test_list_values_from_text(desk: Desk, given_value: str, expected: tuple[str, ...]) -> None:
    assert desk.load(f"trust.allow={given_value}").config.trust.allow == expected
    assert desk.load(environ={"CODEPLANE__TRUST__ALLOW": given_value}).config.trust.allow == expected


@pytest.mark.parametrize(("text", "expected"), [("off", "off"), ("12", "12"), ("'on'", "on"), ("1:30", "1:30")])
def test_text_stays_text_though_yaml_would_read_something_else(desk: Desk, text: str, expected: str) -> None:
    assert desk.load(f"mcp.toolset={text}").config.mcp.toolset == expected


def test_a_list_where_text_is_wanted_is_refused(desk: Desk) -> None:
    assert "must be text" in desk.refused("mcp.toolset=[core]").message


def test_a_whole_section_from_one_variable_and_a_single_setting_over_it(desk: Desk) -> None:
    variables = {"CODEPLANE__SERVER": "{port: 1, host: localhost}", "CODEPLANE__SERVER__PORT": "2"}
    loaded = desk.load(environ=variables)
    assert (loaded.config.server.port, loaded.config.server.host) == (2, "localhost")
    assert loaded.origins["server.host"] == "CODEPLANE__SERVER"


def test_outputs_as_in_the_specification(desk: Desk) -> None:
    desk.repo_file.write_text(
        "logging:\n  level: DEBUG\n  outputs:\n"
        "    - format: console\n      destination: stderr\n      level: INFO\n"
        "    - format: json\n      destination: /var/log/codeplane.jsonl\n"
    )
    first, second = desk.load().config.logging.outputs
    assert (first.level, second.level, second.destination) == ("INFO", None, "/var/log/codeplane.jsonl")
    (only,) = desk.load("logging.outputs={format: json}").config.logging.outputs
    assert only.format == "json"


def test_variables_are_found_in_any_case_but_not_twice(desk: Desk) -> None:
    assert desk.load(environ={"codeplane__Server__port": "8"}).config.server.port == 8
    error = desk.refused(environ={"codeplane__server__port": "8", "CODEPLANE__SERVER__PORT": "9"})
    assert "CODEPLANE__SERVER__PORT and codeplane__server__port" in error.message


def test_an_empty_variable_is_not_set(desk: Desk) -> None:
    assert desk.load(environ={"CODEPLANE__SERVER__PORT": ""}).origins["server.port"] == "default"


@pytest.mark.parametrize("override", ["server.port", "server.port=", "=", ""])
def test_an_override_without_a_value_is_refused(desk: Desk, override: str) -> None:
    error = desk.refused(override)
    assert "no value" in error.message
    assert "--set server.port=8080" in error.hint


@pytest.mark.parametrize(
    "text", ["", "\n", "# nothing yet\n", "---\n", "server:\n", "{}", "server: {}\n", "\ufeffserver:\n"]
)
def test_empty_files_and_sections_say_nothing(desk: Desk, text: str) -> None:
    desk.repo_file.write_text(text, encoding="utf-8")
    loaded = desk.load()
    assert loaded.config == Config()
    assert loaded.sources == (str(desk.repo_file),)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("server:\n  prot: 1\n", ":2: server.prot: unknown key; did you mean 'port'?"),
        ("approvals:\n  elicit_risky: true\n", ":2: approvals.elicit_risky: was removed; shell commands and what"),
        ("\nsevrer:\n  port: 1\n", ":2: sevrer: unknown key; did you mean 'server'?"),
        ("port: 1\n", ":1: port: unknown key; did you mean 'server.port'?"),
        ("server:\n  qqq: 1\n", ":2: server.qqq: unknown key; there are: allowed_hosts,"),
        (
            "logging:\n  outputs:\n    - formt: json\n",
            ":3: logging.outputs.0.formt: unknown key; did you mean 'format'?",
        ),
        ('"\\e[2J": 1\n', r":1: '\x1b[2J': unknown key"),
        ("<<: {server: {port: 1}}\n", ":1: <<: unknown key"),
        ("server:\n  port: true\n", ":2: server.port: must be a whole number, not true"),
        ("server:\n  port: many\n", ":2: server.port: must be a whole number, not the text 'many'"),
        ("server:\n  port: 1.5\n", ":2: server.port: must be a whole number, not 1.5"),
        ("server:\n  port: [1]\n", ":2: server.port: must be a whole number, not a list"),
        ("server:\n  port: {a: 1}\n", ":2: server.port: must be a whole number, not a section"),
        ("server:\n  port:\n", ":2: server.port: has no value"),
        ("server:\n\n  port: 70000\n", ":3: server.port: must be at most 65535, not 70000"),
        ("server:\n  port: -1\n", ":2: server.port: must be at least 0, not -1"),
        ("server: {shutdown_timeout_sec: 0}\n", ":1: server.shutdown_timeout_sec: must be more than 0, not 0"),
        ("server:\n  shutdown_timeout_sec: soon\n", ":2: server.shutdown_timeout_sec: must be a number"),
        ("mcp:\n  toolset: off\n", ":2: mcp.toolset: must be text"),
        ("trust:\n  mode: yolo\n", ":2: trust.mode: must be one of automatic, trust, always, not the text 'yolo'"),
        ("logging:\n  level: LOUD\n", ":2: logging.level: must be one of DEBUG, INFO, WARN, ERROR, not"),
        ("trust:\n  allow:\n    - a\n    - 2\n", ":4: trust.allow.1: must be text"),
        ("logging:\n  outputs: [stderr]\n", ":2: logging.outputs.0: must be a section"),
        ("server: 8080\n", ":1: server: must be a section of `key: value` lines, not 8080"),
        ("- server\n", ":1: must be a section of `key: value` lines, not a list"),
        ("just words\n", ":1: must be a section of `key: value` lines, not the text 'just words'"),
    ],
)
def test_a_wrong_setting_is_named_with_file_line_and_key(desk: Desk, text: str, output: str) -> None:
    desk.repo_file.write_text(text)
    assert f"{desk.repo_file}{output}" in desk.refused().message


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("server:\n  port: [1\n", ":3:1: not YAML"),
        ("server: port: 1\n", ":1:13: not YAML"),
        ("server:\n\tport: 1\n", ":2:1: not YAML"),
        ("server:\n  host: a\x07b\n", ":2: not YAML: control characters"),
        ("server:\n  port: 1\n  port: 2\n", ":3:3: 'port' is given twice"),
        ("server: {}\nserver: {}\n", ":2:1: 'server' is given twice"),
        ("server: &s {port: 1}\n", ":1:9: anchors and aliases"),
        ("server: *s\n", ":1:9: anchors and aliases"),
        ("&s server: {}\n", ":1:1: anchors and aliases"),
        ("server: !!python/object/apply:os.getpid []\n", ":1:9: tags (!)"),
        ("server:\n  host: !secret x\n", ":2:9: tags (!)"),
        ("server: {}\n---\nserver: {}\n", ":2:1: a second document"),
        ("server:\n  idle_exit_sec: .inf\n", ":2:18: .inf is not a number"),
        ("server:\n  idle_exit_sec: .nan\n", ":2:18: .nan is not a number"),
        (f"server:\n  max_body_bytes: 1{'0' * 400}\n", "is not a number that can be counted with"),
        ("server:\n  port: 0x_\n", ":2:9: '0x_' cannot be read"),
        ("server:\n  port: !!int x\n", ":2:9: 'x' cannot be read"),
        ("? [a, b]\n: 1\n", ":1:3: a key must be"),
        ("1: 2\n", ":1:1: a key must be"),
        ("server: " + "[" * 2000, "nested too deeply"),
    ],
)
def test_what_is_not_plain_yaml_is_named_with_line_and_column(desk: Desk, text: str, output: str) -> None:
    desk.repo_file.write_text(text)
    message = desk.refused().message
    assert message.startswith(str(desk.repo_file))
    assert output in message


def test_a_date_is_text(desk: Desk) -> None:
    desk.repo_file.write_text("mcp:\n  toolset: 2026-01-26\n")
    assert desk.load().config.mcp.toolset == "2026-01-26"


def test_all_problems_are_told_at_once(desk: Desk) -> None:
    desk.user_file.write_text("server:\n  prot: 1\n")
    desk.repo_file.write_text("server:\n  port: x\n")
    error = desk.refused("trust.mode=maybe", environ={"CODEPLANE__LOGING__LEVEL": "DEBUG"})
    for output in (
        f"{desk.user_file}:2: server.prot",
        f"{desk.repo_file}:2: server.port",
        "--set: trust.mode: must be one of",
        "CODEPLANE__LOGING__LEVEL: loging.level: unknown key; did you mean 'CODEPLANE__LOGGING__LEVEL'?",
    ):
        assert output in error.message
    problems = error.details["problems"]
    assert isinstance(problems, list)
    assert len(problems) == 4


def test_a_wrong_value_that_is_overridden_does_no_harm_but_a_misspelt_key_does(desk: Desk) -> None:
    desk.repo_file.write_text("server:\n  port: x\n")
    assert desk.load("server.port=1").config.server.port == 1
    desk.repo_file.write_text("server:\n  prot: 1\n")
    assert "server.prot" in desk.refused("server.port=1").message


@pytest.mark.parametrize(
    ("variable", "value", "output"),
    [
        ("CODEPLANE__SERVER__PORT", "abc", "CODEPLANE__SERVER__PORT: server.port: must be a whole number"),
        ("CODEPLANE__SERVER__PORT", "[1", "CODEPLANE__SERVER__PORT, column "),
        ("CODEPLANE__SERVER__PORT", "*", "CODEPLANE__SERVER__PORT, column "),
        ("CODEPLANE__SERVER__HOST", "\udcff", "CODEPLANE__SERVER__HOST: not UTF-8"),
        ("CODEPLANE__SERVER", "8080", "CODEPLANE__SERVER: server: must be a section"),
        ("CODEPLANE__SERVER", "{prot: 1}", "CODEPLANE__SERVER: server.prot: unknown key"),
        ("CODEPLANE__PORT", "1", "did you mean 'CODEPLANE__SERVER__PORT'?"),
        ("CODEPLANE__LOGGING__OUTPUTS__0__LEVEL", "INFO", "logging.outputs.0.level: unknown key"),
        ("CODEPLANE__", "1", "CODEPLANE__: unknown key"),
    ],
)
def test_a_wrong_variable_is_named(desk: Desk, variable: str, value: str, output: str) -> None:
    assert output in desk.refused(environ={variable: value}).message


def test_a_wrong_override_is_named(desk: Desk) -> None:
    assert "--set: server.prot: unknown key; did you mean 'server.port'?" in desk.refused("server.prot=1").message


def test_a_directory_in_place_of_the_file(desk: Desk) -> None:
    desk.user_file.mkdir()
    assert f"{desk.user_file}: is a directory" in desk.refused().message


def test_a_pipe_in_place_of_the_file_is_refused_without_waiting_for_a_writer(desk: Desk) -> None:
    os.mkfifo(desk.repo_file)
    assert "not a regular file" in desk.refused().message


def test_a_file_that_cannot_be_read(desk: Desk) -> None:
    desk.repo_file.symlink_to(desk.repo_file)
    assert f"{desk.repo_file}: cannot be read" in desk.refused().message


def test_a_file_that_is_not_utf8(desk: Desk) -> None:
    desk.repo_file.write_bytes(b"server:\n  host: \xff\xfe\n")
    assert f"{desk.repo_file}:2: not UTF-8" in desk.refused().message


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_refused(desk: Desk) -> None:
    text = "server: {port: 1}\n#"
    desk.repo_file.write_text(text.ljust(MAX_FILE_BYTES, "x"))
    assert desk.load().config.server.port == 1
    desk.repo_file.write_text(text.ljust(MAX_FILE_BYTES + 1, "x"))
    assert "larger than" in desk.refused().message


@given(text=st.text(max_size=200), overrides=st.lists(st.text(max_size=60), max_size=2))
def test_no_text_breaks_it_in_any_other_way(
    tmp_path_factory: pytest.TempPathFactory, text: str, overrides: Sequence[str]
) -> None:
    root = tmp_path_factory.mktemp("any")
    Workspace(root=root).home.mkdir()
    Workspace(root=root).config.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        loaded = load_config(
            workspace=Workspace(root=root),
            user_config=None,
            environ={"CODEPLANE__MCP": text, "CODEPLANE__SERVER__HOST": text},
            overrides=overrides,
        )
    except ConfigInvalid as error:
        assert error.message
    else:
        assert set(loaded.origins) >= {"server.port"}
