"""Which files belong to the repository."""

import os
from pathlib import Path

import pytest

from codeplane.adapters.git_cli import GitCli
from codeplane.index.files.listing import list_files
from codeplane.kernel.errors import StorageFailed
from codeplane.kernel.secret_paths import SecretRules
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement


def listed(root: Path) -> set[str]:
    return set(list_files(root, GitCli).paths)


def test_tracked_and_untracked_files_belong_ignored_ones_do_not(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "a", ".gitignore": "*.tmp\n"})
    (root / "new.py").write_text("n")
    (root / "x.tmp").write_text("t")
    listing = list_files(root, GitCli)
    assert set(listing.paths) == {"a.py", ".gitignore", "new.py"}
    assert "x.tmp" in listing.skipped["ignored"]


@requirement("REPO-01")
def test_nothing_tracked_is_lost_by_its_folders_name(tmp_path: Path) -> None:
    names = {"build/tool.py", "dist/index.js", "node_modules/own/a.js", "coverage/x.py", "bin/run.sh", "pkg/a.go"}
    root = make_repo(tmp_path / "repo", dict.fromkeys(names, "source"))
    assert listed(root) == names


@requirement("REPO-01")
def test_untracked_noise_is_left_out_and_said(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    for name in ("node_modules/dep/index.js", "build/out.js", "debug.log"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("noise")
    listing = list_files(root, GitCli)
    assert set(listing.paths) == {"README.md"}
    assert set(listing.skipped["ignored"]) == {"node_modules/dep/index.js", "build/out.js", "debug.log"}


@requirement("REPO-08")
def test_secrets_are_left_out_even_when_tracked_unless_the_owner_shows_them(tmp_path: Path) -> None:
    files = {
        ".env": "TOKEN=1",
        "key.pem": "k",
        ".env.example": "TOKEN=",
        "a/.ENV.local/b": "x",
        "a/.env.example/b": "x",
    }
    root = make_repo(tmp_path / "repo", files)
    assert listed(root) == {".env.example", "a/.env.example/b"}
    assert list_files(root, GitCli).skipped == {"secrets": (".env", "a/.ENV.local/b", "key.pem")}
    # Whoever writes in the work tree has no say in it.
    for rules in (".cplignore", ".gitignore", "a/.cplignore"):
        (root / rules).write_text("!.env\n!key.pem\n!**\n")
    named = {".cplignore", ".gitignore", "a/.cplignore"}
    assert listed(root) == {".env.example", "a/.env.example/b", *named}
    shown = list_files(root, GitCli, SecretRules([".env", "a/**", "!*.pem"]))
    assert set(shown.paths) == {".env.example", "a/.env.example/b", ".env", "a/.ENV.local/b", *named}


def test_cplignore_excludes_what_it_names(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "a", "gen/b.py": "b"})
    (root / ".cplignore").write_text("gen/\n")
    assert listed(root) == {"a.py", ".cplignore"}


def test_codeplanes_own_folder_never_belongs(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo")
    (root / ".codeplane").mkdir()
    (root / ".codeplane" / ".gitignore").write_text("*\n")
    (root / ".codeplane" / "owner.token").write_text("secret")
    assert listed(root) == {"README.md"}


def test_a_folder_without_git_is_walked_without_following_links(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.py").write_text("a")
    (root / "loop").symlink_to(root)
    os.mkfifo(root / "pipe")
    assert listed(root) == {"sub/a.py", "loop"}


def test_odd_names_are_fine(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a b.py": "1", "ü/ñ.py": "2", 'quo"te.py': "3", "new\nline.py": "4"})
    raw = os.fsencode(root) + b"/bad\xff.py"
    with open(raw, "wb") as file:  # noqa: PTH123  # a name that is not text
        file.write(b"5")
    git(root, "add", "--all")
    assert listed(root) == {"a b.py", "ü/ñ.py", 'quo"te.py', "new\nline.py", os.fsdecode(b"bad\xff.py")}


def test_an_initialised_submodule_is_listed_with_its_files(tmp_path: Path) -> None:
    inner = make_repo(tmp_path / "inner", {"lib.py": "x"})
    root = make_repo(tmp_path / "repo")
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "vendor/inner")
    assert listed(root) == {"README.md", ".gitmodules", "vendor/inner/lib.py"}


def test_a_repository_inside_that_is_no_submodule_is_left_out_and_said(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "x"})
    make_repo(root / "vendor/lib", {"z.py": "x"})
    found = list_files(root, GitCli)
    assert found.paths == ("a.py",)
    assert found.skipped == {"a repository of its own": ("vendor/lib/",)}


@pytest.mark.parametrize("pattern", ["*a*b*c*d*{0}*e*f", "/**/x{0}*y**/[a-z]?{0}"])
def test_many_patterns_are_honoured_each_with_the_last_word_where_it_has_one(tmp_path: Path, pattern: str) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "x", "gen/b.py": "x", "last.py": "x"})
    many = "".join(pattern.format(number) + "\n" for number in range(2000))
    (root / ".cplignore").write_text(f"gen/\n*.py\n!a.py\n{many}last.py\n")
    assert listed(root) == {"a.py", ".cplignore"}


def test_rules_that_are_no_file_are_none(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "x"})
    os.mkfifo(root / ".cplignore")
    assert listed(root) == {"a.py"}
    (root / ".cplignore").unlink()
    (root / ".cplignore").mkdir()
    assert listed(root) == {"a.py"}
    (root / ".cplignore").rmdir()
    (root / ".cplignore").symlink_to("/dev/zero")
    assert listed(root) == {"a.py", ".cplignore"}


def test_rules_that_cannot_be_honoured_are_not_passed_over(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"a.py": "x"})
    (root / ".cplignore").write_text("x\n" * 60_000)
    with pytest.raises(StorageFailed, match="larger than"):
        listed(root)
    (root / ".cplignore").unlink()
    (root / ".cplignore").symlink_to(".cplignore")
    with pytest.raises(StorageFailed, match="cannot be read"):
        listed(root)
