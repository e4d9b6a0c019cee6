"""A summary as a Markdown document, fit to be kept as ARCHITECTURE.md."""

from collections.abc import Sequence

from codeplane.kernel.followup import command_instead_of_tool
from codeplane.kernel.json import JsonObject
from codeplane.kernel.plural import plural
from codeplane.work.explore.summary import ExploreSummary

_MAX_LANGUAGES = 12


def summary_markdown(summary: ExploreSummary) -> str:
    """The document; sections without anything in them are left out."""
    lines = [f"# {summary.repo_name}", ""]
    if summary.description:
        lines += [summary.description, ""]
    lines += _languages(summary)
    lines += _section("Entry points", [f"- `{point}`" for point in summary.entrypoints])
    lines += _section("Layout", [_folder(folder) for folder in summary.folders])
    lines += _section("Read first", [f"- `{path}`" for path in summary.top_files])
    lines += _section("Most used definitions", [_symbol(symbol) for symbol in summary.symbols])
    if summary.tests and summary.tests.get("count"):
        folders = summary.tests.get("folders")
        named = [f"- `{name}` {count}" for name, count in folders.items()] if isinstance(folders, dict) else []
        lines += _section("Tests", [plural(int(str(summary.tests["count"])), "file"), "", *named[:10]])
    lines += _section(
        "Depends on", [", ".join(f"`{name}`" for name in summary.dependencies)] * bool(summary.dependencies)
    )
    for goal, paths in summary.goals.items():
        lines += _section(f"On “{goal}”", [f"- `{path}`" for path in paths] or ["nothing was found"])
    lines += _section("State", _state(summary))
    lines += _section("Next", [f"- {command_instead_of_tool(followup)}" for followup in summary.followups])
    lines += _section("Not whole", [f"- {reason}" for reason in summary.partial])
    return "\n".join(lines).rstrip() + "\n"


def _languages(summary: ExploreSummary) -> list[str]:
    total = sum(summary.languages.values())
    if not total:
        return []
    rows = [
        f"| {name} | {count:,} | {100 * count / total:.1f} % |"
        for name, count in list(summary.languages.items())[:_MAX_LANGUAGES]
    ]
    head = ["## Languages", "", f"{plural(summary.files, 'file')}.", ""]
    return [*head, "| language | lines | share |", "|---|---:|---:|", *rows, ""]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}", "", *lines, ""] if lines else []


def _folder(folder: JsonObject) -> str:
    languages = folder.get("languages")
    known = [name for name in languages if name != "other"] if isinstance(languages, dict) else []
    main = known[0] if known else ""
    count = folder.get("files")
    files = plural(count if isinstance(count, int) else 0, "file")
    return f"- `{folder['path']}/` {files}{f', mostly {main}' if main else ''}"


def _symbol(symbol: JsonObject) -> str:
    count = symbol.get("files")
    used = plural(count if isinstance(count, int) else 0, "file")
    return f"- `{symbol['path']}:{symbol['line']}` `{str(symbol['signature']).partition(' {')[0]}`, used in {used}"


def _state(summary: ExploreSummary) -> list[str]:
    git = summary.git_status
    if git.head_commit is None:
        return ["no commit"]
    state = "clean" if git.clean else f"{plural(git.total, 'path')} not committed"
    return [f"{git.branch or 'detached'} at `{git.head_commit[:12]}`, {state}"]
