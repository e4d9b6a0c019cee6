"""contexts.yaml: written for people, and theirs to correct."""

from pathlib import Path

import pytest
import yaml

from codeplane.index.contexts.contexts_file import LISTED, MAX_BYTES, ContextsFile
from codeplane.kernel.errors import CodePlaneError, ConfigInvalid, SchemaTooNew, StorageFailed
from tests.index.contexts.tree import BAD, GOOD, Tree
from tests.interaction.requirements import requirement

REPO: dict[str, str | bytes | None] = {
    "package.json": '{"workspaces": ["apps/*"]}',
    "apps/web/package.json": "{}",
    "apps/web/a.ts": GOOD,
    "tools/package.json": "{}",
    "tools/t.ts": GOOD,
    "core/pom.xml": "",
    "core/A.java": GOOD,
    "core/odd/B.java": BAD,
}
OWN = """\
# mine
contexts:
  - id: core-java   # as the build calls it
    language: java
    workspace_roots: [./core]
    env:
      build_root: ./core
    indexer:
      name: scip-java

defaults:
  max_parallel_contexts: 2
  divergence_behavior: fail
"""


def kept(tmp_path: Path, text: str | None = None) -> ContextsFile:
    file = ContextsFile(tmp_path / "contexts.yaml")
    if text is not None:
        file.path.write_text(text, encoding="utf-8")
    return file


def entry(language: str, root: str, use: str) -> str:
    return f"contexts: [{{id: mine, language: {language}, workspace_roots: ['{root}'], use: {use}}}]\n"


@requirement("CTX-07")
def test_what_was_discovered_is_there_to_read(tmp_path: Path) -> None:
    file = kept(tmp_path)
    assert Tree(REPO).contexts(file).problem is None
    rows = {row["id"]: row for row in yaml.safe_load(file.path.read_text())["discovered"]}
    assert rows["javascript:apps/web"] == {
        "id": "javascript:apps/web",
        "family": "javascript",
        "root": "apps/web",
        "status": "valid",
        "markers": ["apps/web/package.json"],
    }
    assert "package.json" in rows["javascript:tools"]["reason"]
    assert "sql:." not in rows


@requirement("CTX-07")
def test_a_second_discovery_of_the_same_writes_nothing(tmp_path: Path) -> None:
    file = kept(tmp_path)
    contexts = Tree(REPO).contexts(file)
    before = file.path.stat()
    assert file.write(contexts.all) is False
    assert file.path.stat().st_ino == before.st_ino
    assert [path.name for path in tmp_path.iterdir()] == ["contexts.yaml"]


@requirement("CTX-07")
@pytest.mark.parametrize(
    "text",
    [
        OWN,
        OWN.rstrip("\n"),
        OWN.replace("\n", "\r\n"),
        f"discovered:\n- id: old\n  reason: |\n    two\n    lines\n# mine too\n{OWN}",
        f"discovered: [{{id: old}}]  # old\n{OWN}# the end\n",
        f"discovered:\n{OWN}",
        "\ufeff# Grüße\n" + OWN,
    ],
)
def test_what_a_person_wrote_survives(tmp_path: Path, text: str) -> None:
    file = kept(tmp_path)
    file.path.write_bytes(text.encode())
    for files in (REPO, {**REPO, "new/go.mod": "", "new/x.go": GOOD}):
        contexts = Tree(files).contexts(file)
        assert contexts.problem is None
        assert contexts.defaults.max_parallel_contexts == 2
        assert "core-java" in [each.id for each in contexts.valid("jvm")]
    written = file.path.read_bytes().decode()
    for line in text.splitlines():
        if "old" not in line and "discovered" not in line and line.strip() not in ("two", "lines", "reason: |"):
            assert line.removeprefix("\ufeff") in written
    assert "id: old" not in written and "go:new" in written
    assert written.count("discovered:") == 1


@requirement("CTX-07")
def test_an_entry_names_a_root_that_was_found(tmp_path: Path) -> None:
    contexts = Tree(REPO).contexts(kept(tmp_path, OWN))
    assert contexts.router.assign(["core/A.java"]) == {"core/A.java": "core-java"}


def test_an_entry_adds_a_root_that_nothing_marks_and_is_believed_without_a_probe(tmp_path: Path) -> None:
    contexts = Tree(REPO).contexts(kept(tmp_path, entry("java", "core/odd", "pin")))
    assert contexts.router.assign(["core/odd/B.java", "core/A.java"]) == {
        "core/odd/B.java": "mine",
        "core/A.java": "jvm:core",
    }


def test_an_entry_keeps_what_a_workspace_leaves_out(tmp_path: Path) -> None:
    contexts = Tree(REPO).contexts(kept(tmp_path, entry("typescript", "tools", "pin")))
    assert contexts.router.assign(["tools/t.ts"]) == {"tools/t.ts": "mine"}


def test_a_detached_root_has_no_owner(tmp_path: Path) -> None:
    contexts = Tree(REPO).contexts(kept(tmp_path, entry("javascript", "apps/web/", "detach")))
    assert contexts.router.assign(["apps/web/a.ts"]) == {"apps/web/a.ts": "javascript"}


def test_an_ignored_root_belongs_to_the_one_around_it(tmp_path: Path) -> None:
    tree = Tree({**REPO, "index.js": GOOD})
    contexts = tree.contexts(kept(tmp_path, entry("javascript", "./apps/web", "ignore")))
    assert contexts.router.assign(["apps/web/a.ts"]) == {"apps/web/a.ts": "javascript:."}


def test_an_excluded_folder_can_be_pinned(tmp_path: Path) -> None:
    tree = Tree({"vendor/ours/x.go": GOOD, "vendor/theirs/y.go": GOOD})
    contexts = tree.contexts(kept(tmp_path, entry("go", "vendor/ours", "pin")))
    assert contexts.router.assign(tree.files) == {"vendor/ours/x.go": "mine", "vendor/theirs/y.go": "go"}


def test_an_entry_with_several_roots_makes_a_context_of_each(tmp_path: Path) -> None:
    text = "contexts:\n- {id: both, language: typescript, workspace_roots: [apps/web, tools]}\n"
    contexts = Tree(REPO).contexts(kept(tmp_path, text))
    assert [each.id for each in contexts.valid("javascript")] == ["both:apps/web", "both:tools"]


def test_a_pinned_root_without_files_is_shown_as_empty(tmp_path: Path) -> None:
    file = kept(tmp_path, entry("go", "gone", "pin"))
    Tree(REPO).contexts(file)
    rows = {row["id"]: row for row in yaml.safe_load(file.path.read_text())["discovered"]}
    assert rows["mine"]["status"] == "empty"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("contexts: [\n", "contexts.yaml:2: not YAML"),
        ("contexts:\n\t- a\n", "contexts.yaml:2: not YAML"),
        ("version: 1\ncontext: []\n", "contexts.yaml:2: context: there is no such key"),
        ("- a\n", "contexts.yaml:1: "),
        ("version: two\n", "contexts.yaml:1: version"),
        ("contexts:\n- id: a\n  language: java\n", "contexts.yaml:2: contexts.0.workspace_roots"),
        ("contexts:\n- id: a\n  language: c\n  workspace_roots: [x]\n", "contexts.yaml:3: contexts.0.language: 'c'"),
        ("contexts:\n- id: go\n  language: go\n  workspace_roots: [x]\n", "contexts.yaml:2: contexts.0.id: 'go' is"),
        ("contexts:\n- id: a\n  language: go\n  workspace_roots: [../x]\n", "contexts.yaml:4: "),
        ("contexts:\n- id: a\n  language: go\n  workspace_roots: [/etc]\n", "contexts.yaml:4: "),
        ("contexts:\n- id: a\n  language: go\n  workspace_roots: []\n", "contexts.yaml:4: "),
        ("contexts:\n- id: a:b\n  language: go\n  workspace_roots: [x]\n", "contexts.yaml:2: "),
        ("contexts:\n" + "- {id: a, language: go, workspace_roots: [x]}\n" * 2, "'a' is named twice"),
        (
            "contexts:\n- {id: a, language: java, workspace_roots: [x]}\n"
            "- {id: b, language: scala, workspace_roots: [x]}\n",
            "'jvm at x' is named twice",
        ),
        ("defaults:\n  max_parallel_contexts: 0\n", "contexts.yaml:2: defaults.max_parallel_contexts"),
        ("defaults:\n  divergence_behavior: guess\n", "contexts.yaml:2: "),
        ("version: 1\nversion: 1\n", "contexts.yaml:2: the key 'version'"),
        ("discovered: &a []\ncontexts: *a\n", "contexts.yaml:1: aliases"),
        ("a: " + "[" * 100_000, "contexts.yaml:1: nested too deeply"),
        ("# ä\n\x00", "contexts.yaml:1: not YAML"),
        ("a: 1\n---\nb: 1\n", "contexts.yaml:2: not YAML"),
        ("#" * MAX_BYTES + "\n", "is larger than"),
        ("{version: 1}\n", "cannot be added to"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_left_alone(tmp_path: Path, text: str, output: str) -> None:
    file = kept(tmp_path, text)
    contexts = Tree(REPO).contexts(file)
    assert isinstance(contexts.problem, ConfigInvalid) and output in contexts.problem.message
    assert file.path.read_text() == text
    # The rest of the repository can be worked with meanwhile.
    assert contexts.router.assign(["core/A.java"]) == {"core/A.java": "jvm:core"}


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = kept(tmp_path)
    file.path.write_bytes(b"version: 1\n# \xff\n")
    with pytest.raises(ConfigInvalid, match=r"contexts\.yaml:2: not UTF-8"):
        file.load()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    file = kept(tmp_path, "version: 2\nanything: new\n")
    assert isinstance(Tree(REPO).contexts(file).problem, SchemaTooNew)
    assert file.path.read_text() == "version: 2\nanything: new\n"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(OWN)
    file = kept(tmp_path)
    file.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigInvalid):
        file.load()
    assert isinstance(Tree(REPO).contexts(file).problem, CodePlaneError)
    assert (tmp_path / "elsewhere").read_text() == OWN


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    contexts = Tree(REPO).contexts(ContextsFile(tmp_path / "missing" / "contexts.yaml"))
    assert isinstance(contexts.problem, StorageFailed)
    assert contexts.valid("javascript")


def test_a_long_list_says_how_much_it_leaves_out(tmp_path: Path) -> None:
    file = kept(tmp_path)
    Tree({f"m{at}/go.mod": "" for at in range(LISTED + 7)}).contexts(file)
    assert yaml.safe_load(file.path.read_text())["discovered"][-1] == {"more": 7}


def test_long_names_do_not_make_a_file_that_cannot_be_read_again(tmp_path: Path) -> None:
    file = kept(tmp_path)
    tree = Tree({f"{at}{'ü' * 1000}/{'x' * 1000}/go.mod": "" for at in range(300)})
    for _ in range(2):
        assert tree.contexts(file).problem is None
    last = yaml.safe_load(file.path.read_text())["discovered"][-1]
    assert 0 < last["more"] < 300


def test_names_that_yaml_would_read_otherwise_are_written_so_that_they_come_back(tmp_path: Path) -> None:
    file = kept(tmp_path)
    names = ["no", "1.0", "a: b", "# c", "\u2028", "ü [x]", "\udcff", "new\nline", "- d", "😀"]
    contexts = Tree({f"{name}/go.mod": "" for name in names}).contexts(file)
    assert contexts.problem is None
    roots = {row["root"] for row in yaml.safe_load(file.path.read_text(encoding="utf-8"))["discovered"]}
    assert {name for name in names if name != "\udcff"} | {"\\xff"} == roots
